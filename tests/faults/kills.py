"""A command that dies, or finds the disk full, at its nth change of a folder; run again, and compared.

python -m tests.faults.kills reconstruct                 kill at every change, one after the other
python -m tests.faults.kills segment --every 3           at every third
python -m tests.faults.kills --write docs/reliability.md everything, with a table

Each command is run once undisturbed. Then, for every change of its folder, it is killed with SIGKILL right
before that change (or every change from then on fails as on a full disk), and run again: what people look at
must be the same, byte by byte. The same is done in the middle of every file that it writes.
"""

from __future__ import annotations

import argparse
import multiprocessing
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path

import numpy as np

from deshred.doctor import draw_tiny_pile
from deshred.executors import ThreadExecutor, usable_cpus
from deshred.imaging.decoding import encode_png
from tests.faults.sabotage import COMMANDS, TRAINING, run_disturbed
from tests.fuzz.tables import replace_table

NOT_WRITTEN = 4  # exit code
FAULTS = {  # by name: how a table tells it, and the exit code that it may have
    "kill": ("killed", -signal.SIGKILL),
    "full": ("disk full", NOT_WRITTEN),
    "kill inside": ("killed inside a write", -signal.SIGXFSZ),
    "full inside": ("disk full inside a write", NOT_WRITTEN),
}


@dataclass(frozen=True)
class Outcome:
    """One fault: at which change, and what was wrong afterwards; nothing, if all is well."""

    number: int
    problem: str = ""


@dataclass(frozen=True)
class Trial:
    """A command to disturb: what it starts from, its arguments, and those to run it again with."""

    prepare: Callable[[Path], None]  # makes what it reads, in a folder
    arguments: Callable[[Path, Path], tuple[str, ...]]  # of that folder and the one to write
    again: tuple[str, ...] = ()  # to go on after a fault
    done: str = "already holds the results"  # what it says when there is nothing left to do
    begins_with: Callable[[Path, Path], None] | None = None  # what the folder to write holds before
    suffixes: tuple[str, ...] = (".png", ".npz")  # of files that must be the same


def make_input(folder: Path) -> Path:
    """Eight shreds as files."""
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


_QUICK = ("--scorer", "outline", "--pages", "1", "-q")


def _prepare_shreds(folder: Path) -> None:
    make_input(folder / "in")


def _prepare_sheet(folder: Path) -> None:
    make_sheet(folder / "in")


def _prepare_case(folder: Path) -> None:
    """Six shreds that make a case, and two more."""
    make_input(folder / "in")
    (folder / "more").mkdir()
    for name in ("s0.png", "s5.png"):
        (folder / "in" / name).rename(folder / "more" / name)
    _run_plainly("reconstruct", str(folder / "in"), "-o", str(folder / "case"), *_QUICK)


def _copy_case(folder: Path, out: Path) -> None:
    shutil.copytree(folder / "case", out)


def _run_plainly(*args: str) -> None:
    subprocess.run([sys.executable, "-m", "deshred", *args], check=True, capture_output=True)


TRIALS = {
    "reconstruct": Trial(
        _prepare_shreds, lambda home, out: ("reconstruct", f"{home}/in", "-o", str(out), *_QUICK)
    ),
    "reconstruct a sheet": Trial(
        _prepare_sheet, lambda home, out: ("reconstruct", f"{home}/in", "-o", str(out), *_QUICK)
    ),
    "reconstruct --add": Trial(
        _prepare_case,
        lambda home, out: ("reconstruct", f"{home}/more", "-o", str(out), "--add", *_QUICK),
        begins_with=_copy_case,
    ),
    "reconstruct --force": Trial(
        _prepare_case,
        lambda home, out: ("reconstruct", f"{home}/more", "-o", str(out), "--force", *_QUICK),
        begins_with=_copy_case,
    ),
    "segment": Trial(_prepare_sheet, lambda home, out: ("segment", f"{home}/in", "-o", str(out), "-q")),
    "export": Trial(
        _prepare_case,
        lambda home, out: (
            *("export", f"{home}/case", "-o", str(out), "--as", "png,tiff,csv"),
            *("--engine", "none", "-q"),
        ),
        suffixes=(".png", ".tif", ".csv"),
    ),
    "export a package": Trial(
        _prepare_case,
        lambda home, out: (
            *("export", f"{home}/case", "-o", str(out), "--as", "pdf,png,csv,bag"),
            *("--engine", "none", "-q"),
        ),
        suffixes=(".png", ".csv"),
    ),
    "shred": Trial(
        _prepare_sheet,
        lambda home, out: ("shred", f"{home}/in/sheet.png", "-o", str(out), "--shreds", "6", "-q"),
        suffixes=(".png", ".json"),
    ),
    "train": Trial(
        lambda folder: folder.mkdir(parents=True, exist_ok=True),
        lambda _home, out: ("train", f"{out}/model.onnx"),
        again=("--resume",),
        done="the file already exists",
        suffixes=(".onnx", ".json"),
    ),
}


@dataclass(frozen=True)
class Run:
    """What became of a command: its exit code, negative for a signal, and what it said on stderr."""

    returncode: int
    stderr: str


_FORKS = multiprocessing.get_context("forkserver")  # everything is imported once, and not for every run
_FORKS.set_forkserver_preload([*COMMANDS])
_ONE_AT_A_TIME = threading.Lock()  # starting a process looks at all others


def run(out: Path, number: int, *args: str, fault: str = "kill") -> Run:
    """Run a command with a fault at its nth change of `out`; 0 is never."""
    with tempfile.NamedTemporaryFile() as told:
        process = _FORKS.Process(target=run_disturbed, args=(str(out), number, fault, args, told.name))
        with _ONE_AT_A_TIME:
            process.start()
        wait([process.sentinel])
        with _ONE_AT_A_TIME:
            process.join()
        return Run(process.exitcode or 0, told.read().decode(errors="replace"))


def count_changes(done: Run) -> int:
    """How often an undisturbed run changed its folder."""
    return int(done.stderr.rsplit("changes", 1)[1])


def list_results(out: Path, suffixes: Sequence[str]) -> dict[str, bytes]:
    """What people look at, without what tells of times and paths."""
    files = (file.relative_to(out) for file in sorted(out.rglob("*")) if file.is_file())
    return {
        file.as_posix(): (out / file).read_bytes()
        for file in files
        if file.suffix in suffixes and file.parts[0] not in ("store", ".new")
    }


def disturb(
    trial: Trial, home: Path, out: Path, number: int, fault: str, expected: dict[str, bytes]
) -> Outcome:
    """Disturb a command, run it again, and compare what it leaves with what it should."""
    if trial.begins_with is not None:
        trial.begins_with(home, out)
    args = trial.arguments(home, out)
    stopped = run(out, number, *args, fault=fault)
    if stopped.returncode not in (0, FAULTS[fault][1]):
        return Outcome(number, f"exit code {stopped.returncode} at the fault: {stopped.stderr[-300:]}")
    if "Traceback" in stopped.stderr:
        return Outcome(number, f"a traceback at the fault: {stopped.stderr[-300:]}")
    if stopped.returncode == 0:
        return Outcome(number, "" if list_results(out, trial.suffixes) == expected else "the results differ")
    again = run(out, 0, *args, *trial.again)
    finished = again.returncode == NOT_WRITTEN and trial.done in again.stderr
    if again.returncode != 0 and not finished:
        return Outcome(number, f"exit code {again.returncode} when run again: {again.stderr[-300:]}")
    if list_results(out, trial.suffixes) != expected:
        return Outcome(number, "the results differ")
    # a finished case is not touched any more: whatever it kept is cleared by the next who writes
    litter = [] if finished else [entry.name for entry in out.iterdir() if entry.name.startswith(".")]
    return Outcome(number, f"left behind: {', '.join(litter)}" if litter else "")


def campaign(
    name: str,
    folder: Path,
    numbers: list[int] | None = None,
    *,
    every: int = 1,
    fault: str = "kill",
    jobs: int = 1,
) -> list[Outcome]:
    """Disturb a command at the given changes, or at every nth of all; so many at a time."""
    trial = TRIALS[name]
    trial.prepare(folder)
    whole = folder / "whole"
    if trial.begins_with is not None:
        trial.begins_with(folder, whole)
    done = run(whole, 0, *trial.arguments(folder, whole), fault=fault)
    if done.returncode:
        raise SystemExit(done.stderr)
    expected = list_results(whole, trial.suffixes)
    numbers = numbers or list(range(1, count_changes(done) + 1, every))

    def try_at(number: int) -> Outcome:
        out = folder / str(number)
        outcome = disturb(trial, folder, out, number, fault, expected)
        shutil.rmtree(out, ignore_errors=True)
        return outcome

    return ThreadExecutor(jobs).map(try_at, numbers)


def race(folder: Path, rounds: int) -> list[Outcome]:
    """Two processes that write one case at the same time: one does, and the other is told."""
    source, whole = make_input(folder / "in"), folder / "whole"
    _run_plainly("reconstruct", str(source), "-o", str(whole), *_QUICK)
    expected = list_results(whole, (".png", ".npz"))
    outcomes = []
    for number in range(1, rounds + 1):
        out = folder / str(number)
        command = [sys.executable, "-m", "deshred", "reconstruct", str(source), "-o", str(out), *_QUICK]
        first = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        time.sleep(0.15 * (number % 5))
        second = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        told = [process.communicate()[1] for process in (first, second)]
        codes = sorted(process.returncode for process in (first, second))
        good = codes == [0, NOT_WRITTEN] and list_results(out, (".png", ".npz")) == expected
        outcomes.append(Outcome(number, "" if good else f"exit codes {codes}: {' '.join(told)[-300:]}"))
    return outcomes


def _report(rows: list[str], name: str, told: str, outcomes: list[Outcome], start: float) -> int:
    bad = [outcome for outcome in outcomes if outcome.problem]
    for outcome in bad:
        print(f"{name}, {told}, {outcome.number}: {outcome.problem}", flush=True)
    seconds = time.perf_counter() - start
    rows.append(f"| {name} | {told} | {len(outcomes)} | {len(bad)} | {seconds:.0f} |")
    print(rows[-1], flush=True)
    return len(bad)


def main() -> None:
    """Disturb commands again and again, and count what went wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("command", nargs="*", metavar="COMMAND", help=", ".join(TRIALS))
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--fault", choices=FAULTS, help="one of them; all unless given")
    parser.add_argument("--jobs", type=int, default=2 * usable_cpus(), help="commands at a time")
    parser.add_argument("--write", type=Path, help="a document to put the table into")
    given = parser.parse_args()
    _FORKS.set_forkserver_preload([*COMMANDS, *TRAINING])
    rows = ["| command | fault | tried | bad | s |", "|---|---|---:|---:|---:|"]
    bad = 0
    for name in given.command or TRIALS:
        for fault in [given.fault] if given.fault else FAULTS:
            start = time.perf_counter()
            with tempfile.TemporaryDirectory() as folder:
                outcomes = campaign(name, Path(folder), every=given.every, fault=fault, jobs=given.jobs)
            bad += _report(rows, name, FAULTS[fault][0], outcomes, start)
    if not given.command:
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            outcomes = race(Path(folder), 10)
        bad += _report(rows, "reconstruct", "two at once", outcomes, start)
    if given.write is not None:
        replace_table(given.write, "faults", "\n".join(rows))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
