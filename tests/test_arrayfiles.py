from __future__ import annotations

import io
import tracemalloc
import zipfile

import numpy as np
import pytest

from deshred.arrayfiles import Array, parse_npy, parse_npz
from deshred.errors import InputError

ROOM = 10_000_000


def npy(array: Array) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def npz(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return buffer.getvalue()


def claiming(shape: str, dtype: str = "<f8") -> bytes:
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header


@pytest.mark.parametrize(
    "array", [np.eye(3, dtype=bool), np.arange(6.0).reshape(2, 3).T, np.array(["a", "bc"]), np.array(7)]
)
def test_arrays_come_back_as_they_were(array: Array) -> None:
    back = parse_npy(npy(array), "x", most_bytes=ROOM)
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


@pytest.mark.parametrize("shape", ["(100000, 100000)", "(2000000,)", "(9223372036854775807, 9)"])
def test_a_header_makes_no_room_for_what_it_claims(shape: str) -> None:
    tracemalloc.start()
    with pytest.raises(InputError, match=r"x: would unpack to [\d,]+ MB, more than the limit of 10 MB"):
        parse_npy(claiming(shape), "x", most_bytes=ROOM)
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x93NUMPY",
        claiming("(3,)"),
        claiming("(3,)") + bytes(25),
        claiming("(-3,)"),
        claiming("()" * 40),
        claiming("((((((1,))))))"),
        claiming("(3,)", "|O"),
        claiming("(3,)", "V8"),
        claiming("(1,)", "no such type"),
        npy(np.eye(3))[:-1],
    ],
)
def test_a_damaged_array_is_an_input_error_that_says_what_to_do(content: bytes) -> None:
    with pytest.raises(InputError, match=r"x: this is not a readable NPY file .* Save it again"):
        parse_npy(content, "x", most_bytes=ROOM)


def test_members_that_nobody_knows_are_not_unpacked() -> None:
    content = npz(scores=npy(np.eye(4)), bomb=bytes(400_000_000))
    assert len(content) < 1_000_000
    tracemalloc.start()
    found = parse_npz(content, ("scores", "offsets"), "x", most_bytes=ROOM)
    assert tracemalloc.get_traced_memory()[1] < 2_000_000
    tracemalloc.stop()
    assert list(found) == ["scores"]


def test_members_together_stay_within_the_limit() -> None:
    content = npz(a=npy(np.zeros(1_000_000)), b=npy(np.zeros(1_000_000)))
    assert set(parse_npz(content, "ab", "x", most_bytes=20_000_000)) == {"a", "b"}
    with pytest.raises(InputError, match="x: would unpack to 16 MB, more than the limit of 10 MB"):
        parse_npz(content, "ab", "x", most_bytes=ROOM)


def test_a_member_that_is_longer_than_its_directory_says_is_refused() -> None:
    content = npz(a=npy(np.zeros(1_000)))
    shorter = content.replace((8_128).to_bytes(4, "little"), (528).to_bytes(4, "little"))
    assert shorter != content
    with pytest.raises(InputError, match="not a readable NPZ file"):
        parse_npz(shorter, "a", "x", most_bytes=ROOM)


@pytest.mark.parametrize("content", [b"", b"PK\3\4", npz(a=b"no array"), npz(a=npy(np.eye(3)))[:-30]])
def test_a_damaged_archive_is_called_so(content: bytes) -> None:
    with pytest.raises(InputError, match="x: this is not a readable NPZ file"):
        parse_npz(content, "a", "x", most_bytes=ROOM)
