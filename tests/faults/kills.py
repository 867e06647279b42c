"""A command killed with SIGKILL at its nth change of a folder, run again, and compared with one that was not.

python -m tests.faults.kills reconstruct         kill at every change, one after the other
python -m tests.faults.kills segment --every 3   at every third
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from deshred.doctor import draw_tiny_pile
from deshred.imaging.decoding import encode_png

# Python tells of every file that is opened to be written, renamed, removed, or of a folder made.
_KILLER = """
import os, signal, sys
folder, number = sys.argv[1], int(sys.argv[2])
changes = 0
def watch(event, args):
    global changes
    if event == "open":
        path, mode, flags = args
        writes = isinstance(mode, str) and set(mode) & set("wax+")
        writes = writes or bool((flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
        if not writes:
            return
    elif event not in ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "shutil.rmtree"):
        return
    if not str(args[0]).startswith(folder):
        return
    changes += 1
    if changes == number:
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(watch)
sys.argv = ["deshred", *sys.argv[3:]]
from deshred.cli import main
try:
    main()
finally:
    print("changes", changes, file=sys.stderr)
"""


@dataclass(frozen=True)
class Outcome:
    """One kill: at which change, and what was wrong afterwards; nothing, if all is well."""

    number: int
    problem: str = ""


def make_input(folder: Path) -> Path:
    """Eight shreds as files, or on a colored sheet."""
    folder.mkdir(parents=True)
    for number, shred in enumerate(draw_tiny_pile()):
        (folder / f"s{(5 * number) % 8}.png").write_bytes(encode_png(shred.image, shred.mask))
    return folder


def make_sheet(folder: Path) -> Path:
    """Four shreds on orange paper."""
    folder.mkdir(parents=True)
    image = np.full((1800, 1200, 3), (255, 153, 51), np.uint8)
    for at, shred in enumerate(list(draw_tiny_pile())[2:6]):
        height, width = shred.mask.shape
        view = image[60 : 60 + height, 80 + 280 * at : 80 + 280 * at + width]
        view[shred.mask] = shred.image[shred.mask]
    (folder / "sheet.png").write_bytes(encode_png(image))
    return folder


def run(out: Path, number: int, *args: str) -> subprocess.CompletedProcess[str]:
    """Run a command that dies at its nth change of `out`; 0 is never."""
    command = [sys.executable, "-c", _KILLER, str(out), str(number), *args]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def count_changes(done: subprocess.CompletedProcess[str]) -> int:
    """How often an undisturbed run changed its folder."""
    return int(done.stderr.rsplit("changes", 1)[1])


def list_results(out: Path) -> dict[str, bytes]:
    """What people look at, without what tells of times and paths."""
    return {
        file.relative_to(out).as_posix(): file.read_bytes()
        for file in sorted(out.rglob("*"))
        if file.is_file() and file.suffix in (".png", ".npz") and "store" not in file.parts
    }


def kill_and_resume(args: tuple[str, ...], out: Path, number: int, expected: dict[str, bytes]) -> Outcome:
    """Kill a command, run it again, and compare what it leaves with what it should."""
    killed = run(out, number, *args)
    if killed.returncode not in (-9, 0):
        return Outcome(number, f"exit code {killed.returncode} before the kill: {killed.stderr[-300:]}")
    again = run(out, 0, *args)
    finished = again.returncode == 4 and "already holds the results" in again.stderr
    if again.returncode != 0 and not finished:
        return Outcome(number, f"exit code {again.returncode} when run again: {again.stderr[-300:]}")
    if list_results(out) != expected:
        return Outcome(number, "the results differ")
    # a finished case is not touched any more: whatever it kept is cleared by the next who writes
    litter = [] if finished else [entry.name for entry in out.iterdir() if entry.name.startswith(".")]
    return Outcome(number, f"left behind: {', '.join(litter)}" if litter else "")


def campaign(command: str, folder: Path, numbers: list[int] | None = None, every: int = 1) -> list[Outcome]:
    """Kill a command at the given changes, or at every nth of all."""
    source = make_sheet(folder / "in") if command == "segment" else make_input(folder / "in")
    flags = ("--scorer", "outline", "--pages", "1") if command == "reconstruct" else ()

    def args(out: Path) -> tuple[str, ...]:
        return (command, str(source), "-o", str(out), *flags, "-q")

    whole = run(folder / "whole", 0, *args(folder / "whole"))
    if whole.returncode:
        raise SystemExit(whole.stderr)
    expected = list_results(folder / "whole")
    numbers = numbers or list(range(1, count_changes(whole) + 1, every))
    return [
        kill_and_resume(args(folder / str(number)), folder / str(number), number, expected)
        for number in numbers
    ]


def main() -> None:
    """Kill a command again and again, and count what went wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("command", choices=["reconstruct", "segment"])
    parser.add_argument("--every", type=int, default=1)
    arguments = parser.parse_args()
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        outcomes = campaign(arguments.command, Path(folder), every=arguments.every)
    bad = [outcome for outcome in outcomes if outcome.problem]
    for outcome in bad:
        print(f"change {outcome.number}: {outcome.problem}")
    print(f"{len(outcomes)} kills, {len(bad)} bad, {time.perf_counter() - start:.0f} s")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
