import numpy as np

from deshred.elements import ShredSet
from deshred.imaging.composition import compose, find_lost_ink, mark_lost_ink
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


def test_places_are_marked_in_the_tear_and_leave_the_ink_as_it_is():
    def draw(page):
        page[150:156, 98:104] = 20

    page = compose(two_shreds(draw), arrange("a", "b"))[0]
    marked = mark_lost_ink(page, find_lost_ink(page))
    red = (marked.image != page.image).any(axis=2)
    assert red[150:156, 101:104].all()
    assert not red[:, :100].any()
    assert marked.copy == page.copy
