"""Characters that a tear cut in two: two halves fit when together they look like a letter of the pile.

Paixão, Boeres, Freitas and Oliveira, "Exploring character shapes for unsupervised reconstruction of
strip-shredded text documents", IEEE Transactions on Information Forensics and Security 14 (2019).
"""

from deshred.compatibility.classical.characters.scorer import (
    CharactersOptions,
    CharactersScorer,
    keep_shreds_with_text,
    score_clusterings,
)
from deshred.compatibility.classical.characters.text import ShredText, read_shapes

__all__ = [
    "CharactersOptions",
    "CharactersScorer",
    "ShredText",
    "keep_shreds_with_text",
    "read_shapes",
    "score_clusterings",
]
