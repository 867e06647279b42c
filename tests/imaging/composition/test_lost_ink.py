from dataclasses import replace

import numpy as np
import scipy.ndimage

from deshred.elements import ShredSet
from deshred.imaging.composition import (
    compose,
    erase_marks,
    find_lost_ink,
    mark_lost_ink,
    transfer_lost_ink,
)
from deshred.imaging.composition.lost_ink import MARK
from tests.imaging.composition.cut_pages import arrange, make_shred


def two_shreds(draw):
    """A white page 200 px wide that was drawn on; of columns 100 to 103 the paper is lost."""
    page = np.full((300, 200, 3), 250, np.uint8)
    draw(page)
    return ShredSet([make_shred("a", page[:, :100]), make_shred("b", page[:, 104:])])


def find(draw):
    return find_lost_ink(compose(two_shreds(draw), arrange("a", "b"))[0])


def test_a_point_that_was_cut_is_told_as_a_sliver_with_its_join_and_rows():
    def draw(page):
        page[150:156, 98:104] = 20  # 2 of 6 px are left

    (place,) = find(draw)
    assert (place.left, place.right, place.side, place.is_sliver) == ("a", "b", "left", True)
    assert abs(place.top - 150) <= 1
    assert abs(place.bottom - 156) <= 1


def test_a_stroke_that_stops_at_the_tear_is_told_but_is_no_sliver():
    def draw(page):
        page[60:64, 104:150] = 20

    (place,) = find(draw)
    assert (place.side, place.is_sliver) == ("right", False)


def test_a_stroke_that_goes_on_across_the_tear_is_not_told_even_where_it_climbs():
    def draw(page):
        page[60:64, 50:100] = 20
        page[63:67, 104:150] = 20
        page[200:203, 20:80] = 20  # and one that ends before the tear

    assert find(draw) == ()


def test_the_fringe_of_a_colored_sheet_is_no_ink():
    def draw(page):
        page[:, 98:100] = (230, 120, 30)

    assert find(draw) == ()


def draw_point(page):
    page[150:156, 98:104] = 20
    page[130:180:10, 60:96] = 20


def test_places_get_a_thin_frame_in_a_color_that_nothing_else_has_and_ink_stays_on_top():
    page = compose(two_shreds(draw_point), arrange("a", "b"))[0]
    places = [place for place in find_lost_ink(page) if place.is_sliver]
    marked = mark_lost_ink(page, places)
    changed = (marked.image != page.image).any(axis=2)
    assert 0 < changed.sum() < 250
    assert (marked.image[changed] == MARK).all()
    assert not changed[page.image[..., 0] < 100].any()
    assert not changed[148:158, 92:106].any()  # what is inside can be seen
    rows, columns = np.nonzero(changed)
    assert abs((rows.min() + rows.max()) / 2 - 153) < 3
    assert abs((columns.min() + columns.max()) / 2 - 99) < 4
    assert marked.copy == page.copy


def test_frames_that_overlap_become_one():
    page = compose(two_shreds(draw_point), arrange("a", "b"))[0]
    (place,) = [place for place in find_lost_ink(page) if place.is_sliver]
    alone = mark_lost_ink(page, [place]).image
    both = mark_lost_ink(page, [place, replace(place, top=place.top + 10, bottom=place.bottom + 10)]).image
    crossed = (both[place.bottom + 14] == MARK).all(axis=1)
    assert (alone[place.bottom + 14] == MARK).all(axis=1).sum() > crossed.sum()


def test_a_place_is_the_same_paper_in_the_other_copy():
    shreds, order = two_shreds(draw_point), arrange("a", "b", offsets=[40, 40])
    evidence, reading = (compose(shreds, order, copy=copy)[0] for copy in ("evidence", "reading"))
    places = [place for place in find_lost_ink(evidence) if place.is_sliver]
    (moved,) = transfer_lost_ink(places, evidence, reading)
    around = reading.image[moved.top - 4 : moved.bottom + 4, moved.x - 6 : moved.x + 7]
    assert around.min() < 100
    assert (moved.left, moved.right, moved.side) == ("a", "b", "left")


def test_without_its_frames_a_picture_is_what_it_was_where_paper_is_white():
    page = compose(two_shreds(draw_point), arrange("a", "b"))[0]
    marked = mark_lost_ink(page, find_lost_ink(page))
    erased = erase_marks(marked.image)
    assert not (erased == MARK).all(axis=2).any()
    assert np.array_equal(erased < 128, page.image < 128)
    assert erase_marks(page.image) is page.image


def test_looking_around_the_tear_tells_the_same_slivers_as_looking_at_the_whole_page():
    rng = np.random.default_rng(4)

    def draw(page):
        for top, left, high, wide in rng.integers((4, 60, 3, 3), (280, 120, 9, 22), (16, 4)):
            page[top : top + high, left : left + wide] = 20

    page = compose(two_shreds(draw), arrange("a", "b"))[0]
    places = find_lost_ink(page)
    dark = page.image.max(axis=2) < 250 * 0.65
    labels, count = scipy.ndimage.label(dark, np.ones((3, 3)))
    boxes = scipy.ndimage.find_objects(labels, count)
    small = [max(rows.stop - rows.start, cols.stop - cols.start) <= 12 for rows, cols in boxes]
    seam = page.seams[0]
    for place in places:
        rows = np.arange(place.top, place.bottom)
        columns = seam.stops[rows] - 1 if place.side == "left" else seam.starts[rows]
        step = -1 if place.side == "left" else 1
        ends = np.stack([columns, columns + step], axis=1)
        touched = [[labels[y, x] for x in xs if labels[y, x]] for y, xs in zip(rows, ends, strict=True)]
        expected = all(any(small[one - 1] for one in row) for row in touched if row)
        assert place.is_sliver == expected
    assert {place.is_sliver for place in places} == {True, False}
