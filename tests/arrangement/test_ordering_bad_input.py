"""`deshred arrange` on files that are wrong, empty or tiny: clear errors and exit codes, or an answer."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from deshred.cases import save_compatibility
from deshred.cli import app
from tests.arrangement.brute_force import pile


def run(file, *flags):
    return CliRunner().invoke(app, ["arrange", str(file), "--pages", "1", "--json", "-q", *flags])


def saved(tmp_path, scores):
    file = tmp_path / "scores.npz"
    save_compatibility(pile(np.asarray(scores, np.float32)), file)
    return file


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"widths_mm": [5, -1, 5]}, "widths_mm are no sizes"),
        ({"heights_mm": [297, np.inf, 297]}, "heights_mm are no sizes"),
        ({"heights_mm": [297, 297]}, "heights_mm for 3 shreds"),
        ({"starts": [np.nan, 0, 0]}, "starts hold nan"),
    ],
)
def test_margins_that_make_no_sense_are_refused(wrong, complaint, tmp_path):
    margins = {name: np.ones(3) for name in ("starts", "ends", "widths_mm", "heights_mm")}
    np.savez(tmp_path / "s.npz", scores=np.zeros((3, 3)), **{**margins, **wrong})
    result = run(tmp_path / "s.npz")
    assert result.exit_code in (3, 5)
    assert complaint in result.stderr


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_scores_that_are_no_numbers_are_refused_with_the_join(value, tmp_path):
    scores = np.zeros((4, 4))
    scores[1, 2] = value
    result = run(saved(tmp_path, scores))
    assert result.exit_code == 3
    assert f"the score of s1 -> s2 is {value}" in result.stderr


def test_a_matrix_that_is_not_square_is_refused(tmp_path):
    file = tmp_path / "scores.npz"
    np.savez(file, scores=np.zeros((3, 4), np.float32))
    result = run(file)
    assert result.exit_code in (3, 5)
    assert "(3, 4)" in result.stderr


@pytest.mark.parametrize("kept", [0, 10, 200])
def test_a_truncated_file_of_scores_is_refused(kept, tmp_path):
    file = saved(tmp_path, np.zeros((9, 9)))
    file.write_bytes(file.read_bytes()[:kept])
    result = run(file)
    assert result.exit_code == 3
    assert "scores.npz" in result.stderr


def test_a_truncated_tsplib_file_is_refused(tmp_path):
    file = tmp_path / "short.atsp"
    file.write_text(
        "NAME: short\nTYPE: ATSP\nDIMENSION: 3\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\n"
        "EDGE_WEIGHT_SECTION\n0 1 2\n3 0"
    )
    result = run(file)
    assert result.exit_code == 3
    assert "truncated" in result.stderr


@pytest.mark.parametrize(("n", "pages"), [(0, []), (1, [["s0"]]), (2, [["s0", "s1"]])])
def test_the_smallest_piles_have_an_answer(n, pages, tmp_path):
    result = run(saved(tmp_path, np.triu(np.ones((n, n)))))
    assert result.exit_code == 0, result.stderr
    content = json.loads(result.stdout)
    assert content["pages"] == pages
    assert content["optimal"]


def test_scores_that_are_all_equal_have_an_answer(tmp_path):
    content = json.loads(run(saved(tmp_path, np.full((12, 12), 0.5))).stdout)
    assert sorted(content["pages"][0]) == sorted(f"s{i}" for i in range(12))
    assert (content["cost"], content["optimal"]) == (0, True)


def test_more_pages_than_shreds_are_refused(tmp_path):
    result = run(saved(tmp_path, np.zeros((3, 3))), "--pages", "5")
    assert result.exit_code == 2
    assert "only 3 shreds" in result.stderr


def test_joins_that_leave_no_order_are_refused(tmp_path):
    result = run(saved(tmp_path, np.full((3, 3), -np.inf)))
    assert result.exit_code == 7
    assert "Allow more pages" in result.stderr
