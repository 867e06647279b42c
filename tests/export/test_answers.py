"""`deshred arrange` tells the order it found and what is proven about it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from deshred.arrangement import ArrangementOptions
from deshred.cases import save_compatibility
from deshred.elements import Constraints
from deshred.errors import SettingsError
from deshred.export.answers import arrange_file
from tests.arrangement.brute_force import held_karp, pile

ATSP = """NAME: three
TYPE: ATSP
DIMENSION: 3
EDGE_WEIGHT_TYPE: EXPLICIT
EDGE_WEIGHT_FORMAT: FULL_MATRIX
EDGE_WEIGHT_SECTION
99 1 5
5 99 1
1 5 99
EOF
"""
FIVE = pile(np.random.default_rng(0).normal(size=(5, 5)).astype(np.float32))


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    save_compatibility(FIVE, tmp_path / "s.npz")
    return tmp_path / "s.npz"


def test_scores_of_a_file_give_the_cheapest_order(scores: Path) -> None:
    answer = arrange_file(scores, options=ArrangementOptions(pages=2))
    told = json.loads(json.dumps(answer.to_dict()))
    assert told["cost"] == pytest.approx(held_karp(FIVE, Constraints(), 2), abs=2e-6)
    assert sorted(name for page in told["pages"] for name in page) == sorted(FIVE.ids)
    assert len(told["pages"]) == 2
    assert len(told["joins"]) == 3
    assert told["optimal"] is True


def test_constraints_are_obeyed(scores: Path) -> None:
    wanted = Constraints(required=frozenset({("s4", "s0")}))
    answer = arrange_file(scores, wanted, options=ArrangementOptions(pages=1))
    assert "s4 s0" in " ".join(answer.pages[0])


def test_a_tsplib_instance_is_a_round_trip_that_counts_from_1(tmp_path: Path) -> None:
    (tmp_path / "three.atsp").write_text(ATSP)
    answer = arrange_file(tmp_path / "three.atsp")
    assert answer.found.cost == 3
    first = answer.pages[0].index("1")  # a round trip begins anywhere
    assert answer.pages[0][first:] + answer.pages[0][:first] == ("1", "2", "3")
    assert "joins" not in answer.to_dict()
    with pytest.raises(SettingsError, match="takes none"):
        arrange_file(tmp_path / "three.atsp", Constraints(first=frozenset({"1"})))


def test_text_tells_pages_and_proof(scores: Path) -> None:
    lines = arrange_file(scores, options=ArrangementOptions(pages=2)).to_text().splitlines()
    assert [line.split(":")[0] for line in lines[:2]] == ["page 1", "page 2"]
    assert lines[2].endswith(": proven optimal")
