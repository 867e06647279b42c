"""Find the shreds of a pile that lie upside down, turn them, and score the pile.

Every shred goes into the pile twice, as it lies and turned. The order of that pile shows each page once each
way up; of the two, the one whose print stands on its lines is kept. All that follows sees a plain pile.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from deshred.arrangement import ArrangementOptions, arrange, paper_width
from deshred.cases import Store
from deshred.compatibility.calibration import rate
from deshred.compatibility.contract import AnyScorer
from deshred.compatibility.faces import add_faces
from deshred.compatibility.scoring import ScoringOptions, score
from deshred.elements import Arrangement, Compatibility, Margins, Pile, ShredSet
from deshred.executors import Executor, Progress
from deshred.imaging.letters import judge_page, rate_uprightness
from deshred.imaging.turning import turn, turn_edges, turn_shred
from deshred.missing import PART, cut_pages
from deshred.timing import Stopwatch

Orientation = Literal["sheets", "as-scanned", "turned", "any"]

# Letters of some scripts look upright upside down to who learned print of others. So sheets are compared with
# each other, and one that stands alone is only talked about.
_CLEAR, _CLEAR_NATS = 2.0, 300.0  # how far shreds of a sheet must agree, and how much they must say together
_LOUD = 2.0  # times what a shred usually says
_MOST_PAGES = 500  # with more, asking where a part fits takes longer than it is worth
_SAYS = 8.0  # nats, the most that one place says
_TURNED = " turned"  # what the second of the two is called as long as there are two


class OrientationWarning(UserWarning):
    """Print that stands on its head: the message says what was done about it, or what to do."""


@dataclass(frozen=True, eq=False)
class Scored:
    """A pile with every shred the way up that its page has, and the scores of its joins."""

    pile: Pile
    compatibility: Compatibility


def turn_pile(pile: Pile, orientation: Orientation) -> Pile:
    """The pile with what is turned as a whole turned: all of it, or sheets that were fed upside down."""
    if orientation == "turned":
        return turn(pile, pile.shreds.ids)
    return turn_sheets(pile) if orientation == "sheets" else pile


def turn_sheets(pile: Pile) -> Pile:
    """The pile with sheets turned whose print clearly stands the other way than that of most."""
    ways = _rate_sheets(pile)
    shares = {way: sum(len(own) for own in ways[way].values()) for way in (True, False)}
    if not ways[False]:
        return pile
    if not ways[True]:
        warnings.warn(
            f"the print on {_name(ways[False])} looks upside down. If pages come out upside down, use "
            "--orientation turned.",
            OrientationWarning,
            3,
        )
        return pile
    wrong = ways[shares[True] < shares[False]]
    warnings.warn(
        f"{_name(wrong)}: scanned upside down, unlike the other sheets, so its shreds were turned. If that "
        "is wrong, use --orientation as-scanned.",
        OrientationWarning,
        3,
    )
    return turn(pile, {pile.shreds.ids[at] for own in wrong.values() for at in own})


def _rate_sheets(pile: Pile) -> dict[bool, dict[str, list[int]]]:
    """The shreds of sheets whose print clearly stands upright (True), or upside down, by its letters."""
    sheets: dict[tuple[Path, int], list[int]] = {}
    for at, shred in enumerate(pile.shreds):
        if shred.source.number is not None:
            sheets.setdefault((shred.source.path, shred.source.frame), []).append(at)
    ways: dict[bool, dict[str, list[int]]] = {True: {}, False: {}}
    for (path, frame), own in sheets.items():
        rates = np.array([rate_uprightness(pile.edges[at]) for at in own])
        if is_clear(rates):
            name = path.name if frame == 0 else f"{path.name}, page {frame + 1}"
            ways[bool(rates.sum() > 0)][name] = own
    return ways


def is_clear(rates: NDArray[np.float64]) -> bool:
    """Whether shreds of a sheet agree on their way up, of which each says so much."""
    usual = _LOUD * float(np.median(np.abs(rates)))
    heard = np.clip(rates, -usual, usual)  # one that says much more than the others does not disagree
    agreed = float(heard.sum() * np.sign(rates.sum()))
    return abs(float(rates.sum())) > _CLEAR_NATS and agreed > _CLEAR * float(np.linalg.norm(heard))


def _name(sheets: Mapping[str, Sequence[int]]) -> str:
    first, *more = sheets
    return first if not more else f"{first} and {len(more)} more"


def orient(
    pile: Pile,
    scorer: AnyScorer,
    *,
    scoring: ScoringOptions | None = None,
    arrangement: ArrangementOptions | None = None,
    turned: Collection[str] = (),
    is_upright: bool = False,
    store: Store | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    stopwatch: Stopwatch | None = None,
) -> Scored:
    """Turn what lies upside down; scores come with it, since both ways of every shred are scored.

    Where the way up is known to be found wrong, `turned` names the shred: it gets the other one. A pile that
    is upright already is only scored.
    """
    doubled = double(pile)
    stopwatch = stopwatch or Stopwatch()
    both = symmetrize(
        score(
            doubled,
            scorer,
            options=scoring,
            store=store,
            executor=executor,
            progress=progress,
            stopwatch=stopwatch,
        )
    )
    with stopwatch.measure("orient"):
        ids = pile.shreds.ids
        ways = np.isin(ids, list(turned))
        if not is_upright:
            options = _double_pages(arrangement or ArrangementOptions())
            order = rate(arrange(both, options=options, progress=progress), both)
            ways ^= choose_ways(order, doubled, both)
        upright = turn(pile, {name for name, is_turned in zip(ids, ways, strict=True) if is_turned})
        return Scored(upright, add_faces(_take(both, ids, ways), pile.faces))


def double(pile: Pile) -> Pile:
    """Every shred as it lies, and behind them all of them turned: shred i is i + n turned."""
    turned = [turn_shred(shred) for shred in pile.shreds]
    edges = [turn_edges(pair, len(shred.mask)) for pair, shred in zip(pile.edges, pile.shreds, strict=True)]
    names = [replace(shred, id=shred.id + _TURNED) for shred in turned]
    return Pile(ShredSet([*pile.shreds, *names]), [*pile.edges, *edges], pile.blank)


def symmetrize(both: Compatibility) -> Compatibility:
    """A join looked at upside down is the same join: each gets the mean of its two scores.

    And no shred stands beside itself turned. Sparse scores keep their own: not all of them are listed.
    """
    if both.is_sparse:
        rows, columns = both.list_joins()
        is_own = np.abs(rows - columns) == len(both) // 2
        return replace(both, scores=np.where(is_own, np.float32(-np.inf), both.scores))
    count = len(both) // 2
    turned = np.roll(np.arange(2 * count), count)
    scores = (both.scores + both.scores[np.ix_(turned, turned)].T) / np.float32(2)
    scores[np.arange(2 * count), turned] = -np.inf
    margins = both.margins
    if margins is not None:
        starts = (margins.starts + margins.ends[turned]) / np.float32(2)
        margins = replace(margins, starts=starts, ends=starts[turned])
    return replace(both, scores=scores, margins=margins)


def choose_ways(
    arrangement: Arrangement, doubled: Pile, both: Compatibility
) -> NDArray[np.bool_]:  # (n,): turned
    """One way for every shred, by the order of the doubled pile: long pages first, the way up they look.

    Joins that are not believed say nothing: what stands at a stranger would be turned with it. Parts of
    pages have few letters, so what counts as well is which way up they fit better at the pages.
    """
    count = len(doubled) // 2
    index = {name: i for i, name in enumerate(doubled.shreds.ids)}
    parts = [np.array([index[slot.shred_id] for slot in part]) for part in cut_pages(arrangement)]
    ways, is_known = np.zeros(count, bool), np.zeros(count, bool)
    pieces = sorted((piece for part in parts for piece in _cut_at_copies(part, count)), key=len, reverse=True)
    pages = _Pages(both)
    for piece in pieces:
        own, is_turned = piece % count, piece >= count
        fresh = ~is_known[own]
        if not fresh.any():
            continue  # its mirror image was here
        mirrored = (piece[::-1] + count) % (2 * count)
        nats = judge_page([doubled.edges[i] for i in piece])  # its mirror image says the same
        if pages.is_part(piece):
            nats += pages.fit(piece) - pages.fit(mirrored)
        else:
            pages.add(piece if nats >= 0 else mirrored)
        ways[own[fresh]] = is_turned[fresh] ^ (nats < 0)
        is_known[own] = True
    return ways


class _Pages:
    """The pages of a doubled pile whose way up is known, and how well parts fit at their sides."""

    def __init__(self, both: Compatibility) -> None:
        self._both = both
        self._paper_mm = paper_width(both.margins)
        self._ends: list[tuple[int, int]] = []  # the first and the last shred of each

    def add(self, page: NDArray[np.intp]) -> None:
        """A page, the way up it is."""
        self._ends.append((int(page[0]), int(page[-1])))

    def is_part(self, piece: NDArray[np.intp]) -> bool:
        """Whether a piece is too narrow to be a page, as far as paper and pages are known."""
        margins = self._both.margins
        if margins is None or self._paper_mm is None or not 0 < len(self._ends) <= _MOST_PAGES:
            return False
        return float(np.nansum(margins.widths_mm[piece])) < PART * self._paper_mm

    def fit(self, part: NDArray[np.intp]) -> float:
        """By how many nats all its places together beat page breaks there."""
        margins = self._both.margins
        assert margins is not None
        first, last = int(part[0]), int(part[-1])
        joins = [*((last, start) for start, _ in self._ends), *((end, first) for _, end in self._ends)]
        nats = [self._both.score(i, j) - margins.ends[i] - margins.starts[j] for i, j in joins]
        return float(np.logaddexp.reduce(np.clip(nats, -_SAYS, _SAYS)))


def _cut_at_copies(page: NDArray[np.intp], count: int) -> list[NDArray[np.intp]]:
    """The parts of a page that hold no shred both ways."""
    starts, seen = [0], set[int]()
    for place, shred in enumerate((page % count).tolist()):
        if shred in seen:
            starts.append(place)
            seen.clear()
        seen.add(shred)
    return np.split(page, starts[1:])


def _double_pages(options: ArrangementOptions) -> ArrangementOptions:
    return replace(options, pages=2 * options.pages) if isinstance(options.pages, int) else options


def _take(both: Compatibility, ids: Sequence[str], ways: NDArray[np.bool_]) -> Compatibility:
    """The joins between the shreds as they are turned."""
    count = len(ways)
    at = np.arange(count) + count * ways
    margins = both.margins and _take_margins(both.margins, at)
    if not both.is_sparse:
        square = np.ix_(at, at)
        return replace(
            both,
            ids=tuple(ids),
            scores=both.scores[square],
            offsets=both.offsets[square],
            beliefs=None if both.beliefs is None else both.beliefs[square],
            margins=margins,
        )
    place = np.full(2 * count, -1)
    place[at] = np.arange(count)
    rows, columns = (place[shreds] for shreds in both.list_joins())
    listed = np.flatnonzero((rows >= 0) & (columns >= 0))
    listed = listed[np.lexsort((columns[listed], rows[listed]))]
    return replace(
        both,
        ids=tuple(ids),
        scores=both.scores[listed],
        offsets=both.offsets[listed],
        beliefs=None if both.beliefs is None else both.beliefs[listed],
        row_starts=np.searchsorted(rows[listed], np.arange(count + 1)).astype(np.int64),
        columns=columns[listed].astype(np.int32),
        margins=margins,
    )


def _take_margins(margins: Margins, at: NDArray[np.intp]) -> Margins:
    heights = None if margins.heights_mm is None else margins.heights_mm[at]
    return Margins(margins.starts[at], margins.ends[at], margins.widths_mm[at], heights)
