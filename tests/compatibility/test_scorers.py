"""Every name gives the scorer of that name; what cannot be is refused with what can."""

from __future__ import annotations

from pathlib import Path

import pytest

from deshred.compatibility.contract import PileScorer
from deshred.compatibility.scorers import SCORER_NAMES, load_scorer
from deshred.errors import ModelError, SettingsError


@pytest.mark.parametrize("name", SCORER_NAMES)
def test_every_name_gives_a_scorer_of_that_name(name: str) -> None:
    scorer = load_scorer(name)
    assert scorer.card.name == name
    assert scorer.edge_options.rows > 0
    assert isinstance(scorer, PileScorer) == (name in ("characters", "words"))


def test_no_two_scorers_share_a_fingerprint() -> None:
    prints = [load_scorer(name).card.fingerprint for name in SCORER_NAMES]
    assert len(set(prints)) == len(prints)


@pytest.mark.parametrize("name", ["outline", "marques", "characters", "words"])
def test_a_model_for_a_scorer_that_learns_nothing_is_refused(name: str) -> None:
    with pytest.raises(SettingsError, match="takes no model"):
        load_scorer(name, "towers-default")


def test_a_name_that_is_none_is_told_the_others() -> None:
    with pytest.raises(SettingsError, match="default, towers, outline"):
        load_scorer("siamese")


def test_a_model_that_is_not_there_is_a_model_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"gone\.onnx"):
        load_scorer("towers", tmp_path / "gone.onnx")


def test_another_model_is_another_fingerprint(small_towers: Path) -> None:
    assert load_scorer("towers", small_towers).card.fingerprint != load_scorer("towers").card.fingerprint
