"""Bytes in, damaged bytes out: blind damage, and damage that knows the format and gets past its checks."""

from __future__ import annotations

import copy
import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.fuzz.crafted import MAKERS

Rng = np.random.Generator
Mutation = Callable[[bytes, Rng], bytes]

NUMBERS = (
    0,
    1,
    -1,
    2,
    7,
    127,
    128,
    255,
    256,
    32767,
    65535,
    65536,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**63,
    10**30,
)
VALUES = (
    "null",
    "true",
    "[]",
    "{}",
    '""',
    '"\\u0000"',
    '"\\ud800"',
    "1e999",
    "-1",
    "9" * 5000,
    '"' + "x" * 300 + '"',
)


def pick(rng: Rng, choices: object) -> object:
    options = list(choices)  # type: ignore[call-overload]
    return options[int(rng.integers(len(options)))]


def mutate(content: bytes, kind: str, rng: Rng) -> bytes:
    """One to three pieces of damage, most of them such as the format can carry."""
    for _ in range(int(rng.integers(1, 4))):
        own = STRUCTURED.get(kind)
        mutation = own if own is not None and rng.random() < 0.6 else pick(rng, BLIND)
        try:
            content = mutation(content, rng)  # type: ignore[operator]
        except Exception:  # it no longer has the structure
            content = flip(content, rng)
    return content


# Blind


def flip(content: bytes, rng: Rng) -> bytes:
    if not content:
        return b"\0"
    damaged = bytearray(content)
    for place in rng.integers(0, len(damaged), int(rng.integers(1, 9))):
        damaged[place] ^= 1 << int(rng.integers(8))
    return bytes(damaged)


def overwrite(content: bytes, rng: Rng) -> bytes:
    start = int(rng.integers(len(content) + 1))
    size = int(rng.integers(1, 33))
    filler = pick(rng, (b"\0" * size, b"\xff" * size, rng.bytes(size)))
    return content[:start] + filler + content[start + size :]  # type: ignore[operator,no-any-return]


def cut_off(content: bytes, rng: Rng) -> bytes:
    return content[: int(rng.integers(len(content) + 1))]


def cut_out(content: bytes, rng: Rng) -> bytes:
    start, stop = sorted(int(at) for at in rng.integers(0, len(content) + 1, 2))
    return content[:start] + content[min(stop, start + 64) :]


def repeat(content: bytes, rng: Rng) -> bytes:
    start, stop = sorted(int(at) for at in rng.integers(0, len(content) + 1, 2))
    part = content[start : min(stop, start + 256)]
    return content[:start] + part * int(rng.integers(2, 20)) + content[start:]


def insert_number(content: bytes, rng: Rng) -> bytes:
    number = int(pick(rng, NUMBERS))  # type: ignore[call-overload]
    form, most = pick(rng, (("<I", 2**32), (">I", 2**32), ("<H", 2**16), (">H", 2**16)))  # type: ignore[misc]
    packed = struct.pack(form, number % most)
    start = int(rng.integers(len(content) + 1))
    return content[:start] + packed + content[start + len(packed) :]


BLIND: tuple[Mutation, ...] = (flip, flip, overwrite, insert_number, cut_off, cut_out, repeat)


# With the structure of the format


def in_png(content: bytes, rng: Rng) -> bytes:
    """Change, drop or repeat a chunk; checksums are right again, and so the decoder goes on."""
    chunks, place = [], 8
    while place + 12 <= len(content):
        (length,) = struct.unpack_from(">I", content, place)
        chunks.append((content[place + 4 : place + 8], content[place + 8 : place + 8 + length]))
        place += 12 + length
    at = int(rng.integers(len(chunks)))
    name, body = chunks[at]
    match int(rng.integers(4)):
        case 0:
            chunks[at] = (name, flip(body, rng))
        case 1:
            del chunks[at]
        case 2:
            chunks.insert(int(rng.integers(len(chunks) + 1)), chunks[at])
        case _:
            if name == b"IHDR":
                size = [max(0, int(pick(rng, NUMBERS))) & 0x7FFFFFFF for _ in "wh"]  # type: ignore[call-overload]
                body = struct.pack(">II", *size) + body[8:]
            chunks[at] = (name, overwrite(body, rng))
    return content[:8] + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in chunks
    )


def in_tiff(content: bytes, rng: Rng) -> bytes:
    """Change an entry of a directory: its tag, kind, count or value."""
    order = "<" if content[:2] == b"II" else ">"
    (place,) = struct.unpack_from(order + "I", content, 4)
    for _ in range(int(rng.integers(3))):  # a later page, perhaps
        (count,) = struct.unpack_from(order + "H", content, place)
        (following,) = struct.unpack_from(order + "I", content, place + 2 + 12 * count)
        place = following or place
    (count,) = struct.unpack_from(order + "H", content, place)
    entry = place + 2 + 12 * int(rng.integers(count))
    field, form = pick(rng, ((0, "H"), (2, "H"), (4, "I"), (8, "I"), (8, "I")))  # type: ignore[misc]
    number = int(pick(rng, NUMBERS)) & (0xFFFF if form == "H" else 0xFFFFFFFF)  # type: ignore[call-overload]
    damaged = bytearray(content)
    struct.pack_into(order + form, damaged, entry + field, number)
    return bytes(damaged)


def in_jpeg(content: bytes, rng: Rng) -> bytes:
    """Change or repeat a segment."""
    places = [match.start() for match in re.finditer(rb"\xff[\xc0-\xfe]", content)]
    start = int(pick(rng, places))  # type: ignore[call-overload]
    (length,) = struct.unpack_from(">H", content, start + 2)
    segment = content[start : start + 2 + length]
    if rng.random() < 0.3:
        return content[:start] + segment * int(rng.integers(2, 6)) + content[start + 2 + length :]
    return content[: start + 4] + flip(segment[4:], rng) + content[start + 2 + length :]


def in_text(content: bytes, rng: Rng) -> bytes:
    """Put another value where a number, a string or a word stands; or nest it, or repeat it."""
    places = [
        match.span()
        for match in re.finditer(rb'"[^"\n]*"|-?\d[\d.eE+-]*|\btrue\b|\bfalse\b|\bnull\b', content)
    ]
    start, stop = pick(rng, places)  # type: ignore[misc]
    match int(rng.integers(4)):
        case 0:
            new = str(pick(rng, VALUES)).encode()
        case 1:
            new = str(pick(rng, NUMBERS)).encode()
        case 2:
            depth = int(pick(rng, (3, 80, 3000, 50_000)))  # type: ignore[call-overload]
            new = b"[" * depth + content[start:stop] + b"]" * depth
        case _:
            new = content[slice(*pick(rng, places))]  # type: ignore[misc]
    return content[:start] + new + content[stop:]


HOSTILE_VALUES: tuple[object, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, -(2**63), 2**64, 10**9, 0.5, -1e300, 1e308, "", "..", "a/../../b"),
    *("/etc/passwd", "/dev/zero", "/proc/self/mem", "C:\\\\x", "\x1b[2J", "\u202e", "x" * 5000, [], {}, [[]]),
    *({"": 0}, [None], "NaN", [0] * 1000),
)


def in_json(content: bytes, rng: Rng) -> bytes:
    """Sound JSON that says something else: a value of another kind, one gone, one twice, two exchanged."""
    root = json.loads(content)
    places = list(_walk(root))
    holder, key = places[int(rng.integers(len(places)))]
    other, its = places[int(rng.integers(len(places)))]
    match int(rng.integers(6)):
        case 0 | 1:
            holder[key] = HOSTILE_VALUES[int(rng.integers(len(HOSTILE_VALUES)))]
        case 2:
            del holder[key]
        case 3:
            holder[key] = copy.deepcopy(other[its])
        case 4 if isinstance(holder, list):
            holder.append(copy.deepcopy(holder[key]))
        case 5 if isinstance(holder, dict):
            holder[str(HOSTILE_VALUES[int(rng.integers(len(HOSTILE_VALUES)))])[:50]] = holder[key]
        case _:
            number = holder[key]
            if isinstance(number, int | float):
                holder[key] = -number if rng.random() < 0.5 else number * 1000
    return json.dumps(root).encode()


def _walk(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a tree: what holds it, and its key."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _walk(value[key])


def in_arrays(content: bytes, rng: Rng) -> bytes:
    """Sound arrays that hold something else: another kind, shape or value."""
    with np.load(io.BytesIO(content)) as archive:
        arrays = dict(archive)
    name = str(pick(rng, sorted(arrays)))
    array = arrays[name]
    match int(rng.integers(7)):
        case 0:
            with np.errstate(all="ignore"):  # of what is no number, as an integer
                arrays[name] = array.astype(pick(rng, ("f4", "i8", "u1", "U3", "?")))  # type: ignore[arg-type]
        case 1:
            arrays[name] = array[..., :-1] if array.ndim and array.shape[-1] else array[None]
        case 2:
            arrays[name] = array[None]
        case 3:
            arrays[name] = np.concatenate([array, array]) if array.ndim else np.stack([array, array])
        case 4:
            del arrays[name]
        case 5:
            arrays[name] = arrays[str(pick(rng, sorted(arrays)))]
        case _ if array.size and array.dtype.kind in "if":
            flat = array.ravel().copy()
            worst = (np.nan, np.inf, -np.inf, 1e38) if array.dtype.kind == "f" else (-1, 10**4, -(2**15), 127)
            with np.errstate(all="ignore"):  # of what is too large for the type
                flat[int(rng.integers(flat.size))] = np.array(pick(rng, worst)).astype(array.dtype)
            arrays[name] = flat.reshape(array.shape)
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def in_npy(content: bytes, rng: Rng) -> bytes:
    """Change what the header says about shape and type."""
    (length,) = struct.unpack_from("<H", content, 8)
    header = content[10 : 10 + length]
    shapes = ("(%d,)", "(%d, %d)", "(-%d, 4)", "((%d,),)", "(%d.5,)", "()", "(True, %d)")
    shape = str(pick(rng, shapes))
    shape = shape % tuple(int(pick(rng, NUMBERS)) for _ in range(shape.count("%d")))  # type: ignore[call-overload]
    if rng.random() < 0.5:
        header = re.sub(rb"'shape': \([^)]*\)", b"'shape': " + shape.encode(), header)
    else:
        kinds = (b"|b1", b"<f8", b"|O", b"<U900000000", b"<M8[s]", b"|V0", b"<c16", b"<i9")
        header = re.sub(rb"'descr': '[^']*'", b"'descr': '" + bytes(pick(rng, kinds)) + b"'", header)  # type: ignore[call-overload]
    return content[:8] + struct.pack("<H", len(header)) + header + content[10 + length :]


def in_npz(content: bytes, rng: Rng) -> bytes:
    """Change, drop, rename or add a member."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = str(pick(rng, sorted(members)))
    match int(rng.integers(5)):
        case 0:
            del members[name]
        case 1:
            members[f"x{name}"] = members.pop(name)
        case 2:
            members["bomb.npy"] = bytes(5_000_000)
        case 3:
            members[name] = members[str(pick(rng, sorted(members)))]
        case _:
            members[name] = in_npy(members[name], rng)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in members.items():
            archive.writestr(name, body)
    return buffer.getvalue()


def in_pdf(content: bytes, rng: Rng) -> bytes:
    """Another number or name in the objects; streams stay as they are."""
    places = [match.span() for match in re.finditer(rb"(?<=[\s\[])\d+(?=[\s\]>])|/[A-Z][A-Za-z]+", content)]
    start, stop = pick(rng, places)  # type: ignore[misc]
    number = str(pick(rng, NUMBERS)).encode()
    new = content[slice(*pick(rng, places))] if rng.random() < 0.5 else number  # type: ignore[misc]
    return content[:start] + new + content[stop:]


def in_onnx(content: bytes, rng: Rng) -> bytes:
    """Damage the card or the description of the network, which lie at the ends of the file."""
    start = content.find(b'{"options"')
    if start >= 0 and rng.random() < 0.6:
        stop = min(len(content), start + 900)
        card = in_text(content[start:stop], rng)[: stop - start].ljust(stop - start)  # lengths stay right
        return content[:start] + card + content[stop:]
    edge = 4000
    if rng.random() < 0.5:
        return flip(content[:edge], rng) + content[edge:]
    return content[:-edge] + flip(content[-edge:], rng)


def in_lines(content: bytes, rng: Rng) -> bytes:
    """Drop, repeat or swap lines."""
    lines = content.split(b"\n")
    at, other = (int(i) for i in rng.integers(0, len(lines), 2))
    match int(rng.integers(3)):
        case 0:
            del lines[at]
        case 1:
            lines.insert(other, lines[at])
        case _:
            lines[at], lines[other] = lines[other], lines[at]
    return in_text(b"\n".join(lines), rng) if rng.random() < 0.5 else b"\n".join(lines)


STRUCTURED: dict[str, Mutation] = {
    "png": in_png,
    "tiff": in_tiff,
    "jpeg": in_jpeg,
    "text": in_text,
    "lines": in_lines,
    "json": in_json,
    "arrays": in_arrays,
    "npy": in_npy,
    "npz": in_npz,
    "pdf": in_pdf,
    "onnx": in_onnx,
    **MAKERS,
}
