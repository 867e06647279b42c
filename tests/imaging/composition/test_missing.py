import numpy as np
import pytest

from deshred.elements import ShredSet
from deshred.errors import SettingsError
from deshred.imaging.composition import MissingPaper, compose
from tests.imaging.composition.cut_pages import arrange, draw_pattern, make_shred

PILE = ShredSet([make_shred(name, draw_pattern(600, 80, seed)) for seed, name in enumerate("abc")])


def test_missing_paper_is_hatched_and_the_shreds_keep_their_pixels():
    page = compose(
        PILE, arrange("a", "b"), missing=[MissingPaper("a", "right", 160, "about 2 shreds missing")]
    )[0]
    assert [p.x for p in page.placements] == [0, 240]
    assert page.image.shape == (600, 320, 3)
    assert not page.mask[:, 80:240].any()
    hatched = page.image[:, 80:240]
    assert 0.05 < (hatched < 255).any(axis=2).mean() < 0.3
    assert hatched.min() < 120  # the label
    np.testing.assert_array_equal(page.image[:, :80], PILE[0].image)
    np.testing.assert_array_equal(page.image[:, 240:], PILE[1].image)


def test_paper_may_be_missing_at_both_ends_so_that_the_page_is_as_wide_as_its_sheet():
    missing = [MissingPaper("a", "left", 70), MissingPaper("b", "right", 50, "margin")]
    page = compose(PILE, arrange("a", "b"), missing=missing)[0]
    assert page.image.shape == (600, 70 + 160 + 50, 3)
    assert [p.x for p in page.placements] == [70, 150]
    assert (page.image[:, :70] < 255).any()
    assert (page.image[:, 230:] < 255).any()


def test_what_is_missing_on_both_sides_of_one_place_adds_up():
    missing = [
        MissingPaper("a", "right", 30),
        MissingPaper("b", "left", 20),
        MissingPaper("elsewhere", "left", 9),
    ]
    page = compose(PILE, arrange("a", "b"), missing=missing)[0]
    assert page.placements[1].x == 80 + 50


@pytest.mark.parametrize(
    ("bad", "told"), [(("a", "above", 10), "left or right"), (("a", "left", -1), "at least 0 px")]
)
def test_missing_paper_that_makes_no_sense_is_refused(bad, told):
    with pytest.raises(SettingsError, match=told):
        MissingPaper(*bad)


def test_a_blank_shred_may_stand_anywhere():
    blank = make_shred("blank", np.full((600, 50, 3), 250, np.uint8))
    page = compose(ShredSet([*PILE, blank]), arrange("blank", "a", "b"))[0]
    assert [p.x for p in page.placements] == [0, 50, 130]
