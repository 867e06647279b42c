import numpy as np

from deshred.elements import Seam
from deshred.imaging.composition.fringes import clean_rim, clear_seams
from deshred.imaging.composition.uprights import find_sides
from tests.imaging.composition.cut_pages import make_shred


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


def torn_page(paper=(240, 236, 230)):
    """Noisy paper, torn at column 100: 4 px lost, and gray fringe on both sides of them."""
    rng = np.random.default_rng(0)
    image = np.clip(np.array(paper) + rng.normal(0, 2, (300, 200, 1)), 0, 255).astype(np.uint8)
    image[:, 98:106] = (215, 205, 190)
    image[:, 100:104] = 255
    return image, Seam("a", "b", np.full(300, 100, np.int32), np.full(300, 104, np.int32))


def test_where_nothing_is_written_a_seam_is_not_seen_any_more():
    image, seam = torn_page()
    cleared = clear_seams(image, [seam]).astype(int)
    assert np.abs(cleared[:, 90:114] - np.array((240, 236, 230))).mean() < 3
    far = np.r_[0:88, 116:200]
    np.testing.assert_array_equal(cleared[:, far], image[:, far])


def test_ink_at_a_seam_and_around_it_stays_as_it_is():
    image, seam = torn_page()
    image[100:130, 90:97] = 40
    image[200:203, 105:112] = (40, 40, 160)
    cleared = clear_seams(image, [seam])
    np.testing.assert_array_equal(cleared[98:132], image[98:132])
    np.testing.assert_array_equal(cleared[199:204], image[199:204])
    assert (cleared[150] != image[150]).any()


def test_a_colored_area_is_not_taken_for_paper():
    image, seam = torn_page()
    image[100:120, :98] = image[100:120, 106:] = (250, 250, 90)
    np.testing.assert_array_equal(clear_seams(image, [seam])[100:120], image[100:120])


def test_a_seam_at_the_rim_of_the_page_or_with_much_paper_lost_stays():
    image, seam = torn_page()
    for stops, starts in ((4, 6), (100, 160)):
        odd = Seam("a", "b", np.full_like(seam.stops, stops), np.full_like(seam.starts, starts))
        np.testing.assert_array_equal(clear_seams(image, [odd]), image)
