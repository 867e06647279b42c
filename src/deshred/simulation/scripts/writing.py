"""A script and a random generator in, made-up text out: words as common as they are, others built alike.

Text is words with one space between them, whatever the script: in those that write none, every character or
word is a token of its own, and the canvas sets them side by side.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from deshred.simulation.phrases import Field, Phrasebook
from deshred.simulation.scripts import vocabulary
from deshred.simulation.scripts.fonts import ScriptName

_VIRAMAS = frozenset("\u094d\u09cd")
_THAI_LEADING = frozenset("เแโใไ")
_KASHIDA = "\u0640"  # draws the line between two letters out
_SHORT_VOWELS = tuple("\u064e\u064e\u064f\u0650\u0650\u0652\u0651\u064b")
_LETTERS_ARABIC = frozenset(map(chr, (*range(0x0621, 0x063B), *range(0x0641, 0x064B))))
_ENDING = frozenset("اأإآدذرزوؤةىء")  # Arabic letters that do not join the next one
_NONE = ""  # where words begin and end


@dataclass(frozen=True)
class Script:
    """How a script is written."""

    name: ScriptName
    words: tuple[str, ...]  # common ones
    common: str = ""  # characters that are words, the most common first
    rest: str = ""  # further ones
    capitals: bool = False
    spaced: bool = True
    leftwards: bool = False
    upright: bool = False  # may also run from top to bottom
    stops: str = "."
    commas: str = ","
    digits: str = ""  # its own ones, beside 0 to 9

    @cached_property
    def chain(self) -> dict[str, tuple[str, ...]]:
        """Which cluster of letters follows which, as often as it does in the common words."""
        follows: dict[str, list[str]] = {}
        for word in self.words:
            clusters = [_NONE, *split_clusters(word), _NONE]
            for first, second in pairwise(clusters):
                follows.setdefault(first, []).append(second)
        return {first: tuple(seconds) for first, seconds in follows.items()}


SCRIPTS: dict[ScriptName, Script] = {
    script.name: script
    for script in (
        Script("cyrillic", vocabulary.CYRILLIC, capitals=True),
        Script("greek", vocabulary.GREEK, capitals=True, stops=".;"),
        Script("georgian", vocabulary.GEORGIAN),
        Script("armenian", vocabulary.ARMENIAN, capitals=True, stops="։"),
        Script("hebrew", vocabulary.HEBREW, leftwards=True),
        Script("arabic", vocabulary.ARABIC, leftwards=True, commas="،", digits="٠١٢٣٤٥٦٧٨٩"),
        Script("devanagari", vocabulary.DEVANAGARI, stops="।", digits="०१२३४५६७८९"),
        Script("bengali", vocabulary.BENGALI, stops="।", digits="০১২৩৪৫৬৭৮৯"),
        Script("thai", vocabulary.THAI, spaced=False, stops="\xa0", commas="\xa0", digits="๐๑๒๓๔๕๖๗๘๙"),
        Script("ethiopic", vocabulary.ETHIOPIC, stops="።", commas="፣"),
        Script("hangul", vocabulary.HANGUL),
        Script(
            "japanese",
            vocabulary.HIRAGANA + vocabulary.KATAKANA,
            vocabulary.KANJI,
            vocabulary.KANJI_REST,
            spaced=False,
            upright=True,
            stops="。",
            commas="、",
        ),
        Script(
            "chinese-simplified",
            (),
            vocabulary.HAN_SIMPLIFIED,
            vocabulary.HAN_SIMPLIFIED_REST,
            spaced=False,
            upright=True,
            stops="。",
            commas="，",
        ),
        Script(
            "chinese-traditional",
            (),
            vocabulary.HAN_TRADITIONAL,
            vocabulary.HAN_TRADITIONAL_REST,
            spaced=False,
            upright=True,
            stops="。",
            commas="，",
        ),
    )
}


def split_clusters(word: str) -> list[str]:
    """Letters with the signs that cannot stand without them: marks, conjuncts, vowels written ahead."""
    clusters: list[str] = []
    for letter in word:
        clings = unicodedata.category(letter).startswith("M") or letter in "\u200c\u200d"
        after = clusters[-1][-1] if clusters else ""
        if clusters and (clings or after in _VIRAMAS or after in _THAI_LEADING):
            clusters[-1] += letter
        else:
            clusters.append(letter)
    return clusters


def vary(script: Script, rng: np.random.Generator) -> Script:
    """The script as some print it: Arabic with letters drawn out to fill lines, or with its short vowels."""
    style = rng.random()
    if script.name != "arabic" or style < 0.6:
        return script
    change = _draw_out if style < 0.8 else _vocalize
    return replace(script, words=tuple(change(word, rng) for word in script.words))


def _draw_out(word: str, rng: np.random.Generator) -> str:
    """Some words with one connection drawn out."""
    places = [
        i + 1
        for i, (letter, after) in enumerate(pairwise(word))
        if letter in _LETTERS_ARABIC - _ENDING and after in _LETTERS_ARABIC and after != "ء"
    ]
    if not places or rng.random() < 0.5:
        return word
    at = places[int(rng.integers(len(places)))]
    return word[:at] + _KASHIDA * int(rng.integers(1, 5)) + word[at:]


def _vocalize(word: str, rng: np.random.Generator) -> str:
    """Most letters with a short vowel or another mark."""
    return "".join(
        letter + _SHORT_VOWELS[int(rng.integers(len(_SHORT_VOWELS)))]
        if letter in _LETTERS_ARABIC and rng.random() < 0.7
        else letter
        for letter in word
    )


def _zipf(count: int) -> NDArray[np.float64]:
    """The share of each of so many words, the most common first."""
    shares = 1 / (np.arange(count) + 2.7)
    shares /= shares.sum()
    return shares


class ScriptWords(Phrasebook):
    """Makes up text of one script."""

    def __init__(self, rng: np.random.Generator, script: Script) -> None:
        super().__init__(rng)
        self.script = script

    def word(self) -> str:
        """One token: a common word, one that is built like them, or a character."""
        script = self.script
        if script.common and (not script.words or self.rng.random() < 0.5):
            if self.rng.random() < 0.75:
                return script.common[int(self.rng.choice(len(script.common), p=_zipf(len(script.common))))]
            return script.rest[self.number(0, len(script.rest))]
        if script.common or self.rng.random() < 0.6:
            return script.words[int(self.rng.choice(len(script.words), p=_zipf(len(script.words))))]
        return self._build()

    def _build(self) -> str:
        """A word that is none, of clusters that follow each other in common ones."""
        word, cluster = "", self.pick(self.script.chain[_NONE])
        while cluster != _NONE and len(word) < 12:
            word += cluster
            cluster = self.pick(self.script.chain[cluster])
        return word

    def _capitalize(self, text: str) -> str:
        # Georgian has capitals too, but nobody begins a sentence with one
        return text[0].upper() + text[1:] if self.script.capitals else text

    def words(self, low: int, high: int) -> str:
        """Several words, `high` excluded."""
        return " ".join(self.word() for _ in range(self.number(low, high)))

    def sentence(self) -> str:
        parts = [self.words(3, 9) for _ in range(self.number(1, 4))]
        if self.rng.random() < 0.15:
            parts[-1] += f" {self.figure(self.number(1, 3000))}"
        text = f"{self.pick(tuple(self.script.commas))} ".join(parts) + self.pick(tuple(self.script.stops))
        return self._capitalize(text)

    def title(self) -> str:
        text = self.words(2, 6) if self.script.spaced else self.words(4, 12)
        return self._capitalize(text)

    def person(self) -> str:
        return f"{self._capitalize(self.word())} {self._capitalize(self.word())}"

    def street(self) -> str:
        return f"{self.words(2, 4)} {self.figure(self.number(1, 240))}"

    def town(self) -> str:
        return f"{self._capitalize(self.word())} {self.figure(self.number(10000, 99999))}"

    def date(self) -> str:
        day, year = self.number(1, 29), self.number(1962, 2031)
        return f"{self.figure(day)} {self.word()} {self.figure(year)}"

    def goods(self) -> str:
        return self.words(1, 4) if self.script.spaced else self.words(2, 8)

    def field(self) -> Field:
        entry = self.date() if self.rng.random() < 0.3 else self.words(1, 4)
        return Field(self.goods(), entry)

    def figure(self, number: int) -> str:
        """A number, now and then in the script's own digits."""
        plain = str(number)
        if not self.script.digits or self.rng.random() < 0.5:
            return plain
        return "".join(self.script.digits[int(digit)] for digit in plain)
