"""Words to look for in, where they stand out; with the letters that a tear makes an engine mistake forgiven.

A hit is a hint: about one word in a hundred that is not on a page is found on it all the same. So every hit
comes with its box, to look at the picture. No hit is no proof of absence.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from deshred.elements import Image, Page
from deshred.errors import SettingsError
from deshred.export.material import Material
from deshred.export.names import clean
from deshred.options import option
from deshred.reading import Box, Word
from deshred.reading.spelling import edit_distance
from deshred.reading.words import Clarity

_ONE_WRONG, _TWO_WRONG = 5, 9  # letters of a word from which so many may be wrong
_AROUND = 40  # px of the page around a cut-out


@dataclass(frozen=True)
class SearchOptions:
    """How words are compared. Case and accents never count."""

    exact: bool = option(False, "No wrong letters.")
    most: int = option(1000, "Show so many hits.")

    def __post_init__(self) -> None:
        if self.most < 1:
            raise SettingsError(f"most is a number of hits from 1, got {self.most}.")


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

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        box = [self.box.left, self.box.top, self.box.right, self.box.bottom]
        return {**self.__dict__, "box": box, "text": clean(self.text)}


def find_words(material: Material, query: str, *, options: SearchOptions | None = None) -> tuple[Hit, ...]:
    """Every run of words on a line that reads like the query: exact ones first, then page by page."""
    options = options or SearchOptions()
    terms = [term for term in (normalize(part) for part in query.split()) if term]
    if not terms:
        raise SettingsError(f"there is nothing to look for in {query!r}. Give a word.")
    index = _Index.of(material)
    likes = [index.find_like(term, exact=options.exact) for term in terms]
    hits = sorted(_match(material, likes), key=lambda hit: (hit.wrong_letters, hit.page, hit.line))
    return tuple(hits[: options.most])


def cut_out(page: Page, hit: Hit) -> Image:
    """The picture of a hit and a little around it."""
    box = hit.box
    rows = slice(max(0, box.top - _AROUND), box.bottom + _AROUND)
    return page.image[rows, max(0, box.left - _AROUND) : box.right + _AROUND]


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


@dataclass(frozen=True)
class _Place:
    page: int  # from 0
    line: int  # from 0
    word: int  # from 0, on its line


@dataclass(frozen=True)
class _Index:
    """Every word of a case by its normal form: a few thousand pages fit into memory."""

    places: dict[str, list[_Place]]

    @classmethod
    def of(cls, material: Material) -> _Index:
        places: dict[str, list[_Place]] = defaultdict(list)
        for page in range(len(material.pages)):
            for number, line in enumerate(material.lines(page)):
                for at, word in enumerate(line.words):
                    places[normalize(word.text)].append(_Place(page, number, at))
        return cls(dict(places))

    def find_like(self, term: str, *, exact: bool) -> dict[_Place, int]:
        """Places of words like the term, with the number of wrong letters."""
        allowed = 0 if exact else forgiven(term)
        found: dict[_Place, int] = {}
        for word, places in self.places.items():
            if abs(len(word) - len(term)) > allowed:
                continue
            wrong = 0 if word == term else edit_distance(term, word) if allowed else 1
            if wrong <= allowed:
                found.update(dict.fromkeys(places, wrong))
        return found


def forgiven(term: str) -> int:
    """How many letters of a word may be wrong: short words would match everything."""
    return (len(term) >= _ONE_WRONG) + (len(term) >= _TWO_WRONG)


def _match(material: Material, likes: Sequence[dict[_Place, int]]) -> Iterator[Hit]:
    """Runs of places, one for each term, side by side on a line."""
    first, *others = likes
    for place, wrong in first.items():
        run = [(_Place(place.page, place.line, place.word + step)) for step in range(1, len(likes))]
        if not all(at in like for at, like in zip(run, others, strict=True)):
            continue
        total = wrong + sum(like[at] for at, like in zip(run, others, strict=True))
        yield _describe(material, place, len(likes), total)


def _describe(material: Material, place: _Place, length: int, wrong: int) -> Hit:
    words: tuple[Word, ...] = material.lines(place.page)[place.line].words[place.word : place.word + length]
    least = min(words, key=lambda word: word.confidence)
    return Hit(
        place.page + 1,
        place.line + 1,
        " ".join(word.text for word in words),
        Box.around([word.box for word in words]),
        wrong,
        least.clarity,
        any(material.crosses_open(place.page, word) for word in words),
    )
