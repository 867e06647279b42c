"""NPY and NPZ bytes in, arrays out: what a file declares is checked before room is made for it."""

from __future__ import annotations

import io
import lzma
import math
import zipfile
import zlib
from collections.abc import Collection
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deshred.errors import InputError

Array = NDArray[Any]

_KINDS = "biufUS"  # truth values, numbers and text; never objects, which would be programs
# NumPy parses a header as Python, and zipfile has an error of its own for each way to be broken.
_DAMAGED = (
    *(ValueError, TypeError, SyntaxError, TokenError, EOFError, OverflowError, RecursionError, KeyError),
    *(
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
        NotImplementedError,
        RuntimeError,
        OSError,
        MemoryError,
    ),
)


def parse_npy(content: bytes, where: object, *, most_bytes: int) -> Array:
    """The array of an NPY file; `where` names it in errors."""
    try:
        return _parse_npy(content, most_bytes)
    except _TooLarge as error:
        raise InputError(f"{where}: {error}") from None
    except _DAMAGED as error:
        raise InputError(f"{where}: this is not a readable NPY file ({error}). Save it again.") from None


def parse_npz(
    content: bytes,
    names: Collection[str] | None,
    where: object,
    *,
    most_bytes: int,
) -> dict[str, Array]:
    """Those of the named arrays that an NPZ file has, or all; others are not unpacked."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return _parse_members(archive, names, most_bytes)
    except _TooLarge as error:
        raise InputError(f"{where}: {error}") from None
    except _DAMAGED as error:
        raise InputError(f"{where}: this is not a readable NPZ file ({error}). Make it again.") from None


class _TooLarge(Exception):
    """Something that declares more than there is room for."""

    def __init__(self, size: int, most_bytes: int) -> None:
        super().__init__(
            f"would unpack to {size / 1e6:,.0f} MB, more than the limit of {most_bytes / 1e6:,.0f} MB. "
            "Raise --memory if the file is what you think it is."
        )


def _parse_members(
    archive: zipfile.ZipFile, names: Collection[str] | None, most_bytes: int
) -> dict[str, Array]:
    known = {info.filename: info.filename.removesuffix(".npy") for info in archive.infolist()}
    if names is not None:
        known = {file: name for file, name in known.items() if name in names}
    members = [info for info in archive.infolist() if info.filename in known]
    size = sum(info.file_size for info in members)
    if size > most_bytes:
        raise _TooLarge(size, most_bytes)
    arrays = {}
    for info in members:
        with archive.open(info) as file:
            packed = file.read(info.file_size + 1)
        arrays[known[info.filename]] = _parse_npy(packed, most_bytes)
    return arrays


def _parse_npy(content: bytes, most_bytes: int) -> Array:
    file = io.BytesIO(content)
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    elif version == (2, 0):
        shape, _, dtype = np.lib.format.read_array_header_2_0(file)
    else:
        raise ValueError(f"of version {version}")
    if dtype.kind not in _KINDS:
        raise ValueError(f"it holds {dtype}, not numbers")
    size = math.prod(shape) * dtype.itemsize
    if size > most_bytes:
        raise _TooLarge(size, most_bytes)
    if size != len(content) - file.tell():
        raise ValueError(f"{size:,} bytes are declared, {len(content) - file.tell():,} are there")
    file.seek(0)
    return np.asarray(np.lib.format.read_array(file, allow_pickle=False))
