"""A folder that may have come from a stranger: nothing in it leads out of it.

Names inside are relative, with `/` between their parts. Links are never followed, neither to read nor to
write nor to delete. The folder itself may be reached through a link: that one is the user's own.
"""

from __future__ import annotations

import hashlib
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from deshred.budgets import Budget
from deshred.cases.writing import write_atomically, writing
from deshred.errors import InputError, OutputError
from deshred.textfiles import read_some


@dataclass(frozen=True)
class Folder:
    """A folder, and the only way to the files in it."""

    path: Path

    def locate(self, name: str) -> Path:
        """Where a file of this name lies; a name that leads out, or through a link, is an OutputError."""
        parts = PurePosixPath(name).parts
        is_odd = any(part in ("..", ".") or "\\" in part or "\0" in part for part in parts)
        if not parts or name.startswith("/") or is_odd:
            raise OutputError(f"{self.path}: {name!r} is not the name of a file inside; nothing was touched.")
        place = self.path
        for part in parts:
            place = place / part
            with writing(self.path / parts[0]):  # names can be too long for the system
                is_link = place.is_symlink()
            if is_link:
                raise OutputError(
                    f"{place}: is a link, and this folder may not hold any; nothing was touched. "
                    "Remove the link, or choose a new folder with -o."
                )
        return place

    def exists(self, name: str) -> bool:
        """Whether there is a plain file of this name."""
        try:
            return stat.S_ISREG(os.lstat(self.locate(name)).st_mode)
        except (OSError, OutputError):
            return False

    def read_bytes(self, name: str, *, most_bytes: int | None = None) -> bytes:
        """The content of a file; links, pipes, devices and what would fill the memory are refused."""
        most_bytes = Budget().memory_bytes if most_bytes is None else most_bytes
        with self._open(name) as file:
            size = os.fstat(file.fileno()).st_size
            content = read_some(file, size, most_bytes) if size <= most_bytes else b""
        if max(size, len(content)) > most_bytes:
            raise InputError(
                f"{self.path / name}: {max(size, len(content)):,} bytes are more than the limit of "
                f"{most_bytes:,}. The file may be damaged, or deshred did not write it."
            )
        return content

    def hash_file(self, name: str) -> str:
        """The SHA-256 of a file, however large it is."""
        with self._open(name) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    @contextmanager
    def _open(self, name: str) -> Iterator[io.BufferedReader]:
        try:
            descriptor = os.open(
                self.locate(name),
                os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0),
            )
            with os.fdopen(descriptor, "rb") as file:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise InputError(f"{self.path / name}: is not a plain file. Remove it.")
                yield file
        except OutputError as error:
            raise InputError(str(error)) from None
        except OSError as error:
            raise InputError(f"{self.path / name}: cannot be read ({error.strerror}).") from None

    def write_bytes(self, name: str, content: bytes | BinaryIO, *, durable: bool = True) -> Path:
        """Write a file completely or not at all; the content may be that of another file."""
        place = self.locate(name)
        write_atomically(place, content, durable=durable)
        return place

    def remove(self, name: str) -> None:
        """Delete a file, and the folders that it leaves empty."""
        place = self.locate(name)
        with writing(place):
            place.unlink(missing_ok=True)
            for parent in place.parents:
                if parent == self.path or not parent.is_dir() or any(parent.iterdir()):
                    break
                parent.rmdir()

    def names(self, below: str = "") -> Iterator[str]:
        """The names of all plain files in the folder, or below one of its folders; links are passed over."""
        start = self.locate(below) if below else self.path
        if not start.is_dir():
            return
        for entry in sorted(os.scandir(start), key=lambda entry: entry.name):
            name = f"{below}/{entry.name}" if below else entry.name
            if entry.is_dir(follow_symlinks=False):
                yield from self.names(name)
            elif entry.is_file(follow_symlinks=False):
                yield name
