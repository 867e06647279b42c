"""Words that run over several shreds: shreds belong together when dictionary words appear across them.

Liang and Li, "Reassembling shredded document stripes using word-path metric and greedy composition optimal
matching solver", IEEE Transactions on Multimedia 22 (2020).
"""

from deshred.compatibility.classical.words.composition import compose_words
from deshred.compatibility.classical.words.ocr import (
    KeepingReader,
    Sighting,
    Sightings,
    TesseractWords,
    WordReader,
)
from deshred.compatibility.classical.words.paths import WordEvidence, WordsOptions, gather_evidence
from deshred.compatibility.classical.words.pieces import Piece, cut_pieces
from deshred.compatibility.classical.words.scorer import WordsScorer

__all__ = [
    "KeepingReader",
    "Piece",
    "Sighting",
    "Sightings",
    "TesseractWords",
    "WordEvidence",
    "WordReader",
    "WordsOptions",
    "WordsScorer",
    "compose_words",
    "cut_pieces",
    "gather_evidence",
]
