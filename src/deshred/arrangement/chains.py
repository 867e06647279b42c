"""Solve an Arrangement again under more constraints, over chains of shreds, with a certificate.

Every order without a join of price p costs at least p more than the arrangement it was priced in. So joins
of a high enough price are taken for granted and their shreds become chains: a much smaller problem. If its
answer costs no more than that price above the arrangement before, nothing cheaper exists in the whole pile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from deshred.arrangement.ordering import ArrangementOptions, Believed, WarmStart, arrange
from deshred.arrangement.problem.fixings import check_constraints
from deshred.arrangement.problem.pages import (
    WIDER,
    count_pages,
    find_room,
    page_price,
    paper_width,
)
from deshred.arrangement.problem.rules import Room
from deshred.arrangement.problem.scores import score_range
from deshred.arrangement.problem.shares import allow
from deshred.elements import Arrangement, Compatibility, Constraints, Join, Margins, PageBreak, Slot
from deshred.errors import SettingsError

_ALIKE = 1e-3  # nats: scores are rounded before a solve


@dataclass(frozen=True)
class ChainOptions:
    """Joins of this price or more are taken for granted."""

    price: float = 5.0  # nats

    def __post_init__(self) -> None:
        if not 0 < self.price < np.inf:
            raise SettingsError(f"the price of a chain must be above 0 nats, got {self.price!r}.")


@dataclass(frozen=True, eq=False)
class _Chains:
    """Shreds tied together, by index, each from left to right."""

    members: tuple[tuple[int, ...], ...]
    names: tuple[str, ...]  # of the first shred of each

    @property
    def firsts(self) -> NDArray[np.intp]:
        return np.array([chain[0] for chain in self.members], np.intp)

    @property
    def lasts(self) -> NDArray[np.intp]:
        return np.array([chain[-1] for chain in self.members], np.intp)


def arrange_over_chains(
    compatibility: Compatibility,
    constraints: Constraints,
    before: Arrangement,
    *,
    known: Constraints = Constraints(),  # noqa: B008 - frozen
    options: ArrangementOptions = ArrangementOptions(),  # noqa: B008 - frozen
    chains: ChainOptions = ChainOptions(),  # noqa: B008 - frozen
    warm_start: WarmStart | None = None,
) -> Arrangement | None:
    """The cheapest order, given an arrangement under some of the same constraints, which are `known`; None
    where chains prove nothing: the change is too dear, or what was known before is not in this form.

    A warm start of the same scores knows which joins are believed; without it they are weighed each time.
    """
    check_constraints(compatibility.ids, constraints)
    if compatibility.margins is None or options.free_ends:
        return None  # how many pages there are then depends on the constraints: nothing to compare
    width = options.page_width_mm or paper_width(compatibility.margins)
    warm = warm_start if warm_start is not None else WarmStart()
    believed = warm.believed_of(compatibility, options, compatibility.margins, width)
    allowed = allow(believed.compatibility, compatibility, constraints)
    if not np.array_equal(allowed.scores, allow(believed.compatibility, compatibility, known).scores):
        return None  # joins are back that the arrangement before was not asked about
    room = _find_room(compatibility, constraints, options, width)
    cost = _Cost(compatibility, compatibility.margins, room)
    index = {id_: i for i, id_ in enumerate(compatibility.ids)}
    spent = cost.of([_indices(page, index) for page in before.pages])
    if not before.joins or abs(spent - before.cost) > _ALIKE:
        return None
    tied = _tie(compatibility.ids, index, constraints, before, chains.price)
    small, fewer = _contract(allowed, tied), _translate(constraints, tied, index)
    if (_find_room(small, fewer, options, width) is None) != (room is None):
        return None  # a chain fits on no page: then widths count no more, and all costs change
    answer = arrange(small, fewer, options=replace(options, page_width_mm=width, least_share=0))
    members = dict(zip(tied.names, tied.members, strict=True))
    pages = [[i for slot in page for i in members[slot.shred_id]] for page in answer.pages]
    total = cost.of(pages)
    if not answer.is_optimal or not cost.allows(pages) or total > before.cost + chains.price:
        return None
    return _expand(compatibility, believed, constraints, before, answer, pages, total, chains.price)


def _indices(page: Sequence[Slot], index: dict[str, int]) -> list[int]:
    return [index[slot.shred_id] for slot in page]


def _find_room(
    pile: Compatibility, constraints: Constraints, options: ArrangementOptions, width: float | None
) -> Room | None:
    pages = count_pages(len(pile), options.pages, constraints, pile.margins, width)
    return find_room(pile.margins, width, pages)


class _Cost:
    """What an order costs, by the rules of `arrange` for pages with margins."""

    def __init__(self, pile: Compatibility, margins: Margins, room: Room | None) -> None:
        self._pile, self._margins, self._room = pile, margins, room
        self._highest = score_range(pile).highest
        self._price = 0.0 if room is None else page_price(float(room.widths.sum()), room.most / WIDER)

    def of(self, pages: Sequence[Sequence[int]]) -> float:
        starts, ends = self._margins.starts, self._margins.ends
        total = 0.0
        for page in pages:
            joins = sum(self._pile.score(i, j) for i, j in pairwise(page))
            total += len(page) * self._highest - joins + self._price
            total -= float(starts[page[0]]) + float(ends[page[-1]])
        return total

    def allows(self, pages: Sequence[Sequence[int]]) -> bool:
        """Whether all pages keep within their width: chains that could not may still do so loose."""
        room = self._room
        return room is None or all(float(room.widths[list(page)].sum()) <= room.most + 1e-6 for page in pages)


def _tie(
    ids: tuple[str, ...], index: dict[str, int], constraints: Constraints, before: Arrangement, price: float
) -> _Chains:
    """Chains of required joins and of dear ones that no constraint speaks against."""
    right = dict(constraints.required)
    taken = set(right.values())
    apart = {id_ for group in constraints.apart for id_ in group}
    for join in before.joins:
        is_free = join.left not in right and join.right not in taken
        is_free &= join.left not in constraints.last and join.right not in constraints.first
        is_free &= (join.left, join.right) not in constraints.forbidden
        is_free &= not apart & {join.left, join.right}
        if is_free and join.price is not None and join.price >= price:
            right[join.left] = join.right
            taken.add(join.right)
    chains = []
    for start in ids:
        if start in taken:
            continue
        chain = [index[start]]
        while (following := right.get(ids[chain[-1]])) is not None:
            chain.append(index[following])
        chains.append(tuple(chain))
    return _Chains(tuple(chains), tuple(ids[chain[0]] for chain in chains))


def _contract(pile: Compatibility, chains: _Chains) -> Compatibility:
    """The same scores between chains: the right side of the last shred with the left side of the first."""
    firsts, lasts = chains.firsts, chains.lasts
    margins = pile.margins
    if margins is not None:
        widths = np.nan_to_num(margins.widths_mm)
        margins = Margins(
            margins.starts[firsts],
            margins.ends[lasts],
            np.array([widths[list(chain)].sum() for chain in chains.members], np.float32),
        )
    if pile.columns is None or pile.row_starts is None:
        grid = np.ix_(lasts, firsts)
        scores = pile.scores[grid].copy()
        np.fill_diagonal(scores, -np.inf)
        return Compatibility(chains.names, scores, pile.offsets[grid], margins=margins)
    place = np.full(len(pile), -1, np.int32)
    place[firsts] = np.arange(len(firsts))
    kept = []
    for k, i in enumerate(lasts):
        row = np.arange(pile.row_starts[i], pile.row_starts[i + 1])
        partners = place[pile.columns[row]]
        kept.append(row[(partners >= 0) & (partners != k)])
    chosen = np.concatenate(kept)
    starts = np.concatenate([[0], np.cumsum([len(rows) for rows in kept])]).astype(np.int64)
    columns = place[pile.columns[chosen]]
    return Compatibility(
        chains.names, pile.scores[chosen], pile.offsets[chosen], "", starts, columns, margins=margins
    )


def _translate(constraints: Constraints, chains: _Chains, index: dict[str, int]) -> Constraints:
    """The constraints as far as they speak about chains."""
    chain_of = {i: name for chain, name in zip(chains.members, chains.names, strict=True) for i in chain}
    lasts = {chain[-1]: name for chain, name in zip(chains.members, chains.names, strict=True)}
    firsts = {chain[0]: name for chain, name in zip(chains.members, chains.names, strict=True)}

    def between(joins: frozenset[tuple[str, str]]) -> frozenset[tuple[str, str]]:
        pairs = ((index[left], index[right]) for left, right in joins)
        return frozenset((lasts[i], firsts[j]) for i, j in pairs if i in lasts and j in firsts)

    def groups(given: frozenset[frozenset[str]]) -> frozenset[frozenset[str]]:
        return frozenset(frozenset(chain_of[index[id_]] for id_ in group) for group in given)

    return Constraints(
        between(constraints.required),
        between(constraints.forbidden),
        frozenset(firsts[index[id_]] for id_ in constraints.first),
        frozenset(lasts[index[id_]] for id_ in constraints.last),
        frozenset(firsts[index[id_]] for id_ in constraints.not_first if index[id_] in firsts),
        frozenset(lasts[index[id_]] for id_ in constraints.not_last if index[id_] in lasts),
        groups(constraints.together),
        groups(constraints.apart),
    )


def _expand(
    pile: Compatibility,
    believed: Believed,
    constraints: Constraints,
    before: Arrangement,
    answer: Arrangement,
    pages: Sequence[Sequence[int]],
    total: float,
    price: float,
) -> Arrangement:
    """The order over all shreds. Old prices less the rise still hold, and none beyond the chains' own."""
    rise = total - before.cost
    old = {(join.left, join.right): join.price for join in before.joins}
    new = {join.right: join.price for join in answer.joins}  # named by the chain that it leads to
    ids = pile.ids
    pages = sorted(pages, key=min)
    joins, slots = [], []
    for page in pages:
        offset, row = 0, [Slot(ids[page[0]], 0)]
        for i, j in pairwise(page):
            step = pile.offset(i, j)
            offset += step
            row.append(Slot(ids[j], offset))
            known = new.get(ids[j])
            if known is None:
                kept = old.get((ids[i], ids[j]))
                known = np.inf if kept is None else kept - rise
            limit = max(0.0, min(known, np.inf if ids[j] not in new else price - rise))
            bound = limit if np.isfinite(limit) else None
            said = (ids[i], ids[j]) in constraints.required
            share = believed.share(i, j)
            joins.append(Join(ids[i], ids[j], pile.score(i, j), step, None, bound, share, said))
        slots.append(tuple(row))
    breaks = tuple(PageBreak(ids[a[-1]], ids[b[0]]) for a, b in pairwise(pages))
    return Arrangement(tuple(slots), tuple(joins), breaks, total, total, before.tolerance)
