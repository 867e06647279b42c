"""Find which two pictures of a pile show the two sides of one shred.

Which two pictures show one shred, names tell, or sheets, or the outline: seen from behind, a left edge is a
right edge.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from deshred.compatibility.outline import Curves, OutlineScorer
from deshred.elements import Edge, EdgePair, Faces, Pile, Shred, ShredSet
from deshred.executors import SerialExecutor
from deshred.imaging.binarization import BlankOptions, is_blank
from deshred.imaging.edges import crop_edge

Sides = Literal["single", "double"]

_FRONT, _BACK = ("front", "fronts", "recto", "f", "r", "a"), ("back", "backs", "verso", "v", "b")
_SUFFIX = re.compile(rf"^(.*?)[-_. ]({'|'.join((*_FRONT, *_BACK))})$", re.IGNORECASE)
_SURE = 5.0  # nats by which two outlines must lead to be those of one shred


@dataclass(frozen=True)
class _Named:
    """What the name of a picture says."""

    group: tuple[str, ...]
    side: Literal["front", "back", ""]


def match_sides(pile: Pile, *, options: BlankOptions | None = None) -> Pile:
    """The pile with its pictures paired, and without shreds that are blank on both sides."""
    return set_blank_aside(replace(pile, faces=pair_faces(pile)), options=options)


def pair_faces(pile: Pile) -> Faces:
    """Find the two pictures of every shred: by name, among the shreds of two sheets, or by outline alone."""
    groups: dict[tuple[str, ...], dict[str, list[int]]] = {}
    for i, shred in enumerate(pile.shreds):
        named = _read_name(shred)
        groups.setdefault(named.group, {"front": [], "back": [], "": []})[named.side].append(i)
    pairs: list[tuple[int, int]] = []
    loose: list[int] = []
    for group in groups.values():
        fronts, backs = group["front"], group["back"]
        if len(fronts) == len(backs) == 1:
            pairs.append((fronts[0], backs[0]))
        elif fronts and backs:
            pairs += _match(pile.edges, fronts, backs)
        loose += group[""] if fronts and backs else [*fronts, *backs, *group[""]]
    pairs += _match_any(pile.edges, loose)
    ids = pile.shreds.ids
    return Faces(tuple((ids[i], ids[j]) for i, j in sorted(pairs)))


def set_blank_aside(pile: Pile, *, options: BlankOptions | None = None) -> Pile:
    """The pile without blank pictures, but for those whose other side has ink: they keep their place."""
    blank = {shred.id for shred in pile.shreds if is_blank(shred, options=options or BlankOptions())}
    aside = {name for name in blank if pile.faces.other.get(name, name) in blank}
    kept = pile.take([i for i, shred in enumerate(pile.shreds) if shred.id not in aside])
    return replace(
        kept, blank=ShredSet([*pile.blank, *(shred for shred in pile.shreds if shred.id in aside)])
    )


def _read_name(shred: Shred) -> _Named:
    """The side that the name of a file, or of its folder, tells, and what is left of the name."""
    path = shred.source.path
    frame = str(shred.source.frame)
    found = _SUFFIX.match(path.stem)
    if found:
        return _Named((str(path.parent), found[1], frame), _side_of(found[2]))
    if path.parent.name.lower() in (*_FRONT, *_BACK):
        return _Named((str(path.parent.parent), path.stem, frame), _side_of(path.parent.name))
    return _Named(("",), "")


def _side_of(word: str) -> Literal["front", "back"]:
    return "front" if word.lower() in _FRONT else "back"


def _match(edges: Sequence[EdgePair], fronts: Sequence[int], backs: Sequence[int]) -> list[tuple[int, int]]:
    """Fronts and backs of two sheets, where outlines are sure."""
    nats = _compare([edges[i] for i in fronts], [edges[j] for j in backs])
    rows, columns = linear_sum_assignment(nats, maximize=True)
    found = zip(rows.tolist(), columns.tolist(), strict=True)
    return [(fronts[i], backs[j]) for i, j in found if _lead(nats, i, j) >= _SURE]


def _match_any(edges: Sequence[EdgePair], loose: Sequence[int]) -> list[tuple[int, int]]:
    """Pairs among pictures of which nothing is known."""
    if len(loose) < 2:
        return []
    own = [edges[i] for i in loose]
    nats = _compare(own, own)
    np.fill_diagonal(nats, -np.inf)
    best = nats.argmax(axis=1)
    mutual = [(i, j) for i, j in enumerate(best.tolist()) if i < j and best[j] == i]
    return [(loose[i], loose[j]) for i, j in mutual if _lead(nats, i, j) >= _SURE]


def _compare(some: Sequence[EdgePair], others: Sequence[EdgePair]) -> NDArray[np.float32]:
    """Nats for every two pictures to be of one shred: the right edge of one is the left edge of the other."""
    scorer, executor = OutlineScorer(), SerialExecutor()

    def curves(edges: Sequence[Edge]) -> Curves:
        return scorer.describe_rights([crop_edge(edge, scorer.edge_options) for edge in edges], executor)

    there = scorer.compare(curves([pair.right for pair in some]), curves([pair.left for pair in others]))
    back = scorer.compare(curves([pair.left for pair in some]), curves([pair.right for pair in others]))
    return scorer.reduce(there).scores + scorer.reduce(back).scores


def _lead(nats: NDArray[np.float32], i: int, j: int) -> float:
    """By how many nats a pair beats all others of its two pictures together."""
    rivals = np.concatenate([np.delete(nats[i], j), np.delete(nats[:, j], i)]).astype(np.float64)
    return float(nats[i, j] - np.logaddexp.reduce(rivals)) if rivals.size else float(nats[i, j])
