"""Processor seconds and memory of an export, from the folder of a case to files.

    deshred demo -o one/ --kinds letter
    deshred demo -o six/
    deshred demo -o many/ --kinds text,form,table,letter,list,sparse,text,form,... (24 in all)
    python benchmarks/exporting.py one/run six/run many/run -o benchmarks/results/exporting.json

Rows can be measured one by one with `--rows`; the file keeps the others.

Needs `deshred[export]`; a row for RapidOCR comes where `deshred[rapidocr]` is there, too. Every row is a
`deshred export` in a process of its own, with one engine; seconds are those of all its processes, memory that
of the largest one.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

COMMANDS = {
    "searchable PDF and ALTO": ("--as", "pdf,alto"),
    "the same again: words are kept": ("--as", "pdf,alto"),
    "the same as JPEG": ("--as", "pdf,alto", "--images", "jpeg"),
    "the same of the reading copy": ("--as", "pdf,alto", "--copy", "reading"),
    "case report": ("--as", "report"),
    "everything, as a package": (
        "--as",
        "pdf,tiff,png,text,alto,page,hocr,json,csv,report,html,loadfile,iiif,bag",
    ),
    "PNG alone, not read": ("--as", "png", "--engine", "none"),
}
if find_spec("rapidocr") is not None:
    COMMANDS["text, read by RapidOCR"] = ("--as", "text", "--engine", "rapidocr")


@dataclass(frozen=True)
class Cost:
    """What one export took, all pages together."""

    what: str
    pages: int
    seconds: float  # of processors
    memory_mb: float
    size_mb: float


def measure(case: Path, what: str, flags: tuple[str, ...], folder: Path) -> Cost:
    command = [sys.executable, "-m", "deshred", "export", str(case), "-o", str(folder), *flags]
    process = subprocess.Popen([*command, "--jobs", "1", "-q"], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{what}: ended with status {status}")
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    pages = len(list((case / "pages").glob("*.png")))
    return Cost(what, pages, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, size / 1e6)


def measure_all(original: Path, rows: Sequence[str]) -> Iterator[Cost]:
    """Exports of a copy of a case, of which nothing was read before."""
    with tempfile.TemporaryDirectory() as scratch:
        case = Path(scratch) / "case"
        shutil.copytree(original, case)
        shutil.rmtree(case / "store", ignore_errors=True)
        shreds = original.parent / "pile"
        if shreds.is_dir():  # the demonstration names its shreds relative to the case
            shutil.copytree(shreds, Path(scratch) / "pile")
        for number, what in enumerate(rows):
            yield measure(case, what, COMMANDS[what], Path(scratch) / f"out-{number}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", type=Path, nargs="+")
    parser.add_argument("--rows", nargs="+", choices=COMMANDS, default=list(COMMANDS), metavar="ROW")
    parser.add_argument("-o", "--output", type=Path, help="JSON")
    arguments = parser.parse_args()
    costs: dict[tuple[str, int], Cost] = {}
    if arguments.output is not None and arguments.output.exists():
        for known in json.loads(arguments.output.read_text()):
            costs[known["what"], known["pages"]] = Cost(**known)
    for case in arguments.cases:
        for cost in measure_all(case, arguments.rows):
            costs[cost.what, cost.pages] = cost
            print(
                f"{cost.what}: {cost.seconds / cost.pages:.1f} s, {cost.size_mb / cost.pages:.1f} MB a page, "
                f"{cost.memory_mb:.0f} MB of memory for {cost.pages} pages",
                flush=True,
            )
    if arguments.output is not None:
        arguments.output.write_text(json.dumps([asdict(cost) for cost in costs.values()], indent=1) + "\n")


if __name__ == "__main__":
    main()
