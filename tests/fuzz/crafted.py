"""Files that are made wrong from the start: each is sound but for what decoders seldom see.

Damage to a sound file rarely gets this far: a profile of megabytes in a PNG, a TIFF whose directories form a
circle, a JPEG that tells its height at its end, pages that are their own parents, archives within limits and
beyond them. Each maker takes the sound file, which it need not use, and a generator.
"""

from __future__ import annotations

import io
import re
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from PIL import Image

Rng = np.random.Generator
Maker = Callable[[bytes, Rng], bytes]
SIZES = (0, 1, 2, 3, 7, 8, 60, 240, 255, 256, 65_535, 65_536, 2**31 - 1, 2**31, 2**32 - 1)
LENGTHS = (10, 1000, 10**6, 3 * 10**7)  # of what is packed


def pick(rng: Rng, choices: Sequence[Any]) -> Any:
    return choices[int(rng.integers(len(choices)))]


def draw(rng: Rng, *modes: str) -> Image.Image:
    """A small shred in one of several modes."""
    image = np.full((240, 60, 3), 245, np.uint8)
    for top in range(10, 230, 20):
        image[top : top + 6, int(rng.integers(20)) :] = 30
    return Image.fromarray(image).convert(pick(rng, modes))


def save(image: Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def make_exif(rng: Rng) -> bytes:
    exif = Image.Exif()
    exif[0x112] = pick(rng, (0, 1, 3, 6, 8, 9, 255, 65_535))  # orientation
    exif[0x11A] = pick(rng, (300, 0, 1e9))  # resolution
    content = bytearray(exif.tobytes())
    for _ in range(int(rng.integers(6))):
        content[int(rng.integers(len(content)))] = int(rng.integers(256))
    return bytes(content)


def make_png(_: bytes, rng: Rng) -> bytes:
    """Chunks of odd content, at odd places, with lengths and checksums that lie."""
    content = save(draw(rng, "L", "RGB", "RGBA", "P", "1", "LA"), "PNG")
    chunks, place = [], 8
    while place < len(content):
        (length,) = struct.unpack_from(">I", content, place)
        chunks.append((content[place + 4 : place + 8], content[place + 8 : place + 8 + length]))
        place += 12 + length
    packed = zlib.compress(bytes(pick(rng, LENGTHS)))
    frame = struct.pack(">5I2H2B", 0, *(pick(rng, SIZES) for _ in range(4)), 1, 1, 0, 0)
    odd = (
        (b"iCCP", b"x\0\0" + packed),
        (b"zTXt", b"x\0\0" + packed),
        (b"iTXt", b"x\0\1\0\0\0" + packed),
        (b"eXIf", make_exif(rng)),
        (b"tRNS", rng.bytes(int(rng.integers(300)))),
        (b"PLTE", rng.bytes(int(rng.integers(900)))),
        (b"acTL", struct.pack(">II", pick(rng, SIZES), 0)),
        (b"fcTL", frame),
        (b"fdAT", bytes(4) + chunks[1][1]),
        (b"pHYs", struct.pack(">IIB", pick(rng, SIZES), pick(rng, SIZES), int(rng.integers(3)))),
        (b"IDAT", packed),
        (b"IHDR", chunks[0][1][:8] + bytes(rng.integers(0, 9, 5).tolist())),
    )
    for _ in range(int(rng.integers(1, 4))):
        chunks.insert(int(rng.integers(len(chunks) + 1)), pick(rng, odd))
    liar = int(rng.integers(2 * len(chunks)))
    return content[:8] + b"".join(
        struct.pack(">I", pick(rng, SIZES) if at == liar else len(body))
        + name
        + body
        + struct.pack(">I", zlib.crc32(name + body))
        for at, (name, body) in enumerate(chunks)
    )


TIFF_TAGS = (
    256,
    257,
    258,
    259,
    262,
    266,
    273,
    277,
    278,
    279,
    282,
    284,
    317,
    320,
    322,
    324,
    330,
    338,
    339,
    347,
)


def make_tiff(_: bytes, rng: Rng) -> bytes:
    """Directories with other tags, kinds, counts and values, and such that lead back to themselves."""
    kind = pick(rng, (None, "tiff_lzw", "tiff_adobe_deflate", "packbits", "jpeg", "group3", "group4"))
    modes = ("1",) if kind and kind.startswith("group") else ("L", "RGB") if kind else ("CMYK", "P", "LAB")
    content = bytearray(save(draw(rng, *modes), "TIFF", compression=kind, big_tiff=bool(rng.integers(2))))
    is_big = content[2] == 43  # some codings are never written so
    number, step, head = ("Q", 20, 8) if is_big else ("I", 12, 2)
    (start,) = struct.unpack_from("<" + number, content, 8 if is_big else 4)
    (count,) = struct.unpack_from("<Q" if is_big else "<H", content, start)
    end = start + head + step * count
    for _ in range(int(rng.integers(1, 4))):
        entry = start + head + step * int(rng.integers(count))
        match int(rng.integers(5)):
            case 0:
                struct.pack_into("<H", content, entry, pick(rng, TIFF_TAGS))
            case 1:
                struct.pack_into("<H", content, entry + 2, int(rng.integers(19)))
            case 2:
                struct.pack_into("<" + number, content, entry + 4, pick(rng, SIZES))
            case 3:
                struct.pack_into("<I", content, entry + (12 if is_big else 8), pick(rng, SIZES))
            case _:
                struct.pack_into(
                    "<" + number, content, end, pick(rng, (start, start + step, 8, len(content)))
                )
    return bytes(content)


def make_jpeg(_: bytes, rng: Rng) -> bytes:
    """Heights told late, other ways of coding, thousands of segments, several pictures in one."""
    exif = b"Exif\0\0" + make_exif(rng)
    content = save(draw(rng, "RGB", "L", "CMYK"), "JPEG", progressive=bool(rng.integers(2)), exif=exif)
    for _ in range(int(rng.integers(1, 4))):
        frame = max(content.find(b"\xff\xc0"), content.find(b"\xff\xc2"))
        many = pick(rng, (1, 50, 2000))
        height = struct.pack(">H", pick(rng, (0, 1, 240, 65_535)))
        match int(rng.integers(8)):
            case 0:
                content = content[: frame + 5] + height + content[frame + 7 :]
            case 1:
                content = content[:-2] + b"\xff\xdc\0\4" + height + b"\xff\xd9"
            case 2:
                coding = bytes([pick(rng, (0xC0, 0xC1, 0xC2, 0xC3, 0xC5, 0xC9, 0xCA, 0xCF))])
                content = content[: frame + 1] + coding + content[frame + 2 :]
            case 3:
                content = content[: frame + 4] + rng.bytes(1) + content[frame + 5 :]
            case 4:
                profile = b"\xff\xe2\0\x42ICC_PROFILE\0" + rng.bytes(2) + bytes(50)
                content = content[:2] + profile * many + content[2:]
            case 5:
                content = content[:2] + (b"\xff\xfe\0\x10" + bytes(14)) * many + content[2:]
            case 6:
                content = content[:2] + b"\xff\xe2\0\x64MPF\0II*\0\x08\0\0\0" + rng.bytes(86) + content[2:]
            case _:
                content += content
    return content


def make_webp(_: bytes, rng: Rng) -> bytes:
    """Frames, profiles and sizes that do not fit each other."""
    frames = [draw(rng, "RGB", "RGBA") for _ in range(int(rng.integers(1, 4)))]
    options = {
        "lossless": bool(rng.integers(2)),
        "exif": make_exif(rng),
        "icc_profile": bytes(pick(rng, LENGTHS[:2])),
    }
    content = bytearray(save(frames[0], "WEBP", save_all=True, append_images=frames[1:], **options))
    chunks = [found.start() for found in re.finditer(rb"VP8[XL ]|ANI?M|ANMF|EXIF|ICCP|ALPH", bytes(content))]
    for _ in range(int(rng.integers(1, 3))):
        place = pick(rng, chunks)
        struct.pack_into("<I", content, pick(rng, (4, place + 4, place + 12)), pick(rng, SIZES))
    return bytes(content)


def make_bmp(_: bytes, rng: Rng) -> bytes:
    """Every field of the header, one to four at a time."""
    content = bytearray(save(draw(rng, "RGB", "L", "P", "1"), "BMP"))
    for _ in range(int(rng.integers(1, 5))):
        place = pick(rng, (2, 10, 14, 18, 22, 28, 30, 34, 38, 46, 50))
        struct.pack_into(
            "<i", content, place, pick(rng, (*range(5), 8, 24, 32, 40, 54, 124, -1, -240, 65_535))
        )
    return bytes(content)


PAGES = (
    b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    b"<< /Type /Pages /Kids [2 0 R 3 0 R] /Count 2 >>",
    b"<< /Type /Pages /Kids [3 0 R 3 0 R] /Count 1000000000 >>",
    b"<< /Type /Pages /Kids 2 0 R /Count -1 >>",
)
BOXES = (
    b"[0 0 120 120]",
    b"[0 0 0 0]",
    b"[0 0 1e9 1e9]",
    b"[120 120 0 0]",
    b"[0 0 14400 1]",
    b"3 0 R",
    b"null",
)
DRAWN = (
    b"20 20 60 60 re f",
    b"q 100 0 0 100 10 10 cm /I Do Q",
    b"BT /F 20 Tf 10 60 Td (a) Tj ET",
    b"q " * 100_000,
    b"BI /W 99999 /H 99999 /BPC 8 /CS /RGB ID xx EI",
    b"1e300 0 0 1e300 0 0 cm 0 0 1 1 re f",
    b"/I Do " * 3000,
)
FILTERS = (
    b"/FlateDecode",
    b"/JBIG2Decode",
    b"/CCITTFaxDecode",
    b"/JPXDecode",
    b"/DCTDecode",
    b"/LZWDecode",
    b"/Crypt",
)
SPACES = (b"/DeviceGray", b"[/Indexed /DeviceRGB 255 4 0 R]", b"[/ICCBased 5 0 R]", b"5 0 R")


def make_pdf(_: bytes, rng: Rng) -> bytes:
    """Trees and tables that lead in circles, pictures of every coding, fonts that draw with themselves."""
    content, sizes = pick(rng, DRAWN), tuple(pick(rng, (30, 0, 1, 99_999, 2**31)) for _ in range(2))
    data = zlib.compress(bytes(900)) if rng.random() < 0.3 else rng.bytes(int(rng.integers(400)))
    picture = b"/Type /XObject /Subtype %s /BBox [0 0 9 9] /Resources << /XObject << /I 5 0 R >> >> " % pick(
        rng, (b"/Image", b"/Form")
    ) + b"/Width %d /Height %d /BitsPerComponent 8 /ColorSpace %s /Filter %s" % (
        *sizes,
        pick(rng, SPACES),
        pick(rng, FILTERS),
    )
    resources = b"/Resources << /XObject << /I 5 0 R >> /Font << /F 6 0 R >> >>"
    odd = pick(rng, (b"", b"/UserUnit 1000", b"/UserUnit -3", b"/Rotate 45", b"/Rotate 99999999999"))
    objects = (
        pick(rng, (b"<< /Type /Catalog /Pages 2 0 R >>",) * 5 + (b"<< /Type /Catalog /Pages 1 0 R >>",)),
        pick(rng, (*PAGES, *PAGES[:1] * 4)),
        b"<< /Type /Page /Parent %d 0 R /MediaBox %s /Contents 4 0 R %s %s >>"
        % (pick(rng, (2, 2, 3)), pick(rng, (*BOXES, *BOXES[:1] * 6)), odd, resources),
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        b"<< %s /Length %d >>\nstream\n%s\nendstream" % (picture, len(data), data),
        b"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 1 1] /FontMatrix [1 0 0 1 0 0] "
        b"/CharProcs << /a 4 0 R >> /Encoding << /Differences [97 /a] >> "
        b"/FirstChar 97 /LastChar 97 /Widths [1] %s >>" % resources,
    )
    told, places = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(told))
        told += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(told)
    back = pick(
        rng, (b"", b" /Prev %d" % table, b" /XRefStm %d" % table, b" /Encrypt << /Filter /Standard /V 5 >>")
    )
    rows = b"".join(b"%010d 00000 n \n" % place for place in places)
    return (
        told
        + b"xref\n0 7\n0000000000 65535 f \n%strailer\n<< /Size 7 /Root 1 0 R%s >>\nstartxref\n%d\n%%%%EOF\n"
        % (
            rows,
            back,
            pick(rng, (table, table, 0, table + 5)),
        )
    )


ARRAYS: tuple[np.ndarray, ...] = (
    np.zeros(3, [("a", "i4"), ("b", "f8")]),
    np.zeros((0, 6)),
    np.array("x"),
    np.array(1 + 2j),
    np.array(["é" * 300] * 6),
    np.zeros((6, 6), ">f2"),
    np.full((6, 6), np.inf, "f4"),
    np.zeros((6, 6), "m8[s]"),
    np.asfortranarray(np.ones((6, 6), "f4")),
)


def make_npz(content: bytes, rng: Rng) -> bytes:
    """Members twice, elsewhere, as folders, of other kinds; other packing; tables that lie."""
    packing = pick(rng, (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", packing) as archive:
        warnings.simplefilter("ignore")
        for name, body in members.items():
            other = io.BytesIO()
            np.lib.format.write_array(other, pick(rng, ARRAYS), version=pick(rng, ((2, 0), (3, 0))))
            odd = (
                (name, body[: len(body) // 2]),
                (f"/{name}", body),
                (f"../{name}", body),
                (f"{name}/", b""),
            )
            archive.writestr(*pick(rng, (*odd, (name, other.getvalue()), *[(name, body)] * 5)))
            if rng.random() < 0.1:
                archive.writestr(name, body)
    packed = bytearray(buffer.getvalue())
    tables = [found.start() for found in re.finditer(rb"PK\x01\x02", bytes(packed))]
    match int(rng.integers(5)):
        case 0:
            packed[:0] = rng.bytes(100)
        case 1:
            packed[pick(rng, tables) + 8] |= 1  # encrypted
        case 2:
            struct.pack_into("<I", packed, pick(rng, tables) + pick(rng, (20, 24, 42)), pick(rng, SIZES))
        case 3:
            struct.pack_into("<H", packed, pick(rng, tables) + 10, pick(rng, (1, 9, 12, 14, 93, 99)))
    return bytes(packed)


TOML = (
    *(
        b"1979-05-27",
        b"1979-05-27T07:32:00Z",
        b"07:32:00",
        b"inf",
        b"nan",
        b"-inf",
        b"0x7fffffffffffffffffff",
    ),
    *(b"{a=1}", b"[[1]]", b"'''x'''", b'"\\u0000"', b"1e308", b"-0.0", b"[1979-05-27]", b"[{x=1}]", b"5e8"),
)
JSON = (
    *(
        b"NaN",
        b"Infinity",
        b"1e400",
        b"-0",
        b"1.0",
        b'"\\ud83d"',
        b"[1]",
        b'{"a":1}',
        b'"../x"',
        b'"/dev/zero"',
    ),
    *(b"123456789012345678901234567890", b'"\\u0000"', b"2147483648", b"-99999999", b"null", b"true"),
)


def make_toml(content: bytes, rng: Rng) -> bytes:
    """Dates, times, tables and numbers that are none where something else is expected."""
    places = [found.span(1) for found in re.finditer(rb"= *([^\n]+)", content)]
    start, stop = pick(rng, places)
    content = content[:start] + pick(rng, TOML) + content[stop:]
    coding = pick(rng, ("utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-32"))
    return content.decode().replace("\n", pick(rng, ("\n", "\r\n", "\r"))).encode(coding)


def make_json(content: bytes, rng: Rng) -> bytes:
    """Keys twice, numbers that JSON does not know, other codings, something behind the end."""
    entries = list(re.finditer(rb'"\w+" *: *("[^"\\]*"|-?[\d.eE+-]+|true|false|null)', content))
    if entries:
        start, stop = pick(rng, entries).span(1)
        content = content[:start] + pick(rng, JSON) + content[stop:]
        first = content.find(b"{") + 1
        twice = pick(rng, entries).group() + b"," if rng.random() < 0.3 else b""
        content = content[:first] + twice + content[first:]
    behind = pick(rng, (b"", b"", b" ", b"\0", b"{}", b"\xff"))
    return content + behind if rng.random() < 0.8 else content.decode(errors="replace").encode("utf-16")


MAKERS: dict[str, Maker] = {
    "crafted png": make_png,
    "crafted tiff": make_tiff,
    "crafted jpeg": make_jpeg,
    "crafted webp": make_webp,
    "crafted bmp": make_bmp,
    "crafted pdf": make_pdf,
    "crafted npz": make_npz,
    "crafted toml": make_toml,
    "crafted json": make_json,
}
