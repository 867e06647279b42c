import numpy as np
import pytest

from deshred.elements import Seam
from deshred.imaging.composition.mending import _darken_gaps, mend
from tests.imaging.composition.cut_pages import COLUMNS, print_page


def test_strokes_are_closed_over_a_seam_and_gaps_between_letters_stay():
    image, seams = print_page(natural=[12, 13, 14], taken=6)
    whole, _ = print_page(natural=[12, 13, 14], taken=0)
    mended = mend(image, seams)
    damaged, left = (picture[..., 0] != whole[..., 0] for picture in (image, mended))
    assert left.sum() < 0.3 * damaged.sum()  # the rest lies beside gaps between letters
    far = np.abs(np.arange(1200)[:, None] - np.array(COLUMNS)).min(axis=1) > 8
    np.testing.assert_array_equal(mended[:, far], image[:, far])


def test_two_upright_strokes_at_a_seam_stay_apart_and_a_level_one_is_closed():
    image, seams = print_page(natural=[12, 13, 14], taken=6)
    middle = COLUMNS[3]
    image[:60, middle - 80 : middle + 80] = 255
    image[5:55, middle - 19 : middle - 3] = 0  # as in ll
    image[5:55, middle + 3 : middle + 19] = 0
    image[100:120, middle - 80 : middle + 80] = 255
    image[106:114, middle - 60 : middle - 3] = 0  # as in a line under a word
    image[106:114, middle + 3 : middle + 60] = 0
    mended = mend(image, seams)
    np.testing.assert_array_equal(
        mended[:60, middle - 20 : middle + 20], image[:60, middle - 20 : middle + 20]
    )
    assert (mended[106:114, middle - 60 : middle + 60] == 0).all()


def test_an_upright_stroke_that_was_torn_lengthwise_is_closed():
    image, seams = print_page(natural=[12, 13, 14], taken=6)
    middle = COLUMNS[3]
    image[:60, middle - 80 : middle + 80] = 255
    image[5:55, middle - 5 : middle - 3] = 0  # as in l
    image[5:55, middle + 3 : middle + 5] = 0
    assert (mend(image, seams)[5:55, middle - 5 : middle + 5] == 0).all()


def test_the_inside_of_a_thin_letter_stays_open_however_much_the_tears_took():
    """Gaps as wide as the tears here take are closed, but not where they are wider than strokes."""
    image, seams = print_page(natural=[12, 13, 14], taken=8)
    image[:, :] = np.where(image < 128, 255, image)  # nothing but thin letters
    for column in COLUMNS:
        for top in range(0, 1500, 40):
            for x in range(column - 90, column + 80, 12):
                image[top : top + 30, x : x + 3] = 0
            image[top + 14 : top + 17, column - 60 : column - 4] = 0  # a level stroke that was torn
            image[top + 14 : top + 17, column + 4 : column + 60] = 0
    mended = mend(image, seams)
    np.testing.assert_array_equal(mended, image)


@pytest.mark.parametrize("gap", range(1, 9))
def test_gaps_are_closed_up_to_their_width_and_not_a_pixel_more(gap):
    image = np.zeros((2, 60, 3), np.uint8)
    image[0, 20 : 20 + gap] = image[1, 20 : 20 + gap + 1] = 255
    closed = _darken_gaps(image, gap)
    assert (closed[0] == 0).all()
    np.testing.assert_array_equal(closed[1], image[1])


def test_lost_paper_is_filled_from_both_sides_unless_it_is_too_wide():
    for lost, is_filled in ((5, True), (60, False)):
        image = np.full((40, 120, 3), 250, np.uint8)
        image[10:20] = 0
        image[:, 50 : 50 + lost] = 255
        seam = Seam("a", "b", np.full(40, 50, np.int32), np.full(40, 50 + lost, np.int32))
        mended = mend(image, [seam])
        assert (mended[10:20, 52] == 0).all() == is_filled
        assert (mended[30, 52] == 250).all() == is_filled


def test_ink_on_one_side_alone_is_not_carried_over_the_seam():
    image, seams = print_page(natural=[12, 13, 14], taken=6)
    seam = seams[3]
    image[:8, 400:440] = 255
    image[:8, 380:397] = 0
    assert (mend(image, [seam])[:8, 404:436] == 255).all()
