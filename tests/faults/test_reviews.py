from __future__ import annotations

from pathlib import Path

from tests.faults.reviews import campaign, make_case


def test_a_board_killed_at_any_moment_loses_nothing_that_it_answered(tmp_path: Path) -> None:
    """`make faults` kills a hundred times."""
    tally = campaign(make_case(tmp_path), 3)
    assert tally.problems == []
    assert tally.kills == 3
    assert tally.answered
