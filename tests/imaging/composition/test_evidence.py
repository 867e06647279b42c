import numpy as np
import pytest

from deshred.elements import Arrangement, ShredSet, Slot
from deshred.errors import InputError, MismatchError
from deshred.executors import ThreadExecutor
from deshred.imaging.composition import CompositionOptions, LazyPages, compose
from tests.imaging.composition.cut_pages import arrange, cut, draw_pattern, make_shred


def test_straight_cuts_come_together_pixel_for_pixel():
    page = draw_pattern()
    shreds = cut(page, np.full((3, 600), [[60], [150], [220]]))
    composed = compose(shreds, arrange("s0", "s1", "s2", "s3"))[0]
    np.testing.assert_array_equal(composed.image, page)
    assert composed.mask.all()
    assert [(p.shred_id, p.x, p.y) for p in composed.placements] == [
        ("s0", 0, 0),
        ("s1", 60, 0),
        ("s2", 150, 0),
        ("s3", 220, 0),
    ]


def test_pages_composed_side_by_side_are_those_composed_one_by_one():
    shreds = cut(draw_pattern(), np.full((3, 600), [[60], [150], [220]]))
    pages = tuple(arrange(*names).pages[0] for names in (("s2", "s0"), ("s1",), ("s3",)))
    arrangement = Arrangement(pages, (), (), 0.0, 0.0)
    seen = []
    at_once = compose(
        shreds, arrangement, executor=ThreadExecutor(3), progress=lambda *step: seen.append(step)
    )
    for page, alone in zip(at_once, compose(shreds, arrangement), strict=True):
        np.testing.assert_array_equal(page.image, alone.image)
        assert page.placements == alone.placements
    assert seen[-1] == ("composing", 3, 3)


def test_pages_composed_when_asked_for_are_those_composed_at_once():
    shreds = cut(draw_pattern(), np.full((3, 600), [[60], [150], [220]]))
    pages = tuple(arrange(*names).pages[0] for names in (("s2", "s0"), ("s1",), ("s3",)))
    arrangement = Arrangement(pages, (), (), 0.0, 0.0)
    lazy, at_once = LazyPages(shreds, arrangement), compose(shreds, arrangement)
    assert [lazy.find_placements(i) for i in range(3)] == [page.placements for page in at_once]
    assert len(lazy) == len(at_once)
    for page, composed in zip(lazy[0:3], at_once, strict=True):
        np.testing.assert_array_equal(page.image, composed.image)
    np.testing.assert_array_equal(lazy[-1].image, at_once[-1].image)
    assert lazy[-1] is lazy[2]  # the last one is kept
    assert [shred.id for shred in lazy.choose(0)] == ["s2", "s0"]
    with pytest.raises(IndexError):
        lazy[3]


def test_shreds_touch_along_their_torn_outline_not_along_their_boxes():
    page = draw_pattern()
    y = np.arange(600)
    tears = np.stack([100 + 12 * np.sin(y / 25), 200 + 9 * np.cos(y / 40)])
    shreds = cut(page, tears)
    assert sum(shred.mask.shape[1] for shred in shreds) > 330  # the boxes overlap
    composed = compose(shreds, arrange("s0", "s1", "s2"), options=CompositionOptions(straightens=False))[0]
    np.testing.assert_array_equal(composed.image, page)


def test_offsets_move_shreds_down_and_the_highest_defines_the_top():
    page = draw_pattern()
    shreds = cut(page, np.full((2, 600), [[100], [200]]))
    composed = compose(shreds, arrange("s0", "s1", "s2", offsets=[0, -7, 5]))[0]
    assert composed.image.shape == (612, 300, 3)
    assert [p.y for p in composed.placements] == [7, 0, 12]
    np.testing.assert_array_equal(composed.image[12:612, 200:], page[:, 200:])
    assert (composed.image[:12, 200:] == 255).all()
    assert not composed.mask[:12, 200:].any()


def test_no_ink_is_lost_where_shreds_overlap():
    rng = np.random.default_rng(1)
    y = np.arange(600)
    left_mask = np.arange(120) < (100 + rng.integers(-15, 15, 600))[:, None]
    right_mask = np.arange(120) >= (20 + rng.integers(-15, 15, 600))[:, None]
    shreds = ShredSet(
        [
            make_shred("a", draw_pattern(600, 120, 2), left_mask),
            make_shred("b", draw_pattern(600, 120, 3), right_mask),
        ]
    )
    composed = compose(shreds, arrange("a", "b"), options=CompositionOptions(straightens=False))[0]
    for shred, placed in zip(shreds, composed.placements, strict=True):
        at = np.ix_(placed.y + y, placed.x + np.arange(120))
        assert (composed.image[at][shred.mask] <= shred.image[shred.mask]).all()
        assert composed.mask[at][shred.mask].all()


def test_leaning_and_bowed_shreds_are_set_upright_and_close_the_gap():
    page = draw_pattern(2000, 300)
    shreds = list(cut(page, np.full((2, 2000), [[100], [200]])))
    y = np.arange(2000)
    bend = np.rint(25 * (y / 2000 - 0.5) + 20 * (y / 2000 - 0.5) ** 2).astype(int) + 30
    image, mask = np.zeros((2000, 160, 3), np.uint8), np.zeros((2000, 160), bool)
    for row, shift in enumerate(bend):
        image[row, shift : shift + 100] = shreds[1].image[row]
        mask[row, shift : shift + 100] = True
    pile = ShredSet([shreds[0], make_shred("s1", image, mask), shreds[2]])
    composed = compose(pile, arrange("s0", "s1", "s2"))[0]
    width = composed.mask.any(axis=0).sum()
    assert abs(width - 300) <= 2
    assert (~composed.mask[:, composed.mask.any(axis=0)]).mean() < 0.01
    as_is = compose(pile, arrange("s0", "s1", "s2"), options=CompositionOptions(straightens=False))[0]
    assert as_is.mask.any(axis=0).sum() > 305


def test_a_shred_whose_corner_is_torn_off_is_not_bent():
    image, mask = draw_pattern(2000, 100), np.ones((2000, 100), bool)
    mask[1200:, 50:] = False
    composed = compose(ShredSet([make_shred("a", image, mask)]), arrange("a"))[0]
    np.testing.assert_array_equal(composed.mask, mask)
    np.testing.assert_array_equal(composed.image[mask], image[mask])


def test_a_placement_is_exact_in_the_middle_row_of_a_straightened_shred():
    y = np.arange(1001)
    mask = (np.arange(150) >= (20 + y // 40)[:, None]) & (np.arange(150) < (120 + y // 40)[:, None])
    image = draw_pattern(1001, 150)
    composed = compose(ShredSet([make_shred("a", image, mask)]), arrange("a"))[0]
    placed = composed.placements[0]
    inside = mask[500]
    row = composed.image[placed.y + 500, placed.x : placed.x + 150]
    np.testing.assert_array_equal(row[inside], image[500][inside])


def test_a_short_shred_between_long_ones_keeps_its_place():
    long, short = draw_pattern(600, 100, 1), draw_pattern(80, 90, 2)
    pile = ShredSet([make_shred("a", long), make_shred("b", short), make_shred("c", long)])
    composed = compose(pile, arrange("a", "b", "c", offsets=[0, 200, 0]))[0]
    assert [p.x for p in composed.placements] == [0, 100, 190]


def test_long_shreds_may_not_run_over_each_other_beside_a_narrow_scrap():
    long, scrap = draw_pattern(600, 100, 1), draw_pattern(100, 4, 2)
    mask = np.ones((600, 100), bool)
    mask[:100, :60] = False  # the third could slide over the first where the scrap is
    pile = ShredSet([make_shred("a", long), make_shred("b", scrap), make_shred("c", long, mask)])
    composed = compose(pile, arrange("a", "b", "c"), options=CompositionOptions(straightens=False))[0]
    assert composed.placements[2].x >= 100


def test_shreds_without_a_common_row_stand_side_by_side():
    pile = ShredSet([make_shred("a", draw_pattern(50, 40)), make_shred("b", draw_pattern(50, 40, 1))])
    composed = compose(pile, arrange("a", "b", offsets=[0, 300]))[0]
    assert composed.image.shape == (350, 80, 3)
    assert composed.placements[1].x == 40


def test_every_page_of_an_arrangement_is_composed_and_shreds_must_be_known():
    pile = ShredSet([make_shred("a", draw_pattern(50, 40)), make_shred("b", draw_pattern(60, 50))])
    pages = compose(pile, Arrangement(((Slot("b", 3),), (Slot("a", 0),)), (), (), 0.0, 0.0))
    assert [page.image.shape[:2] for page in pages] == [(60, 50), (50, 40)]
    with pytest.raises(MismatchError, match="no shred 'c'"):
        compose(pile, arrange("c"))


def test_a_shred_whose_mask_is_empty_does_not_stop_the_page():
    pile = ShredSet(
        [
            make_shred("a", draw_pattern(50, 40)),
            make_shred("b", draw_pattern(50, 40), np.zeros((50, 40), bool)),
        ]
    )
    composed = compose(pile, arrange("a", "b"))[0]
    assert composed.mask.sum() == 50 * 40


def test_a_margin_surrounds_the_page_and_placements_know_it():
    pile = ShredSet([make_shred("a", draw_pattern(50, 40))])
    composed = compose(pile, arrange("a"), options=CompositionOptions(margin=10))[0]
    assert composed.image.shape == (70, 60, 3)
    assert (composed.placements[0].x, composed.placements[0].y) == (10, 10)


@pytest.mark.parametrize("copy", ["evidence", "reading"])
def test_a_page_that_would_be_empty_paper_is_refused_before_it_fills_the_memory(copy):
    shreds = ShredSet([make_shred(name, draw_pattern(seed=seed)) for seed, name in enumerate("ab")])
    for order, options in (
        (arrange("a", "b", offsets=[0, 90_000]), None),
        (arrange("a", "b"), CompositionOptions(margin=10**6)),
    ):
        with pytest.raises(InputError, match="most of it empty"):
            compose(shreds, order, copy=copy, options=options)
