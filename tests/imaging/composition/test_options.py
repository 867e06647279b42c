"""Options that make no sense never reach a page."""

from __future__ import annotations

import numpy as np
import pytest

from deshred.errors import SettingsError
from deshred.imaging.composition import CompositionOptions, MissingPaper, compose
from tests.imaging.composition.cut_pages import arrange, cut, draw_pattern


@pytest.mark.parametrize(
    "bad", [{"touching": 1.5}, {"touching": -0.1}, {"margin": -3}, {"sheet_width_mm": 0}]
)
def test_options_that_make_no_sense_are_refused(bad):
    with pytest.raises(SettingsError, match=next(iter(bad))):
        CompositionOptions(**bad)


@pytest.mark.parametrize("edge", [{"touching": 0}, {"touching": 1}, {"margin": 0}])
def test_the_ends_of_their_ranges_are_allowed(edge):
    assert CompositionOptions(**edge)


@pytest.mark.parametrize("copy", ["evidence", "reading"])
@pytest.mark.parametrize("missing", [(), (MissingPaper("s0", "left", 60), MissingPaper("s2", "right", 40))])
def test_a_page_without_its_blank_shreds_has_the_width_of_its_sheet(copy, missing):
    tears = np.array([np.full(600, 100), np.full(600, 200)])
    pile = cut(draw_pattern(), tears)
    options = CompositionOptions(sheet_width_mm=60, margin=5)
    page = compose(pile, arrange(*pile.ids), copy=copy, options=options, missing=missing)[0]
    sheet = round(60 / 25.4 * 300)
    assert page.image.shape[1] == sheet + 10
    paper = np.flatnonzero(page.mask.any(axis=0))
    left, right = paper[0], page.image.shape[1] - 1 - paper[-1]
    assert abs(left - right - (20 if missing else 0)) <= 1
    if not missing:
        assert (page.image[:, : left - 1] == 255).all()
    assert 0 <= left - page.placements[0].x <= 4  # what is drawn may begin outside the paper


def test_a_page_that_is_wider_than_its_sheet_keeps_all_of_its_paper():
    pile = cut(draw_pattern(), np.array([np.full(600, 100)]))
    narrow = compose(pile, arrange(*pile.ids), options=CompositionOptions(sheet_width_mm=10))[0]
    np.testing.assert_array_equal(narrow.image, compose(pile, arrange(*pile.ids))[0].image)
