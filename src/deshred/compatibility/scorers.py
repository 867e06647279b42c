"""The names that `--scorer` takes, and how to get a scorer by its name."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

from deshred.compatibility.contract import AnyScorer
from deshred.compatibility.pairwise.scorer import PairwiseOptions
from deshred.errors import SettingsError

ScorerName = Literal["default", "towers", "outline", "pairwise", "marques", "characters", "words"]
SCORER_NAMES = get_args(ScorerName)
_WITHOUT_MODEL = ("outline", "marques", "characters", "words")


def load_scorer(
    name: str = "default",
    model: str | Path | None = None,
    *,
    pairwise: PairwiseOptions | None = None,
    threads: int = 0,
) -> AnyScorer:
    """The scorer of this name, with a model where it needs one; without `model`, the shipped one."""
    if model is not None and name in _WITHOUT_MODEL:
        raise SettingsError(f"the scorer {name} learns nothing and takes no model. Leave out --model.")
    match name:
        case "default":
            from deshred.compatibility.fusion import FusionScorer

            return FusionScorer(model or "towers-default")
        case "towers":
            from deshred.compatibility.towers.scorer import TowersScorer

            return TowersScorer(model or "towers-default")
        case "outline":
            from deshred.compatibility.outline import OutlineScorer

            return OutlineScorer()
        case "pairwise":
            from deshred.compatibility.pairwise.scorer import PairwiseScorer

            return PairwiseScorer(model or "pairwise-cdip", options=pairwise, threads=threads)
        case "marques":
            from deshred.compatibility.classical.marques import MarquesScorer

            return MarquesScorer()
        case "characters":
            from deshred.compatibility.classical.characters import CharactersScorer

            return CharactersScorer()
        case "words":
            from deshred.compatibility.classical.words import WordsScorer

            return WordsScorer()
    raise SettingsError(f"there is no scorer {name!r}. Choose one of: {', '.join(SCORER_NAMES)}.")
