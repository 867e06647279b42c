from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.kills import Outcome, campaign, race


def list_bad(outcomes: list[Outcome]) -> list[Outcome]:
    return [outcome for outcome in outcomes if outcome.problem]


@pytest.mark.parametrize(
    ("command", "numbers"),
    [
        ("reconstruct", [1, 3, 6, 11, 16]),
        ("segment", [2, 9]),
        ("reconstruct --add", [9]),
        ("export", [20]),
    ],
    ids=str,
)
def test_a_command_killed_anywhere_goes_on_to_the_same_results(
    command: str, numbers: list[int], tmp_path: Path
) -> None:
    """`make faults` kills at every change of the folder, which takes minutes."""
    assert list_bad(campaign(command, tmp_path, numbers)) == []


def test_a_training_killed_anywhere_goes_on_to_the_same_model_and_curves(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="training needs deshred[train]")
    assert list_bad(campaign("train", tmp_path, [7])) == []


def test_a_training_whose_checkpoint_does_not_fit_says_so_and_goes_on(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="training needs deshred[train]")
    assert list_bad(campaign("train", tmp_path, [1], fault="full inside")) == []


@pytest.mark.parametrize(("command", "numbers"), [("reconstruct", [5, 21]), ("export", [37])], ids=str)
def test_a_full_disk_is_told_and_loses_nothing(command: str, numbers: list[int], tmp_path: Path) -> None:
    assert list_bad(campaign(command, tmp_path, numbers, fault="full")) == []


@pytest.mark.parametrize("fault", ["kill inside", "full inside"])
def test_a_write_that_ends_halfway_is_no_result(fault: str, tmp_path: Path) -> None:
    """In the mark of a case, its journal, a kept artefact, the plan of its results."""
    assert list_bad(campaign("reconstruct", tmp_path, [1, 3, 5, 20], fault=fault)) == []


def test_of_two_that_write_one_case_one_is_told(tmp_path: Path) -> None:
    assert list_bad(race(tmp_path, 2)) == []
