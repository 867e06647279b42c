"""Artefacts by key: named arrays in, the same arrays out, in memory or in a folder.

A key is a hash of content and of everything that changes the result, so whatever lies under it is right or
damaged, and what is damaged is computed again. Losing a store costs time, never information.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from deshred.cases.folders import Folder
from deshred.errors import InputError, OutputError

Arrays = Mapping[str, NDArray[Any]]

# all that reading a damaged `.npz` is known to raise
DAMAGED = (
    OSError,
    ValueError,
    KeyError,
    EOFError,
    TypeError,
    AttributeError,
    RuntimeError,
    MemoryError,
    SyntaxError,
    OverflowError,
    NotImplementedError,
    zipfile.BadZipFile,
    zlib.error,
)


def make_key(*parts: str) -> str:
    """The key of what these parts determine."""
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode("utf-8", "backslashreplace")
        digest.update(f"{len(encoded)}:".encode())  # so that ("ab", "c") is not ("a", "bc")
        digest.update(encoded)
    return digest.hexdigest()


class Store(Protocol):
    """Where artefacts lie."""

    def load(self, key: str) -> Arrays | None:
        """What lies under a key; None when nothing does, or it is damaged."""

    def save(self, key: str, arrays: Arrays) -> None:
        """Keep arrays under a key."""


@dataclass
class MemoryStore:
    """Artefacts in memory, for as long as the process lasts."""

    kept: dict[str, Arrays] = field(default_factory=dict)

    def load(self, key: str) -> Arrays | None:
        return self.kept.get(key)

    def save(self, key: str, arrays: Arrays) -> None:
        self.kept[key] = dict(arrays)


@dataclass(frozen=True)
class FolderStore:
    """Artefacts as files of a folder, named by their keys."""

    folder: Folder
    below: str = "store"

    def load(self, key: str) -> Arrays | None:
        try:
            return unpack_arrays(self.folder.read_bytes(self._name(key)))
        except (InputError, OutputError, *DAMAGED):
            return None

    def save(self, key: str, arrays: Arrays) -> None:
        # not synced: a torn file is noticed by its checksums and made again
        self.folder.write_bytes(self._name(key), pack_arrays(arrays), durable=False)

    def _name(self, key: str) -> str:
        return f"{self.below}/{key[:2]}/{key}.npz"


def pack_arrays(arrays: Arrays) -> bytes:
    """Named arrays as the bytes of an `.npz` file."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def unpack_arrays(content: bytes, names: Iterable[str] | None = None) -> dict[str, NDArray[Any]]:
    """The arrays of an `.npz` file, or those of the given names only; one of `DAMAGED` is raised if it is.

    Nothing larger than its file is unpacked, unless the file says how it got there: what we write is not
    compressed, so a few bytes that claim to be gigabytes are not ours.
    """
    wanted = None if names is None else set(names)
    arrays: dict[str, NDArray[Any]] = {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for info in archive.infolist():
            name = info.filename.removesuffix(".npy")
            if wanted is not None and name not in wanted:
                continue
            if info.file_size > _LARGEST_RATIO * len(content):
                raise ValueError(f"{name} claims {info.file_size} bytes")
            with archive.open(info) as member:
                arrays[name] = _read_array(member, info.file_size)
    return arrays


_LARGEST_RATIO = 64  # bytes unpacked per byte of the file; scores that compress better are not real
_LONGEST_HEADER = 4096


def _read_array(member: Any, size: int) -> NDArray[Any]:
    """One member, after its header has been found to fit what follows."""
    version = np.lib.format.read_magic(member)
    read_header = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }[version]
    shape, is_fortran, dtype = read_header(member, max_header_size=_LONGEST_HEADER)
    if dtype.hasobject:
        raise ValueError("objects are not read")
    count = 1
    for length in shape:
        count *= int(length)
    if not 0 <= count * dtype.itemsize <= size:
        raise ValueError(f"an array of {shape} does not fit into {size} bytes")
    data = member.read(count * dtype.itemsize)
    if member.read(1):
        raise ValueError("more bytes than the header says")
    array = np.frombuffer(data, dtype=dtype, count=count)
    return array.reshape(shape, order="F" if is_fortran else "C")
