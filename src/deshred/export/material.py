"""What every exporter gets and gives: Material in, Files out. Exporters are pure; others write the files."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, get_args

from deshred.cases import writing
from deshred.elements import Copy, Join
from deshred.errors import SettingsError
from deshred.export.casefiles import CaseFacts
from deshred.export.headings import ReportLanguage
from deshred.export.names import clean
from deshred.export.pagefile import PageCard, PageFile
from deshred.imaging.composition import LostInk
from deshred.options import option
from deshred.reading import Box, Line, Reading, Word
from deshred.versions import find_version

if TYPE_CHECKING:
    from deshred.pipeline import Reconstruction

Format = Literal[
    "pdf",
    "tiff",
    "png",
    "text",
    "alto",
    "page",
    "hocr",
    "json",
    "csv",
    "report",
    "html",
    "loadfile",
    "iiif",
    "bag",
]
FORMATS: tuple[Format, ...] = get_args(Format)
Pictures = Literal["lossless", "jpeg", "bitonal"]
_PAGES = re.compile(r"\s*([0-9]{1,6})(?:-([0-9]{1,6}))?\s*")
TOOL = f"deshred {find_version('deshred') or 'of unknown version'}"


def parse_pages(text: str) -> tuple[int, ...]:
    """Read `1-4,7`."""
    found: set[int] = set()
    for part in text.split(","):
        spelled = _PAGES.fullmatch(part)
        if spelled is None:
            raise SettingsError(f"pages must be numbers and ranges such as 1-4,7; got {text!r}.")
        found.update(range(int(spelled[1]), int(spelled[2] or spelled[1]) + 1))
    return tuple(sorted(found))


@dataclass(frozen=True)
class ExportOptions:
    """How files are made; each belongs to the formats named behind it."""

    copy: Copy = option(
        "evidence", "Which picture of a page: the unchanged one, or the straight and mended one."
    )
    pages: tuple[int, ...] = option(
        (),
        "Only these pages, such as 1-4,7; they keep their numbers.",
        metavar="N,...",
        shown="all",
        parse=parse_pages,
    )
    images: Pictures = option("lossless", "pdf, tiff: how pictures are compressed.")
    pdfa: Literal["2b", "3b"] = option("2b", "pdf: 3b has the record of the run attached.")
    split: bool = option(False, "pdf: one file per page.")
    multipage: bool = option(False, "tiff: all pages in one file.")
    mark: bool = option(False, "text: write doubtful words across an open join as ⟨word⟩.")
    prefix: str = option("DS", "loadfile: what the numbers begin with.")
    start: int = option(1, "loadfile: the first number.")
    digits: int = option(7, "loadfile: how many digits a number has.")
    custodian: str = option("", "loadfile: whose documents they are.")
    base_url: str = option("http://localhost/", "iiif: the address where the files will be.", metavar="URL")
    terms: tuple[str, ...] = option(
        (),
        "report: words to look for.",
        metavar="WORD,...",
        parse=lambda text: tuple(term.strip() for term in text.split(",") if term.strip()),
    )
    headings: ReportLanguage = option("en", "report: language of its headings.")
    operator: str = option("", "Who makes the export; never taken from the computer.", metavar="NAME")
    with_inputs: bool = option(False, "bag: include the original scans.")

    def __post_init__(self) -> None:
        if list(self.pages) != sorted(set(self.pages)) or min(self.pages, default=1) < 1:
            raise SettingsError(f"pages must be numbers from 1, each once and in order; got {self.pages}.")
        if not 1 <= self.digits <= 12 or not 0 <= self.start < 10**self.digits:
            raise SettingsError(
                f"numbers must have 1 to 12 digits and start at 0 or above; "
                f"got {self.start}, {self.digits} digits."
            )
        if not self.prefix.isascii() or not self.prefix.replace("-", "").replace("_", "").isalnum():
            raise SettingsError(f"prefix may hold only letters, digits, - and _; got {self.prefix!r}.")
        if not self.base_url.startswith(("http://", "https://")):
            raise SettingsError(f"base_url must begin with http:// or https://; got {self.base_url!r}.")


@dataclass(frozen=True)
class File:
    """A file of an export: its name in the folder, with / between folders, and its content."""

    name: str
    content: bytes


@dataclass(frozen=True, eq=False)
class LargeFile:
    """A file that grows with the pages: its content lies on disk until the next file is asked for."""

    name: str
    stream: BinaryIO

    @property
    def content(self) -> bytes:
        """All of it."""
        self.stream.seek(0)
        return self.stream.read()


def find_scratch() -> Path:
    """Where the system wants files that do not last."""
    return Path(tempfile.gettempdir())


@contextmanager
def open_scratch(folder: Path) -> Iterator[BinaryIO]:
    """A file without a name, beside what will be written; nothing of it is left however an export ends."""
    with writing(folder):
        file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - what fails later has its own words
    with file:
        yield file


@dataclass(frozen=True)
class Custody:
    """What the journal says about the case: its head, and one line per event."""

    head: str = ""
    events: tuple[str, ...] = ()
    source: bytes = b""  # the journal itself


@dataclass(frozen=True, eq=False)
class Material:
    """Everything an exporter may look at. The date is given: the same material makes the same bytes."""

    reconstruction: Reconstruction
    pages: PageFile  # of the copy that was asked for
    readings: tuple[Reading, ...] | None = None  # one per page, read before places were marked in it
    options: ExportOptions = field(default_factory=ExportOptions)
    made: datetime = datetime(1970, 1, 1, tzinfo=UTC)
    facts: CaseFacts = field(default_factory=CaseFacts)
    custody: Custody = field(default_factory=Custody)
    command: str = ""
    lost_ink: tuple[tuple[LostInk, ...], ...] = ()  # per page, where it is a reading copy
    numbers: tuple[int, ...] = ()  # of the pages in the case; all of them when empty
    scratch: Path = field(default_factory=find_scratch)  # a folder with room for large files

    @property
    def title(self) -> str:
        """What names the case: its number, or the name of the tool."""
        return clean(self.facts.case or self.facts.number) or "Reconstructed pages"

    def stem(self, index: int) -> str:
        """The name of a page without its ending; it says which copy it is."""
        return f"page-{self.number(index):03d}-{self.card(index).copy}"

    def card(self, index: int) -> PageCard:
        """What is known of a page without unpacking it."""
        return self.pages.cards[index]

    def number(self, index: int) -> int:
        """The number of a page in its case, from 1."""
        return self.numbers[index] if self.numbers else index + 1

    @cached_property
    def joins(self) -> dict[tuple[str, str], Join]:
        """The joins of the answer by their shreds."""
        return {(join.left, join.right): join for join in self.reconstruction.arrangement.joins}

    def page_joins(self, index: int) -> list[Join]:
        """The joins of one page from left to right."""
        ids = [placement.shred_id for placement in self.card(index).placements]
        return [self.joins[pair] for pair in pairwise(ids) if pair in self.joins]

    def crossed(self, index: int, word: Word) -> tuple[Join, ...]:
        """The joins whose seam runs through a word at mid height."""
        key = index, word.box
        if key not in self._crossed:
            self._crossed[key] = self._find_crossed(index, word.box)
        return self._crossed[key]

    @cached_property
    def _crossed(self) -> dict[tuple[int, Box], tuple[Join, ...]]:
        return {}  # found once for all formats, or each of them would unpack every page

    def _find_crossed(self, index: int, box: Box) -> tuple[Join, ...]:
        row = (box.top + box.bottom) // 2
        found = []
        for seam in self.pages[index].seams:
            if not 0 <= row < len(seam.stops) or seam.stops[row] < 0 or seam.starts[row] < 0:
                continue
            at = (int(seam.stops[row]) + int(seam.starts[row])) / 2
            join = self.joins.get((seam.left, seam.right))
            if join is not None and box.left < at < box.right:
                found.append(join)
        return tuple(found)

    def crosses_open(self, index: int, word: Word) -> bool:
        """Whether the word rests on a join that is worth a look."""
        return any(join.verdict == "open" for join in self.crossed(index, word))

    def lines(self, index: int) -> tuple[Line, ...]:
        """What was read on a page; nothing when it was not read."""
        return self.readings[index].lines if self.readings is not None else ()


Exporter = Callable[[Material], Iterator[File | LargeFile]]
