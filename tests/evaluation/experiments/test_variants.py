"""What the ablation changes: names that tell trainings apart, and scorers that differ in one thing."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deshred.compatibility.fusion import FusionScorer
from deshred.compatibility.outline import OutlineScorer
from deshred.compatibility.pairwise.samples import SampleOptions
from deshred.compatibility.pairwise.scorer import PairwiseScorer
from deshred.compatibility.towers.scorer import TowerOptions, TowersScorer
from deshred.evaluation.experiments.variants import (
    Training,
    limit_shifts,
    list_own_variants,
    list_paper_variants,
    spread_files,
    train_variant,
)
from tests.evaluation.experiments.entries import write_page


def test_the_name_of_a_model_tells_all_trainings_apart_and_is_the_same_for_the_same() -> None:
    trainings = [variant.training for variant in (*list_paper_variants(), *list_own_variants())]
    distinct = {training for training in trainings if training is not None}
    names = {one.name(pages, steps) for one in distinct for pages in ("cdip", "isri-ocr") for steps in (5, 6)}
    assert len(names) == 4 * len(distinct)
    assert Training(SampleOptions()).name("cdip", 5) == Training(SampleOptions()).name("cdip", 5)


def test_the_family_is_that_of_the_network_trained() -> None:
    assert Training(SampleOptions()).family == "pairwise"
    assert Training(towers=TowerOptions()).name("cdip", 5).startswith("towers-cdip-5-")


def test_the_factors_of_the_paper_change_one_thing_each() -> None:
    plain = SampleOptions()
    counted = Counter(variant.factor for variant in list_paper_variants())
    assert counted == {"v_shift": 4, "sample": 4, "rho_black": 3}
    for variant in list_paper_variants():
        assert variant.training is not None
        samples = variant.training.samples
        assert samples is not None
        if variant.factor == "v_shift":
            assert samples == plain
        elif variant.factor == "sample":
            assert replace(samples, rows=plain.rows, columns=plain.columns) == plain
            assert variant.value == f"{samples.rows}x{samples.columns}"
        else:
            assert replace(samples, min_ink=plain.min_ink) == plain
            assert float(variant.value) == samples.min_ink


def test_a_variant_builds_the_scorer_that_it_names() -> None:
    evidence = {one.value: one.build for one in list_own_variants() if one.factor == "evidence"}
    assert type(evidence["ink and outline"]("towers-default")) is FusionScorer
    assert type(evidence["ink"]("towers-default")) is TowersScorer
    assert type(evidence["outline"]("towers-default")) is OutlineScorer
    shifts = {one.value: one.build for one in list_paper_variants() if one.factor == "v_shift"}
    for value, build in shifts.items():
        scorer = build("pairwise-cdip")
        assert isinstance(scorer, PairwiseScorer)
        assert scorer.options.max_shift == int(value)


def test_shifts_beyond_the_reach_are_not_looked_at_and_others_weigh_as_before() -> None:
    plain = FusionScorer("towers-default")
    limited = limit_shifts("towers-default", reach_px=8)
    near = np.abs(plain.towers.shifts_px) <= 8
    assert near.any()
    assert not near.all()
    np.testing.assert_array_equal(limited.log_prior[near], plain.log_prior[near])
    assert (limited.log_prior[~near] == -60.0).all()
    assert limited.log_prior.dtype == np.float32


def test_a_model_that_is_there_is_not_trained_again(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="training needs deshred[train]")
    model = tmp_path / "m.onnx"
    model.write_bytes(b"weeks of work")
    found = train_variant(Training(), tmp_path, model, steps=5, threads=1, progress=None)
    assert found == model
    assert model.read_bytes() == b"weeks of work"


def test_short_trainings_read_some_files_evenly_spread(tmp_path: Path) -> None:
    for number in range(60):
        write_page(tmp_path / f"{number:02d}.png", np.zeros((4, 4), bool))
    assert [file.name for file in spread_files(tmp_path, 10)][:3] == ["00.png", "02.png", "05.png"]
    assert len(spread_files(tmp_path, 10)) == 24
    assert len(spread_files(tmp_path, 100_000)) == 60
