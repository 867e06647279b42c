from __future__ import annotations

import numpy as np
import pytest

from deshred.compatibility.faces import add_faces, order_faces
from deshred.elements import Arrangement, Compatibility, Faces, Join, Margins, Slot
from tests.arrangement.drawn_piles import to_sparse


def scores_of(count: int) -> Compatibility:
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(count, count)).astype(np.float32)
    starts, ends = rng.normal(size=(2, count)).astype(np.float32)
    ids = tuple(f"s{i}" for i in range(count))
    margins = Margins(starts, ends, np.full(count, 8, np.float32))
    return Compatibility(ids, scores, np.zeros(scores.shape, np.int16), margins=margins)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_join_scores_what_both_sides_say_the_other_way_round(is_sparse: bool) -> None:
    plain = scores_of(5)
    dense = plain
    if is_sparse:
        plain = to_sparse(dense, ~np.eye(5, dtype=bool))
    both = add_faces(plain, Faces((("s0", "s1"), ("s2", "s3"))))
    assert both.score(0, 2) == pytest.approx(dense.score(0, 2) + dense.score(3, 1))
    assert both.score(0, 2) == pytest.approx(both.score(3, 1))
    assert both.score(0, 1) == both.score(1, 0) == -np.inf
    assert both.score(0, 4) == pytest.approx(2 * dense.score(0, 4))  # the back of s4 was not seen
    margins = both.margins
    assert margins is not None
    assert dense.margins is not None
    assert margins.starts[0] == margins.ends[1] == dense.margins.starts[0] + dense.margins.ends[1]
    assert margins.starts[4] == 2 * dense.margins.starts[4]


def test_every_front_is_followed_by_its_back() -> None:
    names = ("b-back", "b-front", "a-front", "a-back")
    pages = tuple((Slot(name, 0), Slot(name[0] * 2 + name[1:], 0)) for name in names)
    joins = tuple(Join(page[0].shred_id, page[1].shred_id, 0.0, 0) for page in pages)
    faces = Faces(tuple((f"{paper}-front", f"{paper}-back") for paper in ("a", "aa", "b", "bb")))
    found = order_faces(Arrangement(pages, joins, (), 0.0, 0.0), faces)
    assert [page[0].shred_id for page in found.pages] == ["b-front", "b-back", "a-front", "a-back"]
    assert [join.left for join in found.joins] == ["b-front", "b-back", "a-front", "a-back"]
    assert (found.breaks[0].after, found.breaks[0].before) == ("bb-front", "b-back")
