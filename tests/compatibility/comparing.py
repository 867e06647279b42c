"""Edges in, scores out, without a pile: what the tests of every scorer need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deshred.compatibility.contract import AnyScorer, ScoreBlock
from deshred.compatibility.fusion import FusedEvidence, FusionScorer, Impressions
from deshred.elements import Edge, Pile, ShredSet
from deshred.executors import SerialExecutor
from deshred.imaging.edges import EdgeOptions, LazyEdges


class Counting(FusionScorer):
    """Ink and outline, and how many joins it was asked to compare; it can die in the middle as if killed."""

    joins = 0
    edges = 0
    dies_after: int | None = None

    def describe_rights(self, edges: Any, executor: Any) -> Impressions:
        self.edges += len(edges)
        return super().describe_rights(edges, executor)

    def compare(self, rights: Impressions, lefts: Impressions) -> FusedEvidence:
        if self.dies_after is not None and self.joins >= self.dies_after:
            raise KeyboardInterrupt
        self.joins += len(rights) * len(lefts)
        return super().compare(rights, lefts)


def describe(scorer: AnyScorer, rights: Sequence[Edge], lefts: Sequence[Edge]) -> tuple[Any, Any]:
    """Both sides as the scorer sees them."""
    executor = SerialExecutor()
    return scorer.describe_rights(rights, executor), scorer.describe_lefts(lefts, executor)


def score_edges(scorer: AnyScorer, rights: Sequence[Edge], lefts: Sequence[Edge]) -> ScoreBlock:
    """Scores and offsets of all joins."""
    return scorer.reduce(scorer.compare(*describe(scorer, rights, lefts)))


def adapt_to(scorer: AnyScorer, rights: Sequence[Edge], lefts: Sequence[Edge]) -> Any:
    """The scorer as a pile of these edges teaches it."""
    described = describe(scorer, rights, lefts)
    return scorer.adapt(described[0], scorer.compare(*described).take_rows)


def pile_of(shreds: ShredSet, options: EdgeOptions | None = None) -> Pile:
    """A pile of all these shreds, blank ones too."""
    return Pile(shreds, LazyEdges(shreds, options or EdgeOptions()), ShredSet([]))
