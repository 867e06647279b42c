"""Keep the arrays that a stage made: in memory while there is room, then on disk.

The files have no name, so nothing is left behind however a run ends. What lies on disk is read like any other
array; the system keeps of it in memory what fits.
"""

from __future__ import annotations

import ctypes
import mmap
import operator
import os
import tempfile
import weakref
from collections.abc import Hashable, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from deshred.cases import describe_write_failure
from deshred.elements import ShredSet

Thing = TypeVar("Thing")
_Seen = dict[Hashable, NDArray[Any]]

_ROOM = 1 << 30  # bytes that stay in memory: some 600 shreds with their edges
_FILE = 256 << 20  # bytes per file: a system has few thousand mappings for a process
_ALIGNED = 64
_SMALL = 4096  # bytes: not worth a place on disk
_PLAIN = (str, int, float, Path, type(None))


class Shelf:
    """A place for the arrays of a pile that may not fit into memory."""

    def __init__(self, folder: Path | None = None, *, room: int = _ROOM, file_bytes: int = _FILE) -> None:
        self._file_bytes = file_bytes
        self._folder = Path(tempfile.gettempdir()) if folder is None else _nearest(folder)
        self._room = room
        self._open: _OpenFile | None = None
        self._files: list[mmap.mmap] = []
        self._held: dict[Hashable, weakref.ref[NDArray[Any]]] = {}  # what has its room already

    def release(self) -> None:
        """Give back the memory of what lies on disk; it is read again where it is needed."""
        for file in self._files:
            _give_back(file)

    def keep(self, thing: Thing) -> Thing:
        """The thing, a dataclass, a pile of shreds or a tuple of such, with its arrays put away."""
        kept: Thing = self._keep(thing, {})
        return kept

    def join(self, arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Arrays of one kind, one behind the other."""
        size = sum(array.nbytes for array in arrays)
        if size <= max(self._room, _SMALL):
            self._room -= min(size, self._room)
            return np.concatenate(arrays)
        try:
            file = _OpenFile(self._folder, size)
            self._files.append(file.mapped)
            return file.join(arrays)
        except OSError as error:
            raise describe_write_failure(error, self._folder) from error

    def _keep(self, thing: Any, seen: _Seen) -> Any:
        """The thing itself where all of it stays in memory, else a copy."""
        if isinstance(thing, np.ndarray):
            return self._put(thing, seen)
        if isinstance(thing, _PLAIN):
            return thing
        if isinstance(thing, ShredSet) or type(thing) in (tuple, list):
            kept = [self._keep(part, seen) for part in thing]
            return thing if all(map(operator.is_, kept, thing)) else type(thing)(kept)
        names = _name_fields(cast(Hashable, type(thing)))
        changed = {}
        for name in names:
            part = getattr(thing, name)
            if not isinstance(part, _PLAIN) and (new := self._keep(part, seen)) is not part:
                changed[name] = new
        if not changed:
            return thing
        copy = replace(thing, **changed)
        # what was worked out once, such as a fingerprint, stays with it
        vars(copy).update({name: value for name, value in vars(thing).items() if name not in names})
        return copy

    def _put(self, array: NDArray[Any], seen: _Seen) -> NDArray[Any]:
        """The array, or its copy on disk; pixels that a sheet and its shreds share lie there once."""
        if array.nbytes < _SMALL or _find_file(array) is not None:
            return array
        key = (array.__array_interface__["data"][0], array.shape, array.strides, array.dtype.str)
        held = self._held.get(key)
        if held is not None and held() is not None:  # another stage brings it along
            return array
        if key not in seen:
            if self._room < array.nbytes:
                seen[key] = self._copy(array)
            else:
                seen[key] = array
                self._room -= array.nbytes
                self._held[key] = weakref.ref(_find_owner(array))
        return seen[key]

    def _copy(self, array: NDArray[Any]) -> NDArray[Any]:
        try:
            if self._open is None or not self._open.has_room(array):
                self.release()
                self._open = _OpenFile(self._folder, max(self._file_bytes, array.nbytes))
                self._files.append(self._open.mapped)
            return self._open.add(array)
        except OSError as error:
            raise describe_write_failure(error, self._folder) from error


class _OpenFile:
    """The file that arrays are put into, until it is full."""

    def __init__(self, folder: Path, size: int) -> None:
        self._used = 0
        with tempfile.TemporaryFile(dir=folder) as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)  # a full disk is noticed here, not later
            else:
                file.truncate(size)
            self.mapped = mmap.mmap(file.fileno(), size)
            self._descriptor = os.dup(file.fileno())
        weakref.finalize(self, os.close, self._descriptor)

    def has_room(self, array: NDArray[Any]) -> bool:
        return self._used + array.nbytes <= len(self.mapped)

    def add(self, array: NDArray[Any]) -> NDArray[Any]:
        """A copy that lies in the file."""
        copy = self._put(array, self._used)
        self._used += -(-array.nbytes // _ALIGNED) * _ALIGNED
        return copy

    def join(self, arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Copies that fill the file, as one array."""
        place = 0
        for array in arrays:
            self._put(array, place)
            place += array.nbytes
        shape = sum(map(len, arrays)), *arrays[0].shape[1:]
        whole: NDArray[Any] = np.ndarray(shape, arrays[0].dtype, buffer=self.mapped)
        whole.flags.writeable = False
        return whole

    def _put(self, array: NDArray[Any], place: int) -> NDArray[Any]:
        copy = np.ndarray(array.shape, array.dtype, buffer=self.mapped, offset=place)
        if os.name == "posix":  # what is written shows in the mapping; page by page it would take far longer
            self._write(np.ascontiguousarray(array), place)
        else:
            copy[...] = array
        copy.flags.writeable = False
        return copy

    def _write(self, array: NDArray[Any], place: int) -> None:
        content = array.reshape(-1).view(np.uint8).data
        while content:
            written = os.pwrite(self._descriptor, content, place)
            content, place = content[written:], place + written


@cache
def _name_fields(kind: Hashable) -> tuple[str, ...]:
    """The fields of a dataclass; none of anything else."""
    return (
        tuple(field.name for field in fields(kind)) if is_dataclass(kind) and isinstance(kind, type) else ()
    )


def give_back(thing: Any) -> None:
    """Give back the memory of a dataclass whose arrays lie on disk; what lies elsewhere stays."""
    for part in fields(thing):
        file = _find_file(getattr(thing, part.name))
        if file is not None:
            _give_back(file)


def return_freed_memory() -> None:
    """Give what was freed back to the system: the allocator of glibc keeps it, for large piles gigabytes."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)


def _find_owner(array: NDArray[Any]) -> NDArray[Any]:
    """The array whose memory it is; others see parts of it."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _find_file(thing: Any) -> mmap.mmap | None:
    """The file that an array lies in; None where it lies in memory."""
    while isinstance(thing, np.ndarray):
        thing = thing.base
    return thing if isinstance(thing, mmap.mmap) else None


def _give_back(file: mmap.mmap) -> None:
    if hasattr(file, "madvise"):
        file.madvise(mmap.MADV_DONTNEED)


def _nearest(folder: Path) -> Path:
    """The folder, or the first one above it that exists."""
    return next(path for path in (folder, *folder.resolve().parents) if path.is_dir())
