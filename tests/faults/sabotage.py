"""A process that runs a command and dies, or finds the disk full, at the nth change of a folder.

Or in the middle of its nth file: from then on no file may grow beyond a few bytes, and the system itself ends
the process there (or refuses the rest), as a kill or a full disk in the middle of a write would.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

COMMANDS = tuple(f"deshred.cli.{name}" for name in ("reconstruct", "segment", "export", "shred", "arrange"))

TRAINING = ("torch", "onnx", "deshred.compatibility.towers.network", "deshred.compatibility.training")

_CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "shutil.rmtree")
_INSIDE = ("kill inside", "full inside")  # faults
_FIRST_BYTES = 40  # of a file that are written before such a fault
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class _Saboteur:
    """Counts the changes of a folder: Python tells of every file opened to be written, renamed or removed."""

    def __init__(self, folder: str, number: int, fault: str) -> None:
        self.folder, self.number, self.fault = folder, number, fault
        self.changes = 0

    def watch(self, event: str, args: tuple[object, ...]) -> None:
        if not self._is_change(event, args):
            return
        self.changes += 1
        if self.fault == "kill" and self.changes == self.number:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.fault == "full" and 0 < self.number <= self.changes and event in ("open", "os.mkdir"):
            raise OSError(28, "No space left on device", str(args[0]))
        if self.fault in _INSIDE and self.changes == self.number:
            size = 0
            with suppress(OSError):
                size = Path(str(args[0])).stat().st_size  # of a journal, which grows
            resource.setrlimit(resource.RLIMIT_FSIZE, (size + _FIRST_BYTES, resource.RLIM_INFINITY))

    def _is_change(self, event: str, args: tuple[object, ...]) -> bool:
        if event == "open":
            _, mode, flags = args
            opened = isinstance(mode, str) and bool(set(mode) & set("wax+"))
            if not opened and not (isinstance(flags, int) and flags & _WRITES):
                return False
        elif event not in _CHANGES or self.fault in _INSIDE:
            return False
        return str(args[0]).startswith(self.folder)


def run_disturbed(folder: str, number: int, fault: str, args: Sequence[str], told: str) -> None:
    """Run a command in this process, which is its own; what it says on stderr goes to a file."""
    for stream, place in ((1, os.devnull), (2, told)):
        descriptor = os.open(place, os.O_WRONLY)
        os.dup2(descriptor, stream)
        os.close(descriptor)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    saboteur = _Saboteur(folder, number, fault)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL if fault == "kill inside" else signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.addaudithook(saboteur.watch)
    sys.argv = ["deshred", *args]
    if args[0] == "train":
        from tests.faults.training import main
    else:
        from deshred.cli import main
    try:
        main()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        print("changes", saboteur.changes, file=sys.stderr, flush=True)
