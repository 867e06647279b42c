"""An Arrangement in, the questions out that are worth a person's time, best first.

A question is about one side of one shred: what stands there? Its value is the number of wrong joins that the
answer is expected to remove per second of looking. A page much narrower than the paper is doubted as a whole,
however sure the scorer is that it ends: people see a cut sentence at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from deshred.arrangement import page_price
from deshred.elements import Arrangement, Compatibility, Constraints
from deshred.errors import SettingsError

Side = Literal["left", "right", "page"]
Floats = NDArray[np.float64]
_TINY = 1e-12
_FITS = 1.05  # shreds of one page may add up to this much more than the paper is wide
_MUTUAL = 12  # rivals of a side that are asked what they think of it
_LEAST_MUTUAL = 1e-3  # what a rival that never thought of it counts for


@dataclass(frozen=True)
class QuestionOptions:
    """What a question costs and when it is worth asking."""

    slope: float = 1.0  # of the scores: what the calibration says a nat is worth
    most_options: int = 6
    sure_enough: float = 0.7  # from here on, yes or no
    cover: float = 0.95  # otherwise as many options as hold this much of the belief
    seconds: float = 3.0  # for yes or no ...
    seconds_more: float = 1.2  # ... and for each further option
    seconds_page: float = 4.0  # for a glance at a page
    narrow: float = 0.8  # of the paper's width: narrower pages may go on
    narrow_doubt: float = 0.3  # that a page ends where it does not, at that width ...
    stray_doubt: float = 0.95  # ... and when it is hardly wider than nothing
    least_value: float = 1 / 600  # wrong joins per second: one in ten minutes
    trust_slope: float = 1.0  # what answers taught about the log-odds of joins ...
    trust_intercept: float = 0.0
    end_nats: float = 0.0  # ... and of page ends

    def __post_init__(self) -> None:
        if self.most_options < 1 or self.seconds <= 0 or self.seconds_more < 0:
            raise SettingsError("a question needs at least one option and some time.")
        for name in ("sure_enough", "cover", "narrow", "narrow_doubt", "stray_doubt"):
            if not 0 <= getattr(self, name) <= 1:
                raise SettingsError(f"{name} must be a share between 0 and 1, got {getattr(self, name)!r}.")

    def time(self, question: Question) -> float:
        """Seconds that people look at a question."""
        if question.side == "page":
            return self.seconds_page
        return self.seconds + self.seconds_more * (len(question.options) - 1)


@dataclass(frozen=True)
class Option:
    """One possible answer: the shred that stands there, or None where the page ends."""

    partner: str | None
    belief: float


@dataclass(frozen=True)
class Question:
    """What stands at this side of this shred? Or, of a page that begins with it: is that all?"""

    shred: str
    side: Side
    now: str | None  # what the arrangement has there; None where a page ends
    options: tuple[Option, ...]  # the present one is among them; none for a page
    doubt: float  # that the present one is wrong
    value: float  # wrong joins removed per second
    seconds: float
    page: int
    last: str = ""  # the shred that a page ends with, where the question is about the page
    again: str = ""  # the answer that it is asked again to check

    @property
    def key(self) -> str:
        return f"again {self.again}" if self.again else f"{self.side} of {self.shred}"

    @property
    def join_key(self) -> str:
        """The same for both sides of one join."""
        if self.now is None or self.side == "page":
            return self.key
        return f"right of {self.shred if self.side == 'right' else self.now}"


@dataclass(frozen=True)
class Outlook:
    """What is left to do, as an expectation."""

    wrong: float  # joins and page ends
    questions: int
    seconds: float


def ask(
    arrangement: Arrangement,
    compatibility: Compatibility,
    constraints: Constraints,
    *,
    paper_width_mm: float | None = None,
    skip: Collection[str] = (),
    options: QuestionOptions | None = None,
) -> tuple[Question, ...]:
    """All questions worth asking, the best first; `skip` holds keys of sides to leave alone."""
    options = options or QuestionOptions()
    found: dict[str, Question] = {}
    for question in _Asker(arrangement, compatibility, constraints, paper_width_mm, options).questions():
        if question.key in skip or question.join_key in skip or question.value < options.least_value:
            continue
        other = found.get(question.join_key)
        if other is None or question.value > other.value:
            found[question.join_key] = question
    return tuple(sorted(found.values(), key=lambda one: (-one.value, one.key)))


def look_ahead(questions: Collection[Question]) -> Outlook:
    """How much is left."""
    return Outlook(
        sum(question.doubt for question in questions),
        len(questions),
        sum(question.seconds for question in questions),
    )


def with_page_first(questions: Collection[Question], share: float = 0.5) -> tuple[Question, ...]:
    """The same questions, those on the page of the best one next to it unless they are worth much less."""
    ordered = sorted(questions, key=lambda one: (-one.value, one.key))
    if not ordered:
        return ()
    best = ordered[0]
    near = [one for one in ordered if one.page == best.page and one.value >= share * best.value]
    return (*near, *(one for one in ordered if one not in near))


@dataclass(frozen=True, eq=False)
class _Belief:
    """Who may stand at one side of a shred; partner -1 is the end of the page."""

    partners: NDArray[np.int64]
    shares: Floats

    def of(self, partner: int) -> float:
        hits = self.shares[self.partners == partner]
        return float(hits[0]) if hits.size else 0.0

    def ranked(self) -> list[tuple[int, float]]:
        order = np.argsort(-self.shares, kind="stable")[:64]
        return [(int(self.partners[k]), float(self.shares[k])) for k in order]


class _Asker:
    """The sides of all shreds, one after the other."""

    def __init__(
        self,
        arrangement: Arrangement,
        pile: Compatibility,
        constraints: Constraints,
        paper_width_mm: float | None,
        options: QuestionOptions,
    ) -> None:
        self._pile, self._said, self._options = pile, constraints, options
        self._paper = paper_width_mm
        index = {id_: i for i, id_ in enumerate(pile.ids)}
        self._index = index
        self._pages = [[index[slot.shred_id] for slot in page] for page in arrangement.pages]
        self._probability = {(index[j.left], index[j.right]): j.probability for j in arrangement.joins}
        self._page_of = {i: k for k, page in enumerate(self._pages) for i in page}
        self._right_of = {a: b for page in self._pages for a, b in pairwise(page)}
        self._left_of = {b: a for a, b in self._right_of.items()}
        self._beliefs: dict[tuple[int, Side], _Belief] = {}
        lefts = [index[left] for left, _ in constraints.required]
        rights = [index[right] for _, right in constraints.required]
        self._right_known = {*lefts, *(index[id_] for id_ in constraints.last)}
        self._left_known = {*rights, *(index[id_] for id_ in constraints.first)}
        self._forbidden = {(index[left], index[right]) for left, right in constraints.forbidden}
        self._no_end = {index[id_] for id_ in constraints.not_last}
        self._no_start = {index[id_] for id_ in constraints.not_first}

    def questions(self) -> Iterator[Question]:
        for number, page in enumerate(self._pages):
            yield from self._glance(number)
            for at, i in enumerate(page):
                left = page[at - 1] if at else -1
                right = page[at + 1] if at + 1 < len(page) else -1
                # where a person says that a page goes on, that side is asked about and not its neighbor's
                if i not in self._right_known and right not in self._no_start - self._left_known:
                    yield from self._question(i, "right", right, number)
                if i not in self._left_known and left not in self._no_end - self._right_known:
                    yield from self._question(i, "left", left, number)

    def _glance(self, number: int) -> Iterator[Question]:
        """Is a narrow page whole?"""
        page, options = self._pages[number], self._options
        ends = (page[0] not in self._left_known) + (page[-1] not in self._right_known)
        if self._pile.margins is None or self._paper is None or not ends:
            return
        share = self._share(number)
        if share < options.narrow:
            first, last = self._pile.ids[page[0]], self._pile.ids[page[-1]]
            seconds = options.seconds_page
            missing = 1 - share / options.narrow
            doubt = options.narrow_doubt + missing * max(0.0, options.stray_doubt - options.narrow_doubt)
            yield Question(first, "page", None, (), doubt, doubt / seconds, seconds, number, last)

    def _question(self, i: int, side: Side, now: int, page: int) -> Iterator[Question]:
        if now < 0 and self._pile.margins is None:
            return  # one path: where it begins and ends is nobody's question
        options = self._options
        known = self._probability.get((i, now) if side == "right" else (now, i))
        if known is not None and 1 - known < options.least_value:
            return  # before any belief is weighed: most joins of a pile are sure
        belief = self._belief(i, side)
        doubt = 1 - self._trust(belief.of(now) if known is None else known, is_end=now < 0)
        if doubt < options.least_value:
            return
        chosen = self._choose(i, belief, now, page, side, doubt)
        seconds = options.seconds + options.seconds_more * (len(chosen) - 1)
        covered = self._covered(belief, chosen, now)
        if len(chosen) == 1:
            chosen = [(now, 1 - doubt)]  # what is asked about is the probability, whatever one side believes
        shown = tuple(Option(None if k < 0 else self._pile.ids[k], b) for k, b in chosen)
        partner = None if now < 0 else self._pile.ids[now]
        yield Question(
            self._pile.ids[i], side, partner, shown, doubt, doubt * covered / seconds, seconds, page
        )

    def _trust(self, share: float, *, is_end: bool) -> float:
        """A probability as answers have taught to read it."""
        options = self._options
        odds = np.log(max(share, _TINY) / max(1 - share, _TINY))
        learned = odds + options.end_nats if is_end else options.trust_slope * odds + options.trust_intercept
        return float(1 / (1 + np.exp(-np.clip(learned, -50, 50))))

    def _goes_on(self, i: int, side: Side) -> bool:
        """Whether a person says that something stands there, whatever it is."""
        return i in (self._no_end if side == "right" else self._no_start)

    def _choose(
        self, i: int, belief: _Belief, now: int, page: int, side: Side, doubt: float
    ) -> list[tuple[int, float]]:
        """The present answer and those that rival it, most believed first."""
        options, held = self._options, belief.of(now)
        rivals = [(k, b) for k, b in belief.ranked() if k != now]
        if now < 0 or self._goes_on(i, side):
            rivals = self._open_ends(rivals, i, page, side)
        trusted = max(held, 1 - doubt)
        chosen = [(now, trusted)]
        room = 1 if now >= 0 and trusted >= options.sure_enough else options.most_options
        total = trusted
        for partner, share in rivals:
            is_enough = total >= options.cover and len(chosen) > 1 and not self._goes_on(i, side)
            if len(chosen) >= room or is_enough:
                break
            chosen.append((partner, share))
            total += share
        return sorted(chosen, key=lambda pair: -pair[1])

    def _covered(self, belief: _Belief, chosen: list[tuple[int, float]], now: int) -> float:
        """The chance that the answer is among the options, should the present one be wrong."""
        if len(chosen) == 1 or self._pile.margins is None:
            return 1.0  # a plain no frees the shred, and the solver looks for the rest; a path has no ends
        rest = max(1 - belief.of(now), _TINY)
        return min(1.0, sum(belief.of(k) for k, _ in chosen if k != now) / rest)

    def _open_ends(
        self, rivals: list[tuple[int, float]], i: int, page: int, side: Side
    ) -> list[tuple[int, float]]:
        """Where a page may go on: at the ends of other pages first, if both fit on one sheet."""
        ends = {other[0] if side == "right" else other[-1]: k for k, other in enumerate(self._pages)}
        room = _FITS - self._share_from(i, side)
        fits = [(j, b) for j, b in rivals if j in ends and ends[j] != page and self._share(ends[j]) <= room]
        return fits + [pair for pair in rivals if pair not in fits]

    def _share(self, page: int) -> float:
        """Of the paper's width that a page fills."""
        return float(self._widths[self._pages[page]].sum()) / self._paper if self._paper else 0.5

    def _share_from(self, i: int, side: Side) -> float:
        """The same of the part that stays together when the page is parted at this side of the shred."""
        page = self._pages[self._page_of[i]]
        at = page.index(i)
        part = page[: at + 1] if side == "right" else page[at:]
        return float(self._widths[part].sum()) / self._paper if self._paper else 0.5

    @cached_property
    def _widths(self) -> Floats:
        margins = self._pile.margins
        widths = np.zeros(len(self._pile)) if margins is None else np.nan_to_num(margins.widths_mm)
        return widths.astype(np.float64)

    @cached_property
    def _price(self) -> float:
        """What a page costs on top of its two ends."""
        return page_price(float(self._widths.sum()), self._paper) if self._paper else 0.0

    def _belief(self, i: int, side: Side) -> _Belief:
        """What a side thinks of its rivals, times what they think of it: a join has two sides."""
        own = self._own_belief(i, side)
        other: Side = "left" if side == "right" else "right"
        best = np.argsort(-own.shares, kind="stable")[:_MUTUAL]
        mutual = np.array(
            [
                1.0 if j < 0 else max(_LEAST_MUTUAL, self._own_belief(j, other).of(i))
                for j in own.partners[best].tolist()
            ]
        )
        shares = own.shares * _LEAST_MUTUAL
        shares[best] = own.shares[best] * mutual
        return _Belief(own.partners, shares / max(float(shares.sum()), _TINY))

    def _own_belief(self, i: int, side: Side) -> _Belief:
        found = self._beliefs.get((i, side))
        if found is None:
            found = self._beliefs[i, side] = self._weigh(i, side)
        return found

    def _weigh(self, i: int, side: Side) -> _Belief:
        """A page end frees the other side of the present join, which then begins or ends a page too."""
        now = (self._right_of if side == "right" else self._left_of).get(i, -1)
        partners, scores = self._scores(i, side)
        known = self._left_known if side == "right" else self._right_known
        pair = (lambda j: (i, j)) if side == "right" else (lambda j: (j, i))
        kept = np.array([j not in known and pair(j) not in self._forbidden for j in partners.tolist()], bool)
        partners, scores = partners[kept], scores[kept]
        margins, goes_on = self._pile.margins, self._goes_on(i, side)
        if margins is not None:
            ends, starts = margins.ends.astype(np.float64), margins.starts.astype(np.float64)
            own, other = (ends, starts) if side == "right" else (starts, ends)
            end = own[i] + (other[now] - self._price if now >= 0 else 0.0)
            if now < 0 or goes_on:
                freed = [self._freed(i, j, now, side, own, other) for j in partners.tolist()]
                scores = scores - np.array(freed, np.float64)
                kept = np.isfinite(scores)
                partners, scores = partners[kept], scores[kept]
            if not goes_on:
                partners, scores = np.append(partners, -1), np.append(scores, end)
        if not len(scores):
            return _Belief(np.zeros(0, np.int64), np.zeros(0))
        shares = np.exp(self._options.slope * (scores - scores.max()))
        return _Belief(partners, shares / shares.sum())

    def _freed(self, i: int, j: int, now: int, side: Side, own: Floats, other: Floats) -> float:
        """What is lost when a page that ends with i goes on with j: the page end of j, or its present join.

        Two pages that do not fit on one sheet are never joined.
        """
        if j == now:
            return float(other[j]) - self._price
        page = self._pages[self._page_of[j]]
        at = page.index(j)
        if j == (page[0] if side == "right" else page[-1]):
            fits = self._share_from(i, side) + self._share(self._page_of[j]) <= _FITS
            return float(other[j]) - self._price if fits else np.inf
        before = page[at - 1] if side == "right" else page[at + 1]
        score = self._pile.score(before, j) if side == "right" else self._pile.score(j, before)
        # who stands badly now, forced there by an answer, is not everybody's candidate for that
        return max(score - float(own[before]), float(other[j]) - self._price)

    def _scores(self, i: int, side: Side) -> tuple[NDArray[np.int64], Floats]:
        """Who can stand there, and how well it fits."""
        pile = self._pile
        if pile.columns is None or pile.row_starts is None:
            scores = (pile.scores[i] if side == "right" else pile.scores[:, i]).astype(np.float64)
            partners = np.flatnonzero(np.isfinite(scores))
            best = partners[np.argsort(-scores[partners], kind="stable")[:64]]
            return best.astype(np.int64), scores[best]
        if side == "right":
            row = slice(int(pile.row_starts[i]), int(pile.row_starts[i + 1]))
            return pile.columns[row].astype(np.int64), pile.scores[row].astype(np.float64)
        at = self._by_column.get(i, np.zeros(0, np.int64))
        rows = np.searchsorted(pile.row_starts, at, "right") - 1
        return rows.astype(np.int64), pile.scores[at].astype(np.float64)

    @cached_property
    def _by_column(self) -> dict[int, NDArray[np.int64]]:
        assert self._pile.columns is not None
        order = np.argsort(self._pile.columns, kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(self._pile.columns[order])) + 1)
        return {int(self._pile.columns[group[0]]): group for group in groups if len(group)}
