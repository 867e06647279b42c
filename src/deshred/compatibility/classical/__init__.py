"""Scorers without a network: baselines of the literature.

Marques compares edges and is a `Scorer`. Characters and words look at whole shreds, and at the whole pile at
once: they are `PileScorer`s.
"""

from __future__ import annotations

from typing import Protocol

from deshred.compatibility.contract import ScorerCard
from deshred.elements import Compatibility, ShredSet
from deshred.executors import Executor, Progress


class PileScorer(Protocol):
    """What turns a whole pile into scores at once: nothing of it can be kept when the pile grows."""

    @property
    def card(self) -> ScorerCard:
        """Name, as `--scorer` takes it, and fingerprint."""

    def score_pile(
        self, shreds: ShredSet, *, executor: Executor | None = None, progress: Progress | None = None
    ) -> Compatibility:
        """Score every join, in no known unit."""
