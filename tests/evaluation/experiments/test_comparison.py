"""Every method on the same piles: failures count as nothing right, and lots count by their mean."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="plots need deshred[plots]")

from deshred.elements import Shred, ShredSet, Source
from deshred.errors import InputError, MissingDependencyError, SettingsError
from deshred.evaluation.experiments.comparison import ComparisonOptions, comparison, judge
from deshred.evaluation.experiments.contestants import Answer
from deshred.evaluation.experiments.instances import Instance
from deshred.evaluation.experiments.methods import METHODS
from deshred.executors import SerialExecutor
from deshred.simulation.truth import Place, Truth
from tests.evaluation.experiments.entries import read_entries

RIGHT, HALF = tuple("abcde"), tuple("abced")


@dataclass(frozen=True)
class Oracle:
    """A contestant that says what it is told to say."""

    says: tuple[tuple[str, ...], ...] | Exception
    spared: float | None = 0.0

    def solve(self, _shreds: ShredSet) -> Answer:
        if isinstance(self.says, Exception):
            raise self.says
        return Answer(self.says, {"solve": 2.0}, True, self.spared)


@pytest.fixture
def instance() -> Instance:
    image = np.full((40, 20, 3), 200, np.uint8)
    shreds = [Shred(name, image, np.ones((40, 20), bool), 300.0, Source(Path(), "")) for name in "cabed"]
    truth = Truth({name: Place("D001", at) for at, name in enumerate("abcde")})
    return Instance(ShredSet(shreds), truth, ("D001",))


def test_one_order_counts_as_it_is(instance: Instance) -> None:
    entry = judge(Oracle((HALF,)), METHODS["outline"], instance, SerialExecutor())
    assert (entry["accuracy"], entry["shreds"], entry["optimal"]) == (0.5, 5, True)
    assert entry["instance"] == ["D001"]
    assert "failure" not in entry


def test_where_lots_were_drawn_the_mean_counts(instance: Instance) -> None:
    entry = judge(Oracle((RIGHT, HALF)), METHODS["outline"], instance, SerialExecutor())
    assert entry["accuracies"] == [1.0, 0.5]
    assert entry["accuracy"] == 0.75


def test_a_failure_counts_as_nothing_right_and_is_told(instance: Instance) -> None:
    entry = judge(Oracle(InputError("no text")), METHODS["outline"], instance, SerialExecutor())
    assert (entry["accuracy"], entry["failure"], entry["optimal"]) == (0.0, "no text", None)
    assert list(entry["seconds"]) == ["failed"]


def test_a_part_that_is_not_installed_is_no_failure_of_the_method(instance: Instance) -> None:
    with pytest.raises(MissingDependencyError):
        judge(Oracle(MissingDependencyError("pip")), METHODS["outline"], instance, SerialExecutor())


def test_what_was_found_ready_counts_with_the_time_it_once_took(instance: Instance) -> None:
    entry = judge(Oracle((RIGHT,), spared=30.0), METHODS["pairwise"], instance, SerialExecutor())
    assert entry["seconds"] == {"solve": 2.0, "kept": 30.0}
    assert 30.0 <= entry["processor_seconds"] < 60.0


def test_where_nobody_knows_what_was_spared_no_time_is_told(instance: Instance) -> None:
    entry = judge(Oracle((RIGHT,), spared=None), METHODS["pairwise"], instance, SerialExecutor())
    assert entry["seconds"] == {}
    assert "processor_seconds" not in entry
    assert entry["accuracy"] == 1.0


def test_what_is_there_is_not_measured_again(folder: Path, tmp_path: Path) -> None:
    options = ComparisonOptions(methods=("marques",), ks=(1,), jobs=1)
    first = read_entries(comparison([folder], tmp_path, options=options).raw)
    marked = {key: {**entry, "accuracy": 0.123} for key, entry in first.items()}
    (tmp_path / "comparison.json").write_text(
        json.dumps({"experiment": "comparison", "versions": [], "results": marked})
    )
    more = ComparisonOptions(methods=("marques", "marques-2020"), ks=(1, 2), jobs=1)
    second = read_entries(comparison([folder], tmp_path, options=more).raw)
    assert all(second[key]["accuracy"] == 0.123 for key in first)
    assert len(second) == 2 * (3 + 2)


def test_a_method_that_cannot_read_a_pile_scores_nothing_and_says_why(folder: Path, tmp_path: Path) -> None:
    options = ComparisonOptions(methods=("characters",), ks=(1,), piles=1, jobs=1)
    (entry,) = read_entries(comparison([folder], tmp_path, options=options).raw).values()
    assert entry["accuracy"] == 0.0
    assert "text" in str(entry["failure"])


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"methods": ("magic",)}, "no method magic"),
        ({"piles": 0}, "must be at least 1"),
        ({"ks": (0,)}, "must be at least 1"),
    ],
)
def test_options_that_make_no_sense_are_refused(wrong: dict[str, object], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        ComparisonOptions(**wrong)  # type: ignore[arg-type]
