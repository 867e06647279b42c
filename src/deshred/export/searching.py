"""Find where words stand, tolerating letters that an engine misreads because of a tear.

A word that was read clearly is taken for no other; a number is, since any digits make one. A hit is a hint
all the same: of a hundred words that are not on a page one or two are found on it. So every hit comes with
its box, to look at the picture. Finding nothing does not prove that a word is not there.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from deshred.elements import Image
from deshred.errors import InputError, SettingsError
from deshred.export.material import Material
from deshred.export.names import clean
from deshred.options import option
from deshred.reading import Box
from deshred.reading.spelling import edit_distance
from deshred.reading.words import Clarity

_ONE_WRONG, _TWO_WRONG = 5, 9  # letters of a word from which so many may be wrong
_MOST_PAGES = 10**6
_AROUND = 40  # px of the page around a cut-out
_CLARITIES: tuple[Clarity, ...] = ("doubtful", "fair", "clear")


@dataclass(frozen=True)
class SearchOptions:
    """How words are compared. Case and accents never count."""

    exact: bool = option(False, "Accept no wrong letters.")
    most: int = option(1000, "Show at most this many hits.")

    def __post_init__(self) -> None:
        if self.most < 1:
            raise SettingsError(f"most must be at least 1, got {self.most}.")


@dataclass(frozen=True)
class FoundWord:
    """A word of a page, and what a reader of hits must know about it."""

    text: str
    box: Box
    clarity: Clarity
    crosses_open_join: bool


SearchedPage = Sequence[Sequence[FoundWord]]  # its lines


@dataclass(frozen=True)
class Hit:
    """Where something like the words stands: the page from 1, the line on it, and how sure the reading is."""

    page: int
    line: int
    text: str
    box: Box
    wrong_letters: int
    clarity: Clarity  # of its least clear word
    crosses_open_join: bool
    context: str = ""  # the line it stands on
    source: str = ""  # the folder, where several are searched

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        box = [self.box.left, self.box.top, self.box.right, self.box.bottom]
        told = {"text": clean(self.text), "context": clean(self.context), "source": clean(self.source)}
        return {**asdict(self), **told, "box": box}

    def to_text(self) -> str:
        """A line to print."""
        letters = "letter" if self.wrong_letters == 1 else "letters"
        wrong = f", {self.wrong_letters} wrong {letters}" if self.wrong_letters else ""
        crosses = ", crosses an open join" if self.crosses_open_join else ""
        source = f"{clean(self.source)}, " if self.source else ""
        context = f": {clean(self.context)}" if self.context != self.text else ""
        where = f"{source}page {self.page}, line {self.line}"
        return f"{where}: {clean(self.text)} ({self.clarity}{wrong}{crosses}){context}"


def list_words(material: Material) -> list[SearchedPage]:
    """The words of all pages that were read."""
    return _by_number(
        {
            material.number(index): [
                [
                    FoundWord(word.text, word.box, word.clarity, material.crosses_open(index, word))
                    for word in line.words
                ]
                for line in material.lines(index)
            ]
            for index in range(len(material.pages))
        }
    )


def _by_number(pages: Mapping[int, SearchedPage]) -> list[SearchedPage]:
    """Pages in their places; those that were left out have no words."""
    if pages and not 1 <= min(pages) <= max(pages) <= _MOST_PAGES:
        raise ValueError(f"pages have numbers from 1 to {_MOST_PAGES}")
    return [pages.get(number, ()) for number in range(1, max(pages, default=0) + 1)]


def list_recorded_words(record: Mapping[str, Any]) -> list[SearchedPage]:
    """The same from the record of an export, without any picture."""
    try:
        return _by_number({int(page["number"]): _list_recorded_page(page) for page in record["pages"]})
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"the record is damaged ({type(error).__name__}: {error}). Export again.") from None


def _list_recorded_page(page: Mapping[str, Any]) -> SearchedPage:
    opened = {(join["left"], join["right"]) for join in page["joins"] if join["verdict"] == "open"}
    lines = page["reading"]["lines"] if page["reading"] else []
    return [
        [
            FoundWord(
                word["text"].strip(),
                _read_box(word["box"]),
                _CLARITIES[_CLARITIES.index(word["clarity"])],
                any(tuple(join) in opened for join in word["joins"]),
            )
            for word in line["words"]
        ]
        for line in lines
    ]


def _read_box(sides: Sequence[int]) -> Box:
    left, top, right, bottom = sides
    if not all(type(side) is int for side in sides) or not (0 <= left < right and 0 <= top < bottom):
        raise ValueError(f"{sides} is not a box")
    return Box(left, top, right, bottom)


def find_words(
    pages: Sequence[SearchedPage], query: str, *, options: SearchOptions | None = None
) -> tuple[Hit, ...]:
    """Every run of words on a line that reads like the query: exact ones first, then page by page."""
    options = options or SearchOptions()
    terms = [term for term in (normalize(part) for part in query.split()) if term]
    if not terms:
        raise SettingsError(f"there is nothing to look for in {query!r}. Give a word.")
    index = _Index.of(pages)
    likes = [index.find_like(term, exact=options.exact) for term in terms]
    hits = sorted(_match(pages, likes), key=lambda hit: (hit.wrong_letters, hit.page, hit.line))
    return tuple(hits[: options.most])


def cut_out(image: Image, hit: Hit) -> Image:
    """The part of a page that shows a hit, and a little around it."""
    box = hit.box
    last_row, last_column = image.shape[0] - 1, image.shape[1] - 1  # a record may speak of more than there is
    rows = slice(min(max(0, box.top - _AROUND), last_row), box.bottom + _AROUND)
    return image[rows, min(max(0, box.left - _AROUND), last_column) : box.right + _AROUND]


@lru_cache(maxsize=1 << 18)  # pages say the same words again and again
def normalize(word: str) -> str:
    """A word as it is compared: small letters without accents, and no signs around it."""
    plain = unicodedata.normalize("NFKD", word.casefold())
    letters = "".join(letter for letter in plain if not unicodedata.combining(letter))
    start, stop = 0, len(letters)
    while start < stop and not letters[start].isalnum():
        start += 1
    while stop > start and not letters[stop - 1].isalnum():
        stop -= 1
    return letters[start:stop]


_Place = tuple[int, int, int]  # page, line and word, each from 0


@dataclass(frozen=True)
class _Index:
    """Every word of a case by its normal form: a few thousand pages fit into memory."""

    places: dict[str, list[_Place]]
    known: frozenset[str]  # words that are taken for no other

    @classmethod
    def of(cls, pages: Sequence[SearchedPage]) -> _Index:
        places: dict[str, list[_Place]] = defaultdict(list)
        known: set[str] = set()
        for page, lines in enumerate(pages):
            for line, words in enumerate(lines):
                for at, word in enumerate(words):
                    plain = normalize(word.text)
                    places[plain].append((page, line, at))
                    if word.clarity == "clear" and not any(map(str.isdigit, plain)):
                        known.add(plain)
        return cls(dict(places), frozenset(known))

    def find_like(self, term: str, *, exact: bool) -> dict[_Place, int]:
        """Places of words like the term, with the number of wrong letters."""
        allowed = 0 if exact else forgiven(term)
        if not allowed:
            return dict.fromkeys(self.places.get(term, ()), 0)
        found: dict[_Place, int] = {}
        for word, places in self.places.items():
            if abs(len(word) - len(term)) <= allowed and (word == term or word not in self.known):
                wrong = edit_distance(term, word)
                if wrong <= allowed:
                    found.update(dict.fromkeys(places, wrong))
        return found


def forgiven(term: str) -> int:
    """How many letters of a word may be wrong: short words would match everything."""
    return (len(term) >= _ONE_WRONG) + (len(term) >= _TWO_WRONG)


def _match(pages: Sequence[SearchedPage], likes: Sequence[Mapping[_Place, int]]) -> Iterator[Hit]:
    """Runs of places, one for each term, side by side on a line."""
    for page, line, at in likes[0]:
        run = [(page, line, at + step) for step in range(len(likes))]
        if all(place in like for place, like in zip(run, likes, strict=True)):
            wrong = sum(like[place] for place, like in zip(run, likes, strict=True))
            yield _describe(pages[page][line], slice(at, at + len(likes)), page, line, wrong)


def _describe(line_words: Sequence[FoundWord], run: slice, page: int, line: int, wrong: int) -> Hit:
    words = line_words[run]
    return Hit(
        page + 1,
        line + 1,
        " ".join(word.text for word in words),
        Box.around([word.box for word in words]),
        wrong,
        min((word.clarity for word in words), key=_CLARITIES.index),
        any(word.crosses_open_join for word in words),
        " ".join(word.text for word in line_words),
    )
