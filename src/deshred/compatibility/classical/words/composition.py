"""Evidence in, an order out: greedy fragments, then an optimal matching of their ends (GCOM)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from scipy.optimize import linear_sum_assignment

from deshred.compatibility.classical.words.ocr import WordReader
from deshred.compatibility.classical.words.paths import (
    Floats,
    WordEvidence,
    WordsOptions,
    known_pairs,
    read_across,
)
from deshred.compatibility.classical.words.pieces import Piece, compose_row
from deshred.executors import Executor, Progress, SerialExecutor

Chain = tuple[int, ...]


def compose_words(
    pieces: Sequence[Piece],
    evidence: WordEvidence,
    reader: WordReader,
    *,
    options: WordsOptions,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Chain:
    """The order of all pieces, left to right.

    The last step is what the article means: from each group on to the best one left. The authors' program
    looks from the first group each time.
    """
    fragments = join_greedily(known_pairs(evidence.words), len(pieces))
    if len(fragments) == 1:
        return fragments[0]
    rows = [compose_row([pieces[i] for i in fragment]).piece for fragment in fragments]
    pairs = [(a, b) for a in range(len(rows)) for b in range(len(rows)) if a != b]
    weigh = partial(_weigh, rows=rows, fragments=fragments, low=evidence.low, reader=reader, options=options)
    found = (executor or SerialExecutor()).map(weigh, pairs, stage="reading fragments", progress=progress)
    weights = np.full((len(rows), len(rows)), -np.inf)
    for pair, weight in zip(pairs, found, strict=True):
        weights[pair] = weight
    order = order_groups(match_ends(weights), weights)
    return tuple(i for fragment in order for i in fragments[fragment])


def join_greedily(pairs: Sequence[tuple[int, int]], n: int) -> list[Chain]:
    """Chains of pairs, best first; no ring closes. Every piece is in one chain."""
    right: dict[int, int] = {}
    left: dict[int, int] = {}
    for i, j in pairs:
        if i not in right and j not in left and _follow(right, j)[-1] != i:
            right[i], left[j] = j, i
    chains = [_follow(right, start) for start in range(n) if start not in left]
    return sorted(chains, key=min)


def _follow(right: dict[int, int], at: int) -> Chain:
    chain = [at]
    while chain[-1] in right:
        chain.append(right[chain[-1]])
    return tuple(chain)


def _weigh(
    pair: tuple[int, int],
    rows: Sequence[Piece],
    fragments: Sequence[Chain],
    low: Floats,
    reader: WordReader,
    options: WordsOptions,
) -> float:
    one, other = pair
    across = read_across(rows[one], rows[other], reader, options)
    ends = min(1.0, float(low[fragments[one][-1], fragments[other][0]]))
    return float(options.word_weight * (1 - np.exp(-across / 100)) + (1 - options.word_weight) * ends)


def match_ends(weights: Floats) -> list[Chain]:
    """Successors of the largest total weight; every circle is cut at its lightest arc."""
    finite = weights[np.isfinite(weights)]
    costs = np.where(np.isfinite(weights), -weights, 1e6 * (1 + np.abs(finite).max(initial=0.0)))
    successor = linear_sum_assignment(costs)[1].tolist()
    groups: list[Chain] = []
    seen: set[int] = set()
    for start in range(len(successor)):
        if start in seen:
            continue
        circle = [start]
        while successor[circle[-1]] != start:
            circle.append(successor[circle[-1]])
        seen.update(circle)
        arcs = [weights[i, successor[i]] for i in circle]
        cut = int(np.argmin(arcs)) + 1
        groups.append((*circle[cut:], *circle[:cut]))
    return groups


def order_groups(groups: Sequence[Chain], weights: Floats) -> Chain:
    """Start where least speaks for anything before it, then go on to the best group left."""
    if len(groups) == 1:
        return groups[0]
    between = np.array([[weights[one[-1], other[0]] for other in groups] for one in groups])
    np.fill_diagonal(between, -np.inf)
    order = [int(between.max(axis=0).argmin())]
    while len(order) < len(groups):
        ahead = between[order[-1]].copy()
        ahead[order] = -np.inf
        order.append(int(ahead.argmax()))
    return tuple(fragment for group in order for fragment in groups[group])
