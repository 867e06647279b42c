"""The journal of a case: who did what when, one line each, and every line holds the hash of the one before.

Lines are only ever appended, and a line is on disk before `append` returns. Writers take turns, so that lines
of two processes never cross. A line cut off by a kill was never answered for; it is taken away by the next
writer, who says so.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deshred.cases.folders import Folder
from deshred.cases.writing import to_plain, writing
from deshred.errors import InputError, OutputError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

START = "0" * 64  # what stands before the first line
_RESERVED = ("number", "time", "event", "previous")


@dataclass(frozen=True)
class Entry:
    """One line: its number from 1, when, what, and the SHA-256 of the line itself."""

    number: int
    time: str
    event: str
    fields: Mapping[str, Any]
    digest: str


@dataclass(frozen=True)
class JournalCheck:
    """What a look at the whole chain found; `problems` is empty when every line follows from the first."""

    entries: int
    head: str  # the digest of the last good line
    problems: tuple[str, ...] = ()

    @property
    def is_sound(self) -> bool:
        return not self.problems


@dataclass(frozen=True)
class _Lines:
    entries: tuple[Entry, ...]
    sound_bytes: int  # length of the part that holds whole, chained lines
    problem: str | None  # why the part behind it is not one of them


@dataclass(frozen=True)
class Journal:
    """The journal in a folder."""

    folder: Folder
    name: str = "journal.jsonl"

    def read(self) -> tuple[Entry, ...]:
        """All entries up to the first that does not follow from the one before."""
        return self._parse().entries

    def append(self, event: str, **fields: Any) -> Entry:
        """Add a line and wait until it is on disk."""
        path = self.folder.locate(self.name)
        with writing(path):
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
            descriptor = os.open(path, flags, 0o666)
            try:
                _refuse_second_name(descriptor, path)
                with _turn(descriptor):
                    lines = self._parse()
                    previous = lines.entries[-1] if lines.entries else None
                    line, entry = _write_line(event, fields, previous)
                    os.ftruncate(descriptor, lines.sound_bytes)
                    os.lseek(descriptor, 0, os.SEEK_END)
                    _write_all(descriptor, line)
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)
        return entry

    def mend(self) -> None:
        """Say that a line was cut off, if one was; refuse a journal that somebody has changed."""
        lines = self._parse()
        if lines.problem is None:
            return
        if lines.problem != _CUT_OFF:
            raise InputError(
                f"{self.folder.path / self.name}: {lines.problem}. Somebody has changed the journal; nothing "
                "was touched. Restore it from a copy, or choose a new folder with -o."
            )
        self.append("mended", what="a line that was cut off has been removed")

    def check(self, head: str | None = None) -> JournalCheck:
        """Follow the chain from its start; `head` is a digest noted earlier, which must be part of it."""
        lines = self._parse()
        digests = [entry.digest for entry in lines.entries]
        problems = [] if lines.problem is None else [f"line {len(digests) + 1}: {lines.problem}"]
        if head is not None and head not in digests:
            problems.append(f"the line with SHA-256 {head} is missing: the journal was cut or rewritten")
        return JournalCheck(len(digests), digests[-1] if digests else START, tuple(problems))

    def _parse(self) -> _Lines:
        if not self.folder.exists(self.name):
            return _Lines((), 0, None)
        content = self.folder.read_bytes(self.name)
        entries: list[Entry] = []
        at = 0
        while at < len(content):
            end = content.find(b"\n", at)
            if end < 0:
                return _Lines(tuple(entries), at, _CUT_OFF)
            found = _read_line(content[at:end], entries[-1] if entries else None)
            if isinstance(found, str):
                is_last = end + 1 == len(content)
                return _Lines(tuple(entries), at, _CUT_OFF if is_last and found == _NO_ENTRY else found)
            entries.append(found)
            at = end + 1
        return _Lines(tuple(entries), at, None)


_CUT_OFF = "the last line was cut off"
_NO_ENTRY = "this is not a journal entry"


def _write_line(event: str, fields: Mapping[str, Any], previous: Entry | None) -> tuple[bytes, Entry]:
    reserved = [name for name in _RESERVED if name in fields]
    if reserved:
        raise InputError(f"a journal entry has its own {', '.join(reserved)}; give the field another name.")
    number = previous.number + 1 if previous else 1
    moment = datetime.now(UTC).isoformat(timespec="milliseconds")
    plain = to_plain(fields)
    content = {
        "number": number,
        "time": moment,
        "event": event,
        **plain,
        "previous": previous.digest if previous else START,
    }
    line = json.dumps(content, ensure_ascii=True, allow_nan=False, default=str).encode()
    return line + b"\n", Entry(number, moment, event, plain, hashlib.sha256(line).hexdigest())


def _read_line(line: bytes, previous: Entry | None) -> Entry | str:
    """The entry, or what is wrong with the line."""
    try:
        content = json.loads(line)
        number, moment, event = content["number"], content["time"], content["event"]
        before = content["previous"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return _NO_ENTRY
    if not (isinstance(number, int) and isinstance(moment, str) and isinstance(event, str)):
        return _NO_ENTRY
    if before != (previous.digest if previous else START):
        return "does not follow from the line before"
    if number != (previous.number + 1 if previous else 1):
        return f"has number {number}"
    fields = {name: value for name, value in content.items() if name not in _RESERVED}
    return Entry(number, moment, event, fields, hashlib.sha256(line).hexdigest())


@contextmanager
def _turn(descriptor: int) -> Iterator[None]:
    """Wait until nobody else appends.

    A lock of the open file, where there is one: it knows nothing of the lock that keeps a second command out
    of the folder, which may be held by the very process that appends.
    """
    command = getattr(fcntl, "F_OFD_SETLKW", None)
    if command is None:
        yield
        return
    with suppress(OSError):  # a file system without locks
        fcntl.fcntl(descriptor, command, struct.pack(_LOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
    yield  # closing the file ends the lock


_LOCK = "@hhqqi4x"  # as C has it: type, from where, start, length, process


def _refuse_second_name(descriptor: int, path: Path) -> None:
    """All other files are written anew; a journal that has a name elsewhere as well would grow there, too."""
    if os.fstat(descriptor).st_nlink > 1:
        raise OutputError(
            f"{path}: is a hard link, so that what is written there would change another file as well; "
            "nothing was touched. Copy the folder, or choose a new one with -o."
        )


def _write_all(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]
