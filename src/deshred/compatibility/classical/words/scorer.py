"""The scorer: words over every join, and what pixels and symbols say where there are none."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from deshred.compatibility.classical.words.ocr import TesseractWords, WordReader
from deshred.compatibility.classical.words.paths import WordsOptions, gather_evidence
from deshred.compatibility.classical.words.pieces import cut_pieces
from deshred.compatibility.contract import ScorerCard
from deshred.elements import Compatibility, ShredSet
from deshred.executors import Executor, Progress
from deshred.imaging.edges import EdgeOptions


@dataclass(frozen=True)
class WordsScorer:
    """Scores a whole pile at once: sequences of shreds are read, not edges."""

    reader: WordReader = field(default_factory=TesseractWords)
    options: WordsOptions = field(default_factory=WordsOptions)

    @property
    def edge_options(self) -> EdgeOptions:
        return EdgeOptions()

    @property
    def card(self) -> ScorerCard:
        return ScorerCard("words", f"words {self.reader.fingerprint} {self.options}")

    def score_pile(
        self, shreds: ShredSet, *, executor: Executor | None = None, progress: Progress | None = None
    ) -> Compatibility:
        """Words times their length, plus the low-level score; offsets are 0: shreds stay as scanned."""
        pieces = cut_pieces(shreds)
        evidence = gather_evidence(
            pieces, self.reader, options=self.options, executor=executor, progress=progress
        )
        scores = (evidence.words + np.minimum(evidence.low, 1.0)).astype(np.float32)
        np.fill_diagonal(scores, -np.inf)
        return Compatibility(shreds.ids, scores, np.zeros(scores.shape, np.int16), shreds.fingerprint)
