"""`deshred arrange`: an order out of scores, or an exact code for files that are wrong, empty or tiny."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from numpy.typing import ArrayLike

from deshred.cases import save_compatibility
from deshred.elements import Compatibility
from tests.arrangement.brute_force import pile
from tests.commands import run


def test_arrange_takes_the_scores_of_a_run(tmp_path: Path) -> None:
    scores = np.full((4, 4), -5.0, np.float32)
    scores[[2, 0, 3], [0, 3, 1]] = 9.0
    file = tmp_path / "c.npz"
    save_compatibility(Compatibility(tuple("abcd"), scores, np.zeros((4, 4), np.int16)), file)
    result = run("arrange", file, "--pages", 1, "--json", "-q")
    assert result.exit_code == 0, result.stderr
    content = json.loads(result.stdout)
    assert content["pages"] == [["c", "a", "d", "b"]]
    assert content["optimal"] is True
    text = run("arrange", file, "--pages", 1, "-q").stdout
    assert text.splitlines()[0] == "page 1: c a d b"
    assert "proven optimal" in text


def test_scores_of_a_case_keep_their_probabilities(finished_case: Path) -> None:
    told = json.loads((finished_case / "arrangement.json").read_text(encoding="utf-8"))
    wanted = {(join["left"], join["right"]): join["probability"] for join in told["pages"][0]["joins"]}
    assert None not in wanted.values()
    done = run("arrange", finished_case / "compatibility.npz", "--pages", 1, "--json", "-q")
    found = {(join["left"], join["right"]): join["probability"] for join in json.loads(done.stdout)["joins"]}
    assert found == wanted


def test_arrange_takes_tsplib_files(tmp_path: Path) -> None:
    distances = "9 1 5 5\n5 9 1 5\n5 5 9 1\n1 5 5 9\n"
    header = "NAME: ring\nTYPE: ATSP\nDIMENSION: 4\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\n"
    (tmp_path / "ring.atsp").write_text(f"{header}EDGE_WEIGHT_SECTION\n{distances}EOF\n")
    content = json.loads(run("arrange", tmp_path / "ring.atsp", "--json", "-q").stdout)
    assert (content["pages"], content["cost"]) == ([["1", "2", "3", "4"]], 4)


@pytest.mark.parametrize("name", ["bad.npz", "bad.atsp", "absent.npz"])
def test_arrange_refuses_what_it_cannot_read(name: str, tmp_path: Path) -> None:
    if not name.startswith("absent"):
        (tmp_path / name).write_text("nonsense")
    result = run("arrange", tmp_path / name)
    assert result.exit_code == 3
    assert name in result.stderr


def test_a_round_trip_takes_no_constraints(tmp_path: Path) -> None:
    header = "NAME: ring\nTYPE: ATSP\nDIMENSION: 3\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\n"
    (tmp_path / "ring.atsp").write_text(f"{header}EDGE_WEIGHT_SECTION\n9 1 5\n5 9 1\n1 5 9\nEOF\n")
    (tmp_path / "known.toml").write_text('first = ["1"]')
    done = run("arrange", tmp_path / "ring.atsp", "--constraints", tmp_path / "known.toml")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "a TSPLIB instance takes none" in done.stderr


def arrange(file: Path, *flags: object) -> Result:
    return run("arrange", file, "--pages", 1, "--json", "-q", *flags)


def saved(tmp_path: Path, scores: ArrayLike) -> Path:
    file = tmp_path / "scores.npz"
    save_compatibility(pile(np.asarray(scores, np.float32)), file)
    return file


@pytest.mark.parametrize(
    ("wrong", "code", "complaint"),
    [
        ({"widths_mm": [5, -1, 5]}, 3, "widths_mm are not sizes"),
        ({"heights_mm": [297, np.inf, 297]}, 3, "heights_mm are not sizes"),
        ({"heights_mm": [297, 297]}, 3, "there are 3 shreds"),
        ({"starts": [np.nan, 0, 0]}, 3, "starts hold nan"),
    ],
)
def test_margins_that_make_no_sense_are_refused(
    wrong: dict[str, list[float]], code: int, complaint: str, tmp_path: Path
) -> None:
    margins = {name: np.ones(3) for name in ("starts", "ends", "widths_mm", "heights_mm")}
    np.savez(tmp_path / "s.npz", scores=np.zeros((3, 3)), **{**margins, **wrong})
    result = arrange(tmp_path / "s.npz")
    assert result.exit_code == code
    assert complaint in result.stderr


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_scores_that_are_no_numbers_are_refused_with_the_join(value: float, tmp_path: Path) -> None:
    scores = np.zeros((4, 4))
    scores[1, 2] = value
    result = arrange(saved(tmp_path, scores))
    assert result.exit_code == 3
    assert f"the score of s1 -> s2 is {value}" in result.stderr


def test_a_matrix_that_is_not_square_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "scores.npz"
    np.savez(file, scores=np.zeros((3, 4), np.float32))
    result = arrange(file)
    assert result.exit_code == 3
    assert "(3, 4)" in result.stderr


@pytest.mark.parametrize("kept", [0, 10, 200])
def test_a_truncated_file_of_scores_is_refused(kept: int, tmp_path: Path) -> None:
    file = saved(tmp_path, np.zeros((9, 9)))
    file.write_bytes(file.read_bytes()[:kept])
    result = arrange(file)
    assert result.exit_code == 3
    assert "scores.npz" in result.stderr


def test_a_truncated_tsplib_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "short.atsp"
    file.write_text(
        "NAME: short\nTYPE: ATSP\nDIMENSION: 3\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\n"
        "EDGE_WEIGHT_SECTION\n0 1 2\n3 0"
    )
    result = arrange(file)
    assert result.exit_code == 3
    assert "truncated" in result.stderr


@pytest.mark.parametrize(("n", "pages"), [(0, []), (1, [["s0"]]), (2, [["s0", "s1"]])])
def test_the_smallest_piles_have_an_answer(n: int, pages: list[list[str]], tmp_path: Path) -> None:
    result = arrange(saved(tmp_path, np.triu(np.ones((n, n)))))
    assert result.exit_code == 0, result.stderr
    content = json.loads(result.stdout)
    assert content["pages"] == pages
    assert content["optimal"]


def test_scores_that_are_all_equal_have_an_answer(tmp_path: Path) -> None:
    content = json.loads(arrange(saved(tmp_path, np.full((12, 12), 0.5))).stdout)
    assert sorted(content["pages"][0]) == sorted(f"s{i}" for i in range(12))
    assert (content["cost"], content["optimal"]) == (0, True)


def test_more_pages_than_shreds_are_refused(tmp_path: Path) -> None:
    result = arrange(saved(tmp_path, np.zeros((3, 3))), "--pages", "5")
    assert result.exit_code == 2
    assert "only 3 shreds" in result.stderr


def test_joins_that_leave_no_order_are_refused(tmp_path: Path) -> None:
    result = arrange(saved(tmp_path, np.full((3, 3), -np.inf)))
    assert result.exit_code == 7
    assert "Allow more pages" in result.stderr
