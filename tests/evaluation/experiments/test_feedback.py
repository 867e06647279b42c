"""A person in the loop: a perfect person costs nothing that was right; lots are drawn by seed."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="plots need deshred[plots]")

from deshred.errors import SettingsError
from deshred.evaluation.experiments.feedback import FeedbackOptions, feedback
from deshred.evaluation.experiments.strategies import STRATEGIES
from tests.evaluation.experiments.entries import Entry, read_entries


def run(folder: Path, out: Path, **options: object) -> list[Entry]:
    chosen = FeedbackOptions(methods=("outline",), jobs=1, **options)  # type: ignore[arg-type]
    return list(read_entries(feedback([folder], out, options=chosen).raw).values())


def test_every_strategy_asks_as_many_questions_as_the_load_allows(folder: Path, tmp_path: Path) -> None:
    results = run(folder, tmp_path, loads=(0.5,), rounds=(1, 2), errors=(0.0, 0.3), seeds=(0,))
    assert {entry["strategy"] for entry in results} == set(STRATEGIES)
    assert {(entry["joins"], entry["rounds"], entry["asked"]) for entry in results} == {
        (11, 1, 5),
        (11, 2, 4),
    }


def test_asked_about_every_join_a_perfect_person_finds_all_mistakes_and_costs_nothing_right(
    folder: Path, tmp_path: Path
) -> None:
    for entry in run(folder, tmp_path, loads=(1.0,), rounds=(1,), errors=(0.0,), seeds=(0,)):
        assert entry["asked"] == entry["joins"]
        assert entry["found"] == entry["wrong_before"]
        assert entry["after"] >= entry["before"]


def test_a_perfect_person_needs_one_seed_unless_questions_are_random(folder: Path, tmp_path: Path) -> None:
    asked = {"loads": (0.5,), "rounds": (1,), "seeds": (3, 4), "strategies": ("price", "random")}
    results = run(folder, tmp_path, errors=(0.0, 0.4), **asked)
    counted = sorted((one["strategy"], one["error"], one["seed"]) for one in results)
    assert [one for one in counted if one[0] == "price"] == [
        ("price", 0.0, 3),
        ("price", 0.4, 3),
        ("price", 0.4, 4),
    ]
    assert sum(one[0] == "random" for one in counted) == 4


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"strategies": ("magic",)}, "no strategy magic"),
        ({"methods": ("words",)}, "scorers of edges"),
        ({"loads": (0.0,)}, "shares from 0 to 1"),
        ({"errors": (1.0,)}, "shares from 0 to 1"),
        ({"rounds": (0,)}, "rounds must be at least 1"),
    ],
)
def test_options_that_make_no_sense_are_refused(wrong: dict[str, object], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        FeedbackOptions(**wrong)  # type: ignore[arg-type]
