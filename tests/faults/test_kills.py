from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.kills import campaign


@pytest.mark.parametrize(
    ("command", "numbers"), [("reconstruct", [1, 3, 6, 11, 16]), ("segment", [2, 9])], ids=str
)
def test_a_command_killed_anywhere_goes_on_to_the_same_results(
    command: str, numbers: list[int], tmp_path: Path
) -> None:
    """`python -m tests.faults.kills` kills at every change of the folder, which takes minutes."""
    outcomes = campaign(command, tmp_path, numbers)
    assert [outcome for outcome in outcomes if outcome.problem] == []
