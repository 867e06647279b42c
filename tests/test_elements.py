from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deshred.elements import (
    Arrangement,
    Compatibility,
    Constraints,
    Join,
    Page,
    Placement,
    Scan,
    Shred,
    ShredSet,
    Slot,
    Source,
)
from deshred.errors import InputError, MismatchError, SettingsError

SOURCE = Source(Path("a.png"), "0" * 64)


def make_shred(shred_id: str = "a", height: int = 30, width: int = 8, shade: int = 200) -> Shred:
    mask = np.ones((height, width), bool)
    mask[:, -2:] = False
    return Shred(shred_id, np.full((height, width, 3), shade, np.uint8), mask, 300.0, SOURCE)


def make_compatibility() -> Compatibility:
    scores = np.arange(9, dtype=np.float32).reshape(3, 3)
    return Compatibility(("a", "b", "c"), scores, -scores.astype(np.int16))


def test_arrays_cannot_be_written_to() -> None:
    shred = make_shred()
    page = Page(shred.image, shred.mask, (Placement("a", 0, 0),), 300.0)
    scan = Scan(shred.image, 300.0, SOURCE, shred.mask)
    compatibility = make_compatibility()
    arrays = [shred.image, shred.mask, page.image, page.mask, scan.image, scan.mask]
    for array in [*arrays, compatibility.scores, compatibility.offsets]:
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 0


def test_image_and_mask_must_have_one_size() -> None:
    with pytest.raises(InputError, match="same height and width"):
        Shred("a", np.zeros((5, 4, 3), np.uint8), np.ones((5, 5), bool), 300.0, SOURCE)


def test_width_in_mm_follows_the_paper_not_the_image() -> None:
    assert make_shred(width=302).width_mm == pytest.approx(25.4)


def test_height_in_mm_counts_rows_with_paper() -> None:
    mask = np.zeros((400, 9), bool)
    mask[50:350, 4] = True
    shred = Shred("a", np.zeros((400, 9, 3), np.uint8), mask, 300.0, SOURCE)
    assert (shred.width_mm, shred.height_mm) == (pytest.approx(25.4 / 300), pytest.approx(25.4))
    blank = Shred("a", np.zeros((5, 4, 3), np.uint8), np.zeros((5, 4), bool), 300.0, SOURCE)
    assert (blank.width_mm, blank.height_mm) == (0.0, 0.0)


def test_a_fingerprint_sees_pixels_mask_and_order_but_no_name() -> None:
    plain = make_shred()
    assert plain.fingerprint == make_shred().fingerprint
    other_mask = Shred("a", plain.image, np.ones_like(plain.mask), 300.0, SOURCE)
    assert plain.fingerprint == make_shred("b").fingerprint
    assert len({shred.fingerprint for shred in [plain, make_shred(shade=199), other_mask]}) == 3
    pair = [make_shred("a"), make_shred("b")]
    assert ShredSet(pair).fingerprint != ShredSet(pair[::-1]).fingerprint


def test_a_set_is_a_sequence_with_unique_ids() -> None:
    shreds = ShredSet([make_shred("a"), make_shred("b"), make_shred("c")])
    assert len(shreds) == 3
    assert shreds[1].id == "b"
    assert shreds[1:].ids == ("b", "c")
    assert shreds.index_of("c") == 2
    with pytest.raises(MismatchError, match="no shred 'z' in this pile of 3"):
        shreds.index_of("z")
    with pytest.raises(InputError, match="more than once: a"):
        ShredSet([make_shred("a"), make_shred("a")])


def test_scores_and_offsets_are_looked_up_alike_dense_and_sparse() -> None:
    dense = make_compatibility()
    rows, columns = np.nonzero(~np.eye(3, dtype=bool))
    sparse = Compatibility(
        dense.ids,
        dense.scores[rows, columns],
        dense.offsets[rows, columns],
        row_starts=np.array([0, 2, 4, 6]),
        columns=columns.astype(np.int32),
    )
    assert sparse.is_sparse
    assert not dense.is_sparse
    for i, j in zip(rows.tolist(), columns.tolist(), strict=True):
        assert sparse.score(i, j) == dense.score(i, j) == 3 * i + j
        assert sparse.offset(i, j) == dense.offset(i, j) == -(3 * i + j)


def test_a_join_that_a_sparse_matrix_does_not_hold_cannot_be() -> None:
    one = np.zeros(1)
    sparse = Compatibility(
        ("a", "b"),
        one.astype(np.float32),
        one.astype(np.int16),
        row_starts=np.array([0, 1, 1]),
        columns=np.array([1], np.int32),
    )
    assert sparse.score(1, 0) == float("-inf")
    assert sparse.offset(1, 0) == 0


def test_a_matrix_of_the_wrong_shape_is_refused() -> None:
    with pytest.raises(MismatchError, match="3 x 3"):
        Compatibility(("a", "b", "c"), np.zeros((2, 2), np.float32), np.zeros((2, 2), np.int16))
    with pytest.raises(MismatchError, match="offsets"):
        Compatibility(("a",), np.zeros((1, 1), np.float32), np.zeros((2, 2), np.int16))


def test_constraints_take_any_collection() -> None:
    given = Constraints(required=[["a", "b"]], first={"a"}, apart=[["a", "c"]])  # type: ignore[arg-type]
    assert given == Constraints(
        required=frozenset({("a", "b")}), first=frozenset("a"), apart=frozenset({frozenset("ac")})
    )


@pytest.mark.parametrize(
    "wrong", [{"first": "shred-001"}, {"required": [("a",)]}, {"together": ["ab"]}, {"forbidden": "ab"}]
)
def test_constraints_that_are_no_collections_of_ids_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=f"{next(iter(wrong))} holds"):
        Constraints(**wrong)


def test_constraints_are_true_when_they_say_something() -> None:
    assert not Constraints()
    assert Constraints(first=frozenset({"a"}))


@pytest.mark.parametrize(
    ("probability", "verdict"),
    [(None, "open"), (0.5, "open"), (0.8, "likely"), (0.9899, "likely"), (0.99, "sure")],
)
def test_a_verdict_follows_the_probability(probability: float | None, verdict: str) -> None:
    assert Join("a", "b", 1.0, 0, probability).verdict == verdict


def test_an_arrangement_says_what_is_proven() -> None:
    pages = ((Slot("a", 0), Slot("b", 3)), (Slot("c", 0),))
    proven = Arrangement(pages, (), (), cost=5.0, bound=5.0)
    assert proven.is_optimal
    assert proven.order == ("a", "b", "c")
    assert "proven optimal" in repr(proven)
    open_ = Arrangement(pages, (), (), cost=5.0, bound=4.5)
    assert not open_.is_optimal
    assert open_.gap == 0.5
    assert Arrangement(pages, (), (), cost=5.0, bound=6.0).gap == 0.0


def test_representations_are_one_line() -> None:
    shred = make_shred()
    nouns = [
        shred,
        ShredSet([shred]),
        Scan(shred.image, 300.0, SOURCE),
        make_compatibility(),
        Page(shred.image, shred.mask, (), 300.0),
        Arrangement((), (), (), 0.0, 0.0),
    ]
    for noun in nouns:
        assert "\n" not in repr(noun)
        assert len(repr(noun)) < 100


def test_a_notebook_shows_a_page_as_png() -> None:
    image = np.full((4, 5, 3), 200, np.uint8)
    page = Page(image, np.ones((4, 5), bool), (), 300.0)
    png = page._repr_png_()
    assert png.startswith(b"\x89PNG")
    assert page.copy == "evidence"
    assert "evidence copy" in repr(page)


def test_beliefs_stand_where_the_scores_do() -> None:
    square = np.zeros((2, 2), np.float32)
    with pytest.raises(MismatchError, match="beliefs"):
        Compatibility(("a", "b"), square, square.astype(np.int16), beliefs=np.zeros(2, np.float32))
    pile = Compatibility(("a", "b"), square, square.astype(np.int16), beliefs=square + 3)
    assert pile.take_beliefs([(0, 1)]).tolist() == [3]
    assert np.isnan(Compatibility(("a", "b"), square, square.astype(np.int16)).take_beliefs([(0, 1)])).all()
