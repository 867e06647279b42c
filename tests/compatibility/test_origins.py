from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from deshred.compatibility.origins import find_mutual, number_sheets, weigh_origins
from deshred.elements import Compatibility, Shred, Source
from tests.arrangement.drawn_piles import to_sparse


def scores_of_two_pages(size: int = 12) -> Compatibility:
    """Two pages in a row; within each every join is sure but the one between its halves."""
    rng = np.random.default_rng(0)
    count = 2 * size
    scores = rng.normal(-5, 1, (count, count)).astype(np.float32)
    for page in (0, size):
        for i in range(page, page + size - 1):
            scores[i, i + 1] = 12
        scores[page + size // 2 - 1, page + size // 2] = 0
    np.fill_diagonal(scores, -np.inf)
    return Compatibility(tuple(map(str, range(count))), scores, np.zeros((count, count), np.int16))


def shreds_on(sheets: list[str]) -> list[Shred]:
    paper = np.full((8, 4, 3), 255, np.uint8)
    return [
        Shred(str(i), paper, np.ones((8, 4), bool), 300.0, Source(Path(sheet), ""))
        for i, sheet in enumerate(sheets)
    ]


def gain(before: Compatibility, shreds: list[Shred]) -> NDArray[np.float32]:
    """What sheets add to every join; 0 beside itself."""
    after = weigh_origins(before, shreds).scores
    possible = np.isfinite(before.scores)
    return np.subtract(after, before.scores, out=np.zeros_like(after), where=possible)


def test_sheets_that_hold_a_page_each_speak_for_joins_within_them() -> None:
    before = scores_of_two_pages()
    added = gain(before, shreds_on(["a"] * 12 + ["b"] * 12))
    within, across = added[5, 6], added[5, 18]
    assert 0.3 < within < np.log(2.1)
    assert across < -2


def test_a_page_on_two_sheets_makes_them_one() -> None:
    before = scores_of_two_pages()
    added = gain(before, shreds_on(["a", "b"] * 6 + ["c", "d"] * 6))
    assert added[0, 1] > 1  # between the two sheets of a page
    assert added[0, 13] < 0  # sheets of different pages


def test_sheets_without_order_say_next_to_nothing() -> None:
    before = scores_of_two_pages()
    sheets = np.random.default_rng(1).choice(["a", "b"], 24).tolist()
    added = gain(before, shreds_on(sheets))
    assert np.abs(added).max() < 1


@pytest.mark.parametrize("sheets", [["a"] * 24, [str(i) for i in range(24)]])
def test_one_sheet_or_a_file_for_each_shred_changes_nothing(sheets: list[str]) -> None:
    before = scores_of_two_pages()
    assert weigh_origins(before, shreds_on(sheets)) is before


def test_listed_scores_are_weighed_like_all() -> None:
    dense = scores_of_two_pages()
    shreds = shreds_on(["a"] * 12 + ["b"] * 12)
    listed = weigh_origins(to_sparse(dense), shreds)
    everything = weigh_origins(dense, shreds)
    assert listed.score(3, 17) == pytest.approx(everything.score(3, 17))
    assert find_mutual(to_sparse(dense)) == find_mutual(dense)


def test_sheets_are_counted_as_they_appear() -> None:
    assert number_sheets(["x", "y", "x", "z"]).tolist() == [0, 1, 0, 2]
