import numpy as np

from deshred.elements import Seam
from deshred.imaging.composition.mending import clean_rim, mend
from deshred.imaging.composition.uprights import find_sides
from tests.imaging.composition.cut_pages import make_shred


def page_with_gap(gap, height=40):
    """White paper, a black bar across, and lost paper from column 50 on."""
    image = np.full((height, 120, 3), 255, np.uint8)
    image[10:20] = 0
    image[:, 50 : 50 + gap] = 255
    seam = Seam("a", "b", np.full(height, 50, np.int32), np.full(height, 50 + gap, np.int32))
    return image, seam


def test_a_stroke_goes_on_over_lost_paper_and_white_stays_white():
    image, seam = page_with_gap(5)
    mended = mend(image, [seam])
    assert (mended[10:20] == 0).all()
    assert (mended[:10] == 255).all()


def test_lost_paper_that_is_too_wide_stays_visible():
    image, seam = page_with_gap(60)
    np.testing.assert_array_equal(mend(image, [seam]), image)


def test_ink_on_one_side_alone_is_not_carried_over_the_seam():
    image, seam = page_with_gap(4)
    image[10:20, 54:] = 255
    mended = mend(image, [seam])
    assert (mended[10:20, 56:] == 255).all()


def test_nothing_changes_away_from_the_seam():
    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, (40, 120, 3)).astype(np.uint8)
    _, seam = page_with_gap(4)
    mended = mend(image, [seam])
    far = np.r_[0:46, 58:120]
    np.testing.assert_array_equal(mended[:, far], image[:, far])


def fringed(ink=None):
    """White paper on orange, its outermost 2 px mixed with it; `ink` colors a bar up to the rim."""
    orange, mask = np.array([240, 140, 40]), np.zeros((400, 60), bool)
    mask[:, 10:50] = True
    image = np.full((400, 60, 3), 250, np.uint8)
    image[~mask] = orange
    if ink is not None:
        image[100:140, 10:30] = ink
    for depth, share in ((0, 0.5), (1, 0.25)):
        for column in (10 + depth, 49 - depth):
            image[:, column] = (share * orange + (1 - share) * image[:, column]).astype(np.uint8)
    return make_shred("a", image, mask)


def test_the_fringe_of_the_colored_sheet_goes_and_ink_in_it_stays():
    shred = fringed(ink=(20, 20, 20))
    cleaned = clean_rim(shred, find_sides(shred.mask)).astype(int)
    on_paper = cleaned[:, 10:50]
    assert np.ptp(on_paper, axis=2).max() <= 8  # no color left
    assert cleaned[120, 11].max() < 130
    assert cleaned[300, 10:50].min() >= 235


def test_colored_ink_at_the_rim_of_a_shred_without_fringe_keeps_its_color():
    image = np.full((400, 60, 3), 250, np.uint8)
    image[100:140, :30] = (200, 30, 30)
    shred = make_shred("a", image)
    np.testing.assert_array_equal(clean_rim(shred, find_sides(shred.mask)), image)


def test_beyond_the_paper_its_outermost_pixel_goes_on():
    shred = fringed()
    cleaned = clean_rim(shred, find_sides(shred.mask))
    np.testing.assert_array_equal(cleaned[:, 8], cleaned[:, 10])
    np.testing.assert_array_equal(cleaned[:, 51], cleaned[:, 49])
