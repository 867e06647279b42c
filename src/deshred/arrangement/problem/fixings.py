"""Constraints by id -> fixings by index, or an error that names the constraints that clash.

Only clashes that no score can heal are found here: they need no solver and are quick at any size.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import pairwise, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deshred.elements import Constraints
from deshred.errors import InfeasibleError, MismatchError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
_COLORING_STEPS = 20_000
_OF_ONE_SHRED = ("first", "last", "not_first", "not_last", "turned")


@dataclass(frozen=True)
class PageCount:
    """How many pages there may be."""

    least: int
    most: int

    @property
    def is_fixed(self) -> bool:
        return self.least == self.most


@dataclass(frozen=True, eq=False)
class Fixings:
    """Constraints in terms of indices; the index n stands for the outside of a page."""

    required: Ints  # (m, 2)
    forbidden: Ints  # (m, 2)
    only_right: Ints  # (n,): the sole right neighbor allowed, -1 where free
    only_left: Ints  # (n,): the sole left neighbor allowed, -1 where free
    together: tuple[Ints, ...]
    apart: tuple[Ints, ...]

    @property
    def has_groups(self) -> bool:
        return bool(self.together or self.apart)


@dataclass(frozen=True, order=True)
class Atom:
    """One constraint on its own: the field of `Constraints` it stands in, and the ids."""

    kind: str
    ids: tuple[str, ...]

    def __str__(self) -> str:
        if self.kind in ("required", "forbidden"):
            return f"{self.kind} join {self.ids[0]} -> {self.ids[1]}"
        if self.kind == "turned":
            return f"{self.ids[0]} is turned"
        if len(self.ids) == 1:
            return f"{self.ids[0]} is {self.kind.replace('_', ' ')} on a page"
        return f"{', '.join(self.ids)} {self.kind}"


def split(constraints: Constraints) -> list[Atom]:
    """All single constraints, sorted."""
    atoms = []
    for field in fields(constraints):
        for entry in getattr(constraints, field.name):
            ids = (entry,) if isinstance(entry, str) else tuple(entry)
            atoms.append(Atom(field.name, tuple(sorted(ids)) if isinstance(entry, frozenset) else ids))
    return sorted(atoms)


def unite(atoms: list[Atom]) -> Constraints:
    """The inverse of `split`."""
    entries: dict[str, set[Any]] = {field.name: set() for field in fields(Constraints)}
    for atom in atoms:
        if atom.kind in _OF_ONE_SHRED:
            entries[atom.kind].add(atom.ids[0])
        else:
            entries[atom.kind].add(frozenset(atom.ids) if atom.kind in ("together", "apart") else atom.ids)
    return replace(Constraints(), **{kind: frozenset(values) for kind, values in entries.items()})


def smallest_clash(constraints: Constraints, is_feasible: Callable[[Constraints], bool]) -> list[Atom]:
    """A set of constraints that cannot hold together, while it can without any one of them."""
    return _minimal(split(constraints), lambda rest: is_feasible(unite(rest)))


def _minimal(atoms: list[Atom], is_feasible: Callable[[list[Atom]], bool]) -> list[Atom]:
    kept = atoms
    for atom in atoms:
        rest = [other for other in kept if other != atom]
        if not is_feasible(rest):
            kept = rest
    return kept


def clash(atoms: list[Atom], why: str) -> InfeasibleError:
    """The error that names the constraints at odds."""
    named = "; ".join(map(str, atoms))
    return InfeasibleError(
        f"the constraints contradict each other: {why} ({named}). Remove one of them.", tuple(atoms)
    )


def fix(ids: tuple[str, ...], constraints: Constraints, pages: PageCount) -> Fixings:
    """Look up the ids and refuse constraints that contradict each other or the number of pages."""
    index = {id_: i for i, id_ in enumerate(ids)}
    atoms = split(constraints)
    for atom in atoms:
        for id_ in atom.ids:
            if id_ not in index:
                raise MismatchError(
                    f"the constraint '{atom}' names {id_!r}, which is not among the {len(ids)} shreds. "
                    "Constraints belong to the pile they were made for."
                )
    _check_neighbors(atoms)
    _check_cycles(atoms)
    _check_groups(atoms, len(ids), pages)
    return _index(atoms, index)


def check_constraints(ids: tuple[str, ...], constraints: Constraints) -> None:
    """Refuse what no number of pages and no score can heal, without a solve."""
    fix(ids, constraints, PageCount(1, len(ids)))


def _index(atoms: list[Atom], index: Mapping[str, int]) -> Fixings:
    n = len(index)
    only_right, only_left = np.full(n, -1, np.int64), np.full(n, -1, np.int64)

    def pairs(kind: str) -> Ints:
        found = [[index[id_] for id_ in atom.ids] for atom in atoms if atom.kind == kind]
        return np.array(found, np.int64).reshape(-1, 2)

    def groups(kind: str) -> tuple[Ints, ...]:
        found = [np.array([index[id_] for id_ in a.ids], np.int64) for a in atoms if a.kind == kind]
        return tuple(group for group in found if len(group) > 1)

    required = pairs("required")
    only_right[required[:, 0]] = required[:, 1]
    only_left[required[:, 1]] = required[:, 0]
    for atom in atoms:
        if atom.kind == "first":
            only_left[index[atom.ids[0]]] = n
        elif atom.kind == "last":
            only_right[index[atom.ids[0]]] = n
    forbidden = np.concatenate([pairs("forbidden"), _never_ends(atoms, index)])
    return Fixings(required, forbidden, only_right, only_left, groups("together"), groups("apart"))


def _never_ends(atoms: list[Atom], index: Mapping[str, int]) -> Ints:
    """Page ends that cannot be, as joins with the outside."""
    outside = len(index)
    found = [[index[atom.ids[0]], outside] for atom in atoms if atom.kind == "not_last"]
    found += [[outside, index[atom.ids[0]]] for atom in atoms if atom.kind == "not_first"]
    return np.array(found, np.int64).reshape(-1, 2)


def _check_neighbors(atoms: list[Atom]) -> None:
    right: dict[str, Atom] = {}
    left: dict[str, Atom] = {}
    forbidden = {atom.ids: atom for atom in atoms if atom.kind == "forbidden"}
    no_ends = {(atom.kind.removeprefix("not_"), atom.ids[0]): atom for atom in atoms if "not_" in atom.kind}
    for atom in (a for a in atoms if a.kind in ("required", "first", "last")):
        if atom.kind == "required":
            if atom.ids[0] == atom.ids[1]:
                raise clash([atom], "a shred cannot stand beside itself")
            if atom.ids in forbidden:
                raise clash([atom, forbidden[atom.ids]], "a join is both required and forbidden")
        if (contrary := no_ends.get((atom.kind, atom.ids[0]))) is not None:
            raise clash([atom, contrary], f"{atom.ids[0]} is and is not {atom.kind} on a page")
        if atom.kind != "first" and (other := right.setdefault(atom.ids[0], atom)) != atom:
            raise clash([other, atom], f"{atom.ids[0]} has only one right side")
        if atom.kind != "last" and (other := left.setdefault(atom.ids[-1], atom)) != atom:
            raise clash([other, atom], f"{atom.ids[-1]} has only one left side")


def _check_cycles(atoms: list[Atom]) -> None:
    right = {atom.ids[0]: atom for atom in atoms if atom.kind == "required"}
    seen: set[str] = set()
    for start in right:
        walk: list[Atom] = []
        at = start
        while at in right and at not in seen:
            seen.add(at)
            walk.append(right[at])
            at = right[at].ids[1]
        if walk and at == start:
            raise clash(walk, "these joins form a circle")


def _check_groups(atoms: list[Atom], n: int, pages: PageCount) -> None:
    page_of, trail = _spread(_links(atoms))
    for atom in (a for a in atoms if a.kind == "apart"):
        for a, b in _clashing_pairs({id_: page_of.get(id_, id_) for id_ in atom.ids}):
            raise clash([atom, *_path(trail, a, b)], f"{a} and {b} lie on one page")
    for kind in ("first", "last"):
        chosen = {atom.ids[0]: atom for atom in atoms if atom.kind == kind}
        for a, b in _clashing_pairs({id_: page_of.get(id_, id_) for id_ in chosen}):
            raise clash([chosen[a], chosen[b], *_path(trail, a, b)], f"a page has only one {kind} shred")
        if len(chosen) > pages.most:
            raise clash(
                list(chosen.values()),
                f"{len(chosen)} shreds are {kind} on a page, and only {pages.most} can be",
            )
    for atom in (a for a in atoms if a.kind == "apart"):
        if len(atom.ids) > pages.most:
            raise clash([atom], f"{len(atom.ids)} shreds lie on different pages, and only {pages.most} can")
    if not _fits(atoms, pages.most):
        raise clash(_minimal(atoms, lambda rest: _fits(rest, pages.most)), f"{pages.most} pages are too few")
    binding = [a for a in atoms if a.kind in ("required", "together")]
    pieces = n - len(page_of) + len(set(page_of.values()))
    if binding and pieces < pages.least:
        raise clash(binding, f"they leave at most {pieces} pages, but {pages.least} are asked for")


def _links(atoms: list[Atom]) -> dict[str, list[tuple[str, Atom]]]:
    """Who shares a page with whom, and why."""
    links: dict[str, list[tuple[str, Atom]]] = {}
    for atom in (a for a in atoms if a.kind in ("required", "together")):
        for a, b in pairwise(atom.ids):
            links.setdefault(a, []).append((b, atom))
            links.setdefault(b, []).append((a, atom))
    return links


def _fits(atoms: list[Atom], n_pages: int) -> bool:
    """Whether shreds that lie apart find room on so many pages; yes where that is hard to say."""
    page_of, _ = _spread(_links(atoms))
    rivals: dict[str, set[str]] = {}
    for atom in (a for a in atoms if a.kind == "apart"):
        for one, other in permutations([page_of.get(id_, id_) for id_ in atom.ids], 2):
            rivals.setdefault(one, set()).add(other)
    return _color(rivals, {}, n_pages, [_COLORING_STEPS])


def _color(rivals: Mapping[str, set[str]], colors: dict[str, int], n_colors: int, steps: list[int]) -> bool:
    steps[0] -= 1
    uncolored = [node for node in rivals if node not in colors]
    if not uncolored or steps[0] < 0:
        return True
    taken = {node: {colors[rival] for rival in rivals[node] if rival in colors} for node in uncolored}
    node = max(uncolored, key=lambda name: (len(taken[name]), len(rivals[name]), name))
    used = max(colors.values(), default=-1) + 1  # colors not in use yet are all alike
    return any(
        _color(rivals, {**colors, node: color}, n_colors, steps)
        for color in range(min(n_colors, used + 1))
        if color not in taken[node]
    )


def _spread(
    links: Mapping[str, list[tuple[str, Atom]]],
) -> tuple[dict[str, str], dict[str, tuple[str, Atom]]]:
    """Which shreds must share a page (named by one of them), and a tree of reasons."""
    page_of: dict[str, str] = {}
    trail: dict[str, tuple[str, Atom]] = {}
    for root in links:
        if root in page_of:
            continue
        page_of[root] = root
        queue = deque([root])
        while queue:
            at = queue.popleft()
            for to, atom in links[at]:
                if to not in page_of:
                    page_of[to] = root
                    trail[to] = (at, atom)
                    queue.append(to)
    return page_of, trail


def _clashing_pairs(page_of: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    holder: dict[str, str] = {}
    for id_, page in page_of.items():
        if page in holder:
            yield holder[page], id_
        holder.setdefault(page, id_)


def _path(trail: Mapping[str, tuple[str, Atom]], a: str, b: str) -> list[Atom]:
    """The constraints that tie a to b, once each."""

    def climb(at: str) -> list[tuple[str, Atom]]:
        steps = []
        while at in trail:
            steps.append((at, trail[at][1]))
            at = trail[at][0]
        return steps

    up, down = climb(a), climb(b)
    while up and down and up[-1] == down[-1]:
        up.pop()
        down.pop()
    return list(dict.fromkeys(atom for _, atom in [*up, *reversed(down)]))
