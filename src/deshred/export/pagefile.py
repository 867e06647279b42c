"""Pages in, a file of packed pages out: of a case with hundreds of them one at a time is in memory.

Packed pages are PNG, which PDF and others take as it is. What is asked for all the time, such as the size and
the hash of a page, is at hand for every page.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from deshred.arrayfiles import parse_npz
from deshred.cases import writing
from deshred.elements import Copy, Page, Placement, Seam
from deshred.export.encoding import encode_page, hash_pixels
from deshred.imaging.decoding import decode
from deshred.lazy import LazySequence

_NAME = Path("page.png")  # of a page in errors


@dataclass(frozen=True)
class PageCard:
    """All that is known of a page without its pixels."""

    copy: Copy
    width: int
    height: int
    dpi: float
    placements: tuple[Placement, ...]
    seams: tuple[tuple[str, str], ...]  # the shreds left and right of each
    pixels_sha256: str


@dataclass(frozen=True)
class PackedPage:
    """A page as it is kept."""

    card: PageCard
    png: bytes
    rest: bytes  # mask and seams


def pack_page(page: Page) -> PackedPage:
    """Pack a page; nothing of it is lost."""
    height, width = page.image.shape[:2]
    buffer = io.BytesIO()
    lines = np.array([(seam.stops, seam.starts) for seam in page.seams], np.int32)  # (seams, 2, H)
    np.savez_compressed(buffer, mask=np.packbits(page.mask), lines=lines)
    seams = tuple((seam.left, seam.right) for seam in page.seams)
    card = PageCard(page.copy, width, height, page.dpi, page.placements, seams, hash_pixels(page))
    return PackedPage(card, encode_page(page), buffer.getvalue())


def unpack_page(packed: PackedPage) -> Page:
    """The page that was packed."""
    card, size = packed.card, packed.card.width * packed.card.height
    image = next(decode(packed.png, _NAME, max_pixels=size).pictures).image
    arrays = parse_npz(packed.rest, None, _NAME, most_bytes=1 << 40)  # we have written it ourselves
    mask = np.unpackbits(arrays["mask"], count=size).reshape(card.height, card.width).view(np.bool_)
    seams = tuple(Seam(*ends, *lines) for ends, lines in zip(card.seams, arrays["lines"], strict=True))
    return Page(image, mask, card.placements, card.dpi, card.copy, seams)


@dataclass(frozen=True)
class _Place:
    """Where a page lies in the file."""

    start: int
    png: int  # bytes
    rest: int


class PageFile(LazySequence[Page]):
    """Pages in a file; the one that was asked for last stays unpacked."""

    def __init__(self, file: BinaryIO, folder: Path) -> None:
        self._file = file
        self._folder = folder  # named where it is full
        self._places: list[_Place] = []
        self._last: tuple[int, Page] | None = None
        self.cards: list[PageCard] = []

    @classmethod
    def of(cls, pages: Iterable[Page]) -> PageFile:
        """Pages that are at hand, packed in memory."""
        packed = cls(io.BytesIO(), Path())
        for page in pages:
            packed.append(pack_page(page))
        return packed

    def append(self, packed: PackedPage) -> None:
        """Add a page at the end."""
        with writing(self._folder):
            start = self._file.seek(0, io.SEEK_END)
            self._file.write(packed.png)
            self._file.write(packed.rest)
        self._places.append(_Place(start, len(packed.png), len(packed.rest)))
        self.cards.append(packed.card)

    def png(self, index: int) -> bytes:
        """A page as a PNG that says its resolution, and which copy it is."""
        place = self._places[index]
        self._file.seek(place.start)
        return self._file.read(place.png)

    def make(self, index: int) -> Page:
        """The page, which is kept until another one is asked for."""
        last = self._last
        if last is None or last[0] != index:
            self._last = None
            png = self.png(index)  # what follows it in the file is the rest
            rest = self._file.read(self._places[index].rest)
            last = self._last = index, unpack_page(PackedPage(self.cards[index], png, rest))
        return last[1]

    def __len__(self) -> int:
        return len(self._places)
