from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deshred.cases import load_compatibility, load_constraints, save_compatibility
from deshred.elements import Calibration, Compatibility, Constraints, Margins
from deshred.errors import InputError


def dense(n: int = 4) -> Compatibility:
    rng = np.random.default_rng(n)
    scores = rng.normal(size=(n, n)).astype(np.float32)
    np.fill_diagonal(scores, -np.inf)
    offsets = rng.integers(-9, 9, (n, n)).astype(np.int16)
    ends = rng.normal(size=(3, n)).astype(np.float32)
    ids = tuple(f"ß {i}" for i in range(n))
    return Compatibility(
        ids,
        scores,
        offsets,
        "print",
        margins=Margins(*ends),
        calibration=Calibration(0.5, -0.25, beaten=0.4),
        beliefs=np.where(scores > 0, scores, np.float32(np.nan)),
    )


def sparse() -> Compatibility:
    return Compatibility(
        ("a", "b", "c"),
        np.array([1.0, 2.0, 3.0], np.float32),
        np.array([0, -1, 1], np.int16),
        row_starts=np.array([0, 1, 3, 3], np.int64),
        columns=np.array([1, 0, 2], np.int32),
    )


@pytest.mark.parametrize("given", [dense(), sparse()], ids=["dense", "sparse"])
def test_scores_survive_the_file(tmp_path: Path, given: Compatibility) -> None:
    save_compatibility(given, tmp_path / "c.npz")
    loaded = load_compatibility(tmp_path / "c.npz")
    assert loaded.ids == given.ids
    assert loaded.fingerprint == given.fingerprint
    for name in ("scores", "offsets", "row_starts", "columns", "beliefs"):
        expected = getattr(given, name)
        if expected is None:
            assert getattr(loaded, name) is None
        else:
            np.testing.assert_array_equal(getattr(loaded, name), expected)
            assert getattr(loaded, name).dtype == expected.dtype
    if given.margins is not None:
        assert loaded.margins is not None
        assert np.array_equal(loaded.margins.widths_mm, given.margins.widths_mm)
    assert loaded.calibration == given.calibration


@pytest.mark.parametrize(
    ("held", "expected"),
    [
        ([0.5, -0.25], Calibration(0.5, -0.25)),
        ([0.5, -0.25, 1.0], Calibration(0.5, -0.25, asks_for_fit=True)),
        ([0.5, -0.25, 0.0, np.nan], Calibration(0.5, -0.25)),
        ([0.5, -0.25, 0.0, 0.4], Calibration(0.5, -0.25, beaten=0.4)),
    ],
)
def test_curves_of_older_files_are_read(tmp_path: Path, held: list[float], expected: Calibration) -> None:
    np.savez(tmp_path / "c.npz", scores=np.eye(3), calibration=held)
    assert load_compatibility(tmp_path / "c.npz").calibration == expected


def test_a_bare_matrix_of_scores_is_enough(tmp_path: Path) -> None:
    np.savez(tmp_path / "c.npz", scores=np.eye(3))
    loaded = load_compatibility(tmp_path / "c.npz")
    assert loaded.ids == ("0", "1", "2")
    assert not loaded.offsets.any()


def test_ids_may_be_numbers_but_not_twice_the_same(tmp_path: Path) -> None:
    np.savez(tmp_path / "numbers.npz", scores=np.zeros((2, 2)), ids=np.array([7, 8]))
    assert load_compatibility(tmp_path / "numbers.npz").ids == ("7", "8")
    np.savez(tmp_path / "twice.npz", scores=np.zeros((2, 2)), ids=np.array(["a", "a"]))
    with pytest.raises(InputError, match=r"twice.npz.*unique"):
        load_compatibility(tmp_path / "twice.npz")


def test_what_is_no_file_of_scores_is_an_input_error(tmp_path: Path) -> None:
    save_compatibility(dense(), tmp_path / "whole.npz")
    (tmp_path / "cut.npz").write_bytes((tmp_path / "whole.npz").read_bytes()[:300])
    (tmp_path / "text.npz").write_text("scores")
    (tmp_path / "empty.npz").write_bytes(b"")
    np.savez(tmp_path / "flat.npz", scores=np.ones((2, 3)))
    np.savez(tmp_path / "other.npz", something=np.ones((2, 2)))
    np.savez(tmp_path / "pickle.npz", scores=np.array([{}], dtype=object))
    for name in ("cut", "text", "empty", "flat", "other", "pickle", "absent"):
        with pytest.raises(InputError, match=f"{name}.npz"):
            load_compatibility(tmp_path / f"{name}.npz")


BAD_SCORES: dict[str, dict[str, Any]] = {
    "a curve with a probability of two": {"calibration": np.array([1.0, 0.0, 0.0, 2.0])},
    "a curve of one number": {"calibration": np.array([1.0])},
    "ids of two dimensions": {"ids": np.array([["a", "b"]])},
    "margins that are words": {name: np.array(["x", "y"]) for name in ("starts", "ends", "widths_mm")},
    "places that are no whole numbers": {
        "row_starts": np.array([0.0, 1.5, 2]),
        "columns": np.array([1.0, 0.0]),
        "scores": np.zeros(2),
    },
    "beliefs that are words": {"beliefs": np.array([["x", "y"], ["x", "y"]])},
    "offsets beyond all paper": {"offsets": np.full((2, 2), 70_000)},
}


@pytest.mark.parametrize("wrong", BAD_SCORES)
def test_scores_that_make_no_sense_are_an_input_error(tmp_path: Path, wrong: str) -> None:
    np.savez(tmp_path / "s.npz", **{"scores": np.zeros((2, 2)), **BAD_SCORES[wrong]})
    with pytest.raises(InputError, match=r"s.npz: this is not a complete file of scores"):
        load_compatibility(tmp_path / "s.npz")


def test_constraints_are_read_from_toml(tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    file.write_text('required = [["a", "b"]]\nfirst = ["a"]\napart = [["a", "c", "d"]]\n')
    assert load_constraints(file) == Constraints(
        required=frozenset({("a", "b")}), first=frozenset("a"), apart=frozenset({frozenset("acd")})
    )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("required = [", "not a TOML file"),
        ('requires = [["a", "b"]]', "no constraint 'requires'.*The known ones are: required"),
        ('first = "a"', r"first must look like \[.a., .b.\], got 'a'"),
        ('forbidden = ["a", "b"]', "forbidden must look like"),
        ("last = [1]", "last must look like"),
        ('required = [["a", "b", "c"]]', "a left id and a right id"),
    ],
)
def test_constraints_that_are_none_are_an_input_error(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "known.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=f"known.toml.*{complaint}"):
        load_constraints(file)


def test_a_file_larger_than_scores_can_be_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "scores.npz").open("wb") as file:
        file.truncate(1 << 42)  # takes no room on disk
    with pytest.raises(InputError, match="more than the limit"):
        load_compatibility(tmp_path / "scores.npz")
