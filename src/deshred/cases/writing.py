"""Write files that are either complete or not there, and explain why one could not be written."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from deshred.errors import OutputError

_TEMPORARY = re.compile(r"\..+\.\d+\.tmp")
_CHUNK = 1 << 20  # bytes that are copied at a time
_LONGEST_NAME = 220  # bytes, so that there is room for more
_NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NOT_ALLOWED = {errno.EACCES, errno.EPERM, errno.EROFS}


def to_json(content: Mapping[str, Any]) -> str:
    """Readable JSON; numbers that JSON does not know become null."""
    return json.dumps(to_plain(content), indent=2, ensure_ascii=False, allow_nan=False, default=str) + "\n"


def to_plain(value: Any) -> Any:
    """The value as JSON can hold it."""
    if isinstance(value, Mapping):
        return {str(key): to_plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_plain(inner) for inner in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


def write_atomically(path: Path, content: bytes | BinaryIO, *, durable: bool = True) -> None:
    """Write a file beside its final name, then rename it: readers see the old file or all of the new one.

    A durable file survives a power cut once this returns. What can be computed again need not be.
    """
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(_name_temporary(path.name))
        try:
            with temporary.open("wb") as file:
                if isinstance(content, bytes):
                    file.write(content)
                else:
                    content.seek(0)
                    shutil.copyfileobj(content, file, _CHUNK)
                if durable:
                    file.flush()
                    os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        if durable:
            sync_folder(path.parent)


def _name_temporary(name: str) -> str:
    """Of this thread alone, as two may make the same artefact; and not longer than names can be."""
    short = name if len(os.fsencode(name)) <= _LONGEST_NAME else name[: _LONGEST_NAME // 8]
    return f".{short}.{os.getpid()}{threading.get_native_id()}.tmp"


def replace_durably(temporary: Path, path: Path) -> None:
    """Give a file that was written under another name its own; both survive a power cut then."""
    with writing(path):
        sync_file(temporary)
        temporary.replace(path)
        sync_folder(path.parent)


def sync_file(path: Path) -> None:
    """Wait until a file is on disk."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Make renames in a folder survive a power cut, on systems that can."""
    with suppress(OSError):  # Windows cannot open folders
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def is_leftover(name: str) -> bool:
    """Whether a file of this name is what a killed `write_atomically` leaves behind."""
    return _TEMPORARY.fullmatch(name) is not None


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what the system says about a failed write into an OutputError with a remedy."""
    try:
        yield
    except OSError as error:
        raise describe_write_failure(error, path) from error


def describe_write_failure(error: OSError, path: Path) -> OutputError:
    """What could not be written, why, and what to try."""
    if error.errno in _NO_SPACE:
        remedy = "Free some space or choose another place with -o; a run continues where it stopped."
    elif error.errno in _NOT_ALLOWED:
        remedy = "Choose a place you may write to with -o, or change its permissions."
    elif error.errno in (errno.ENOTDIR, errno.EEXIST):
        remedy = "A file of that name is in the way; choose another name with -o."
    else:
        remedy = "Choose another place with -o."
    return OutputError(f"{path}: cannot be written ({error.strerror or error}). {remedy}")
