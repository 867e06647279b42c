from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deshred.compatibility.fusion import FusionScorer, FusionWeights
from deshred.compatibility.scorers import SCORER_NAMES, load_scorer
from deshred.compatibility.scoring import score
from deshred.compatibility.towers.scorer import TowersScorer
from deshred.elements import Shred, ShredSet
from deshred.errors import SettingsError
from tests.compatibility.comparing import pile_of


def test_where_outlines_are_straight_only_the_ink_counts(small_towers: Path, tiny_pile: ShredSet) -> None:
    crops = ShredSet([Shred(s.id, s.image, np.ones_like(s.mask), s.dpi, s.source) for s in tiny_pile])
    fused = score(pile_of(crops), FusionScorer(small_towers, weights=FusionWeights(ink=1, outline=1)))
    ink = score(pile_of(crops), TowersScorer(small_towers))
    np.testing.assert_allclose(fused.scores, ink.scores, atol=1e-2)


def test_torn_outlines_add_evidence_for_true_joins(small_towers: Path, tiny_pile: ShredSet) -> None:
    fused = score(pile_of(tiny_pile), FusionScorer(small_towers, weights=FusionWeights(ink=0.01, outline=1)))
    true = np.array([fused.score(i, i + 1) for i in range(len(tiny_pile) - 1)])
    assert (true > np.median(fused.scores[np.isfinite(fused.scores)]) + 5).all()


def test_every_name_is_known_and_no_other() -> None:
    assert load_scorer("outline").card.name == "outline"
    assert load_scorer("marques").card.name == "marques"
    with pytest.raises(SettingsError, match=", ".join(SCORER_NAMES)):
        load_scorer("magic")
    with pytest.raises(SettingsError, match="no model"):
        load_scorer("outline", "some.onnx")
