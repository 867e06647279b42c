"""The characters of a pile in, the scores of all joins out.

At a join, a right and a left character in the same line are looked up in the alphabet of the pile: together
as one shape, then each for itself. The alphabet is learned from the characters that no tear cut, by random
swaps: another seed gives slightly other scores. Work runs in parallel over the shreds that stand left, and
holds the pictures of one such shred at a time: memory does not grow with the number of joins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from deshred.compatibility.classical.characters.alphabet import AlphabetOptions, learn_alphabet
from deshred.compatibility.classical.characters.shapes import (
    Canvas,
    Letters,
    Picture,
    join_characters,
    measure_all,
)
from deshred.compatibility.classical.characters.text import Character, ShredText, read_shapes
from deshred.compatibility.contract import ScorerCard
from deshred.elements import Compatibility, ShredSet
from deshred.errors import InputError, SettingsError
from deshred.executors import Executor, Progress, SerialExecutor
from deshred.imaging.edges import EdgeOptions

_CHUNK = 2048  # pictures compared at once: 30 MB
_SAME_LINE = 0.5  # share of the lower of two characters that must lie beside the other
_DROPPING = 5  # px: the authors decide with it which shreds have text, whatever they score with


@dataclass(frozen=True)
class CharactersOptions:
    """What counts as cut by a tear, what as the same shape, and what is learned from."""

    displacement: int = 5  # px from the tear; the 2020 paper ran with 10, by a slip
    threshold: float = 0.5  # px
    known: float = 1.0  # score of a pair that reads as letters
    unknown: float = -0.2
    clusterings: int = 1  # alphabets learned; scores are the mean over them
    seed: int = 0
    learners: int = 8000  # characters that an alphabet is learned from, 256 MB; drawn from more at random
    alphabet: AlphabetOptions = field(default_factory=AlphabetOptions)

    def __post_init__(self) -> None:
        if self.displacement < 0 or not 0 < self.threshold <= 0.5:
            raise SettingsError(
                "displacement must not be negative and threshold must lie in (0, 0.5], "
                f"got {self.displacement} and {self.threshold}."
            )
        if self.clusterings < 1 or self.seed < 0 or self.learners < 2:
            raise SettingsError(
                "clusterings must be at least 1, seed at least 0 and learners at least 2, "
                f"got {self.clusterings}, {self.seed} and {self.learners}."
            )


@dataclass(frozen=True)
class CharactersScorer:
    """Scores a whole pile at once: its alphabet comes from all of its shreds."""

    options: CharactersOptions = field(default_factory=CharactersOptions)

    @property
    def edge_options(self) -> EdgeOptions:
        return EdgeOptions()

    @property
    def card(self) -> ScorerCard:
        return ScorerCard("characters", repr(self))

    def score_pile(
        self, shreds: ShredSet, *, executor: Executor | None = None, progress: Progress | None = None
    ) -> Compatibility:
        """The mean score over all clusterings; offsets are 0: shreds are taken as they were scanned."""
        read = partial(read_shapes, displacement=self.options.displacement)
        texts = (executor or SerialExecutor()).map(read, list(shreds), stage="reading", progress=progress)
        scores = score_clusterings(texts, options=self.options, executor=executor, progress=progress)
        mean = scores.mean(axis=0).astype(np.float32)
        np.fill_diagonal(mean, -np.inf)
        return Compatibility(shreds.ids, mean, np.zeros(mean.shape, np.int16), shreds.fingerprint)


def keep_shreds_with_text(shreds: ShredSet, *, executor: Executor | None = None) -> ShredSet:
    """Those that the method can say anything about: some character lies at a tear."""
    read = partial(read_shapes, displacement=_DROPPING)
    texts = (executor or SerialExecutor()).map(read, list(shreds))
    return ShredSet([shred for shred, text in zip(shreds, texts, strict=True) if text.is_usable])


def score_clusterings(
    texts: Sequence[ShredText],
    *,
    options: CharactersOptions,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> NDArray[np.float64]:  # (clusterings, n, n)
    """One matrix of scores for each alphabet; row i, column j is "j stands right of i"."""
    alphabets = _learn(texts, options)
    halves = _Halves.of(texts, alphabets)
    score_row = partial(_score_row, texts=texts, halves=halves, alphabets=alphabets, options=options)
    rows = (executor or SerialExecutor()).map(
        score_row, range(len(texts)), stage="scoring", progress=progress
    )
    return np.stack(rows, axis=1)


@dataclass(frozen=True, eq=False)
class _Alphabets:
    """The letters of several alphabets, each letter once."""

    letters: Letters
    members: NDArray[np.float32]  # (letters, clusterings): 1 where the alphabet has the letter

    def knows(self, pictures: Sequence[Picture]) -> NDArray[np.bool_]:  # (pictures, clusterings)
        chunks = [pictures[start : start + _CHUNK] for start in range(0, len(pictures), _CHUNK)]
        found = [self.letters.match(chunk).astype(np.float32) @ self.members > 0 for chunk in chunks]
        return np.concatenate([np.zeros((0, self.members.shape[1]), bool), *found])


def _learn(texts: Sequence[ShredText], options: CharactersOptions) -> _Alphabets:
    rng = np.random.default_rng(options.seed)
    inner = [Picture.of(character.ink) for character in _clean([c for text in texts for c in text.inner])]
    if len(inner) < 2:
        raise InputError(
            f"found {len(inner)} whole characters on {len(texts)} shreds; the scorer characters needs "
            "printed text to learn letters from. Use another scorer, such as --scorer default."
        )
    if len(inner) > options.learners:
        inner = [inner[i] for i in np.sort(rng.choice(len(inner), options.learners, replace=False))]
    distances = measure_all(inner)
    alphabets = [learn_alphabet(distances, rng, options.alphabet) for _ in range(options.clusterings)]
    used = np.unique(np.concatenate(alphabets))
    members = np.stack([np.isin(used, alphabet) for alphabet in alphabets], axis=1).astype(np.float32)
    return _Alphabets(Letters([inner[i] for i in used], options.threshold, _reach(texts)), members)


def _clean(inner: Sequence[Character]) -> list[Character]:
    """Without specks. Heights are held against the median width: so the authors' program does it."""
    if not inner:
        return []
    width = np.median([character.width for character in inner])
    area = np.median([character.ink.size for character in inner])
    return [c for c in inner if c.height > 0.6 * width and c.ink.size > 0.4 * area]


def _reach(texts: Sequence[ShredText]) -> Canvas:
    """Room for any two characters joined, whatever their centers."""
    cut = [character for text in texts for character in (*text.lefts, *text.rights)]
    width = 2 * max((character.width for character in cut), default=1)
    height = 2 * max((character.height for character in cut), default=1)
    return Canvas(height, width, 2 * height, 2 * width)


@dataclass(frozen=True, eq=False)
class _Meeting:
    """What stands at one place of a join: characters by their number, -1 where one side is bare."""

    partner: int
    right: int
    left: int

    @property
    def is_pair(self) -> bool:
        return self.right >= 0 and self.left >= 0


@dataclass(frozen=True, eq=False)
class _Halves:
    """Which cut characters are letters by themselves, shred by shred: (characters, clusterings)."""

    rights: tuple[NDArray[np.bool_], ...]
    lefts: tuple[NDArray[np.bool_], ...]

    @staticmethod
    def of(texts: Sequence[ShredText], alphabets: _Alphabets) -> _Halves:
        def look_up(characters: Sequence[Character]) -> NDArray[np.bool_]:
            return alphabets.knows([Picture.of(character.ink) for character in characters])

        return _Halves(
            tuple(look_up(text.rights) for text in texts), tuple(look_up(text.lefts) for text in texts)
        )

    def knows(self, shred: int, meeting: _Meeting) -> NDArray[np.bool_] | np.bool_:
        """Whether all that is there is a letter."""
        right = self.rights[shred][meeting.right] if meeting.right >= 0 else np.True_
        left = self.lefts[meeting.partner][meeting.left] if meeting.left >= 0 else np.True_
        return right & left


def _meet(rights: Sequence[Character], lefts: Sequence[Character], partner: int) -> Iterator[_Meeting]:
    """Walk down both lists at once: pairs in the same line, and what is left alone."""
    r = l = 0  # noqa: E741
    while r < len(rights) and l < len(lefts):
        right, left = rights[r], lefts[l]
        shared = min(right.bottom, left.bottom) - 1 - max(right.y, left.y)
        if shared / min(right.height, left.height) >= _SAME_LINE:
            yield _Meeting(partner, r, l)
            r, l = r + 1, l + 1  # noqa: E741
        elif right.bottom >= left.bottom:
            yield _Meeting(partner, -1, l)
            l += 1  # noqa: E741
        else:
            yield _Meeting(partner, r, -1)
            r += 1
    yield from (_Meeting(partner, rest, -1) for rest in range(r, len(rights)))
    yield from (_Meeting(partner, -1, rest) for rest in range(l, len(lefts)))


def _score_row(
    i: int, texts: Sequence[ShredText], halves: _Halves, alphabets: _Alphabets, options: CharactersOptions
) -> NDArray[np.float64]:  # (clusterings, n)
    """The scores of all joins with shred i on the left."""
    rights = texts[i].rights
    partners = [j for j in range(len(texts)) if j != i]
    meetings = [meeting for j in partners for meeting in _meet(rights, texts[j].lefts, j)]
    joined = alphabets.knows(
        [
            Picture.of(join_characters(rights[m.right], texts[m.partner].lefts[m.left]))
            for m in meetings
            if m.is_pair
        ]
    )
    together = iter(joined)
    scores = np.zeros((alphabets.members.shape[1], len(texts)))
    for meeting in meetings:
        apart = halves.knows(i, meeting)
        if meeting.is_pair:
            gain = np.where(next(together) | apart, options.known, options.unknown)
        else:
            gain = np.where(apart, 0.0, options.unknown)
        scores[:, meeting.partner] += gain
    return scores
