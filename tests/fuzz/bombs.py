"""Small files that ask for much: each in a process of its own, with the seconds and the memory it took.

    python -m tests.fuzz.bombs

prints a table; 1 is the exit code if any took more than 10 s of a processor or 1 GB in any process.
"""

from __future__ import annotations

import argparse
import io
import resource
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

from deshred.arrangement import read_atsp
from deshred.cases import load_compatibility, load_constraints
from deshred.errors import DeshredError
from deshred.imaging.intakes import load_intake
from deshred.settings import read_settings
from tests.fuzz.tables import replace_table
from tests.hostile import jpeg_of_many_scans, large_picture, many_pages, nested_forms, one_page, stream

MOST_SECONDS, MOST_MB = 10.0, 1000


def png(side: int) -> bytes:
    def chunk(name: bytes, body: bytes) -> bytes:
        return len(body).to_bytes(4, "big") + name + body + zlib.crc32(name + body).to_bytes(4, "big")

    header = side.to_bytes(4, "big") * 2 + bytes([8, 2, 0, 0, 0])
    rows = zlib.compressobj(9)
    body = b"".join(rows.compress(bytes(1 + 3 * side)) for _ in range(min(side, 13_000))) + rows.flush()
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def npz(member: str) -> bytes:
    """Scores, and a member of gigabytes of nothing."""
    buffer, header = io.BytesIO(), io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f4", "fortran_order": False, "shape": (6_000_000_000 // 4,)}
    )
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        scores = io.BytesIO()
        np.save(scores, np.zeros((3, 3), np.float32))
        if member != "scores":
            archive.writestr("scores.npy", scores.getvalue())
        with archive.open(f"{member}.npy", "w", force_zip64=True) as file:
            file.write(header.getvalue())
            for _ in range(600):
                file.write(bytes(10_000_000))
    return buffer.getvalue()


def tall_tiff() -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(np.full((100, 60), 255, np.uint8)).save(buffer, "TIFF", tiffinfo={278: 100})
    content = bytearray(buffer.getvalue())
    place = content.index(b"\x01\x01\x04\x00\x01\x00\x00\x00d\x00\x00\x00")
    content[place + 8 : place + 12] = (2_097_572).to_bytes(4, "little")
    return bytes(content)


def patterns() -> bytes:
    """A pattern that paints a pattern that paints a pattern ..."""
    entries = b"/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 2 2] /XStep 1 /YStep 1"
    inner = [
        stream(
            b"/Pattern cs /P scn 0 0 600 600 re f",
            entries + b" /Resources << /Pattern << /P %d 0 R >> >>" % (6 + level),
        )
        for level in range(8)
    ]
    last = stream(b"0 0 1 1 re f", entries + b" /Resources << >>")
    return one_page(b"/Pattern << /P 5 0 R >>", b"/Pattern cs /P scn 0 0 600 600 re f", *inner, last)


def read_images(path: Path) -> object:
    return load_intake([path])


Bomb = tuple[str, Callable[[], bytes], Callable[[Path], object]]
BOMBS: dict[str, Bomb] = {
    "60 pages of 52 megapixels in a PDF": ("a.pdf", lambda: many_pages(60, 1730), read_images),
    "60 pages of 149 megapixels in a PDF": ("a.pdf", lambda: many_pages(60, 2930), read_images),
    "2,001 pages in a PDF": ("a.pdf", lambda: many_pages(2001, 600), read_images),
    "forms in forms in a PDF": ("a.pdf", nested_forms, read_images),
    "patterns in patterns in a PDF": ("a.pdf", patterns, read_images),
    "a picture of 900 megapixels in a PDF": ("a.pdf", lambda: large_picture(30_000), read_images),
    "a JPEG of 3,000 scans": ("a.jpg", jpeg_of_many_scans, read_images),
    "a PNG of 60,000 x 60,000": ("a.png", lambda: png(60_000), read_images),
    "a PNG of 13,000 x 13,000": ("a.png", lambda: png(13_000), read_images),
    "a TIFF with a damaged height": ("a.tif", tall_tiff, read_images),
    "6 GB in an unknown member of scores": ("a.npz", lambda: npz("extra"), load_compatibility),
    "6 GB in a known member of scores": ("a.npz", lambda: npz("scores"), load_compatibility),
    "100,000 brackets in TOML": ("a.toml", lambda: b"first = " + b"[" * 100_000, load_constraints),
    "100,000 dots in TOML": ("a.toml", lambda: b"a." * 100_000 + b"a = 1", read_settings),
    "a line of 200 kB in TSPLIB": (
        "a.atsp",
        lambda: b" " * 200_000 + b"x\nEDGE_WEIGHT_SECTION\n1",
        read_atsp,
    ),
}


def set_off(name: str) -> str:
    """One row of the table."""
    file, _, read = BOMBS[name]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file
        # made by a process of its own, so that its memory is not counted
        code = f"from tests.fuzz.bombs import BOMBS; open({str(path)!r}, 'wb').write(BOMBS[{name!r}][1]())"
        subprocess.run([sys.executable, "-c", code], check=True)
        made = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.monotonic()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                read(path)
            told = "read"
        except DeshredError as error:
            told = f"refused: {str(error).replace(str(path), file).split('. ')[0][:110]}"
        wall = time.monotonic() - start
        size = path.stat().st_size
    own, workers = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    seconds = sum(one.ru_utime + one.ru_stime for one in (own, workers)) - made.ru_utime - made.ru_stime
    worker_mb = workers.ru_maxrss // 1024 if workers.ru_maxrss > made.ru_maxrss else 0
    peak = max(own.ru_maxrss // 1024, worker_mb)
    return f"| {name} | {size / 1000:,.0f} | {told} | {seconds:.1f} | {wall:.1f} | {peak:,} |"


def set_off_all() -> list[str]:
    """The table, row by row as it comes, each from a process of its own."""
    head = "| bomb | kB | what became of it | processor, s | clock, s | MB |"
    rows = [head, "|---|---:|---|---:|---:|---:|"]
    print("\n".join(rows))
    for name in BOMBS:
        command = [sys.executable, "-m", "tests.fuzz.bombs", "--only", name]
        rows.append(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip())
        print(rows[-1], flush=True)
    return rows


def is_over(row: str) -> bool:
    """Whether a bomb took more than it may."""
    cells = [cell.strip().replace(",", "") for cell in row.split("|")]
    return float(cells[4]) > MOST_SECONDS or int(cells[6]) > MOST_MB


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", help="one of them, by name")
    parser.add_argument("--write", type=Path, help="a document to put the table into")
    given = parser.parse_args()
    if given.only:
        print(set_off(given.only))
        return 0
    rows = set_off_all()
    if given.write is not None:
        replace_table(given.write, "bombs", "\n".join(rows))
    return 1 if any(map(is_over, rows[2:])) else 0


if __name__ == "__main__":
    sys.exit(main())
