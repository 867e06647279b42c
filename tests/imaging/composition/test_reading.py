"""The reading copy against what the page was before it was shredded askew."""

import cv2
import numpy as np
import pytest

from deshred.elements import ShredSet, Slot
from deshred.imaging.composition import CompositionOptions, MissingPaper, compose
from deshred.simulation.shredding import Damage, ShreddingOptions, shred_page
from tests.imaging.composition.cut_pages import arrange, make_shred

CLEAN = Damage(lost=0, ink_loss=0.0, ragged=1.0, fray=0.0, specks=0.0)


def draw_lines(height=1600, width=1200, seed=0):
    """Lines of words of black boxes, a margin around, and a long rule near the top and the bottom."""
    rng = np.random.default_rng(seed)
    page = np.full((height, width, 3), 250, np.uint8)
    for y in range(220, height - 200, 48):
        x = 100
        while x < width - 160:
            letter = int(rng.integers(8, 22))
            page[y : y + int(rng.integers(16, 26)), x : x + letter] = 30
            x += letter + int(rng.integers(6, 20))
    page[120:126, 60 : width - 60] = 30
    page[-126:-120, 60 : width - 60] = 30
    return page


def turn(page, degrees):
    height, width = page.shape[:2]
    move = cv2.getRotationMatrix2D((width / 2, height / 2), -degrees, 1.0)
    return cv2.warpAffine(page, move, (width, height), borderValue=(250, 250, 250))


def shred(page, *, tilt=0.0, shreds=12, seed=1, damage=CLEAN):
    cut = shred_page(
        page,
        np.random.default_rng(seed),
        options=ShreddingOptions(shreds=shreds, shift=8, tilt_degrees=tilt, damage=damage),
    )
    pile = ShredSet([make_shred(f"s{i:02}", one.image, one.mask) for i, one in enumerate(cut)])
    return pile, arrange(*pile.ids, offsets=[-one.shift for one in cut])


def rule_rows(image):
    """The upper end of the upper rule, column by column, away from its ends."""
    dark = image[..., 0] < 128
    columns = np.flatnonzero(dark.any(axis=0))[150:-150]
    return columns, dark[:, columns].argmax(axis=0)


def slope_degrees(image):
    columns, rows = rule_rows(image)
    return np.degrees(np.arctan(np.polyfit(columns, rows, 1)[0]))


@pytest.mark.parametrize("degrees", [-2.5, 0.0, 1.2, 3.0])
def test_lines_of_a_sheet_that_went_askew_through_the_shredder_are_level(degrees):
    pile, arrangement = shred(turn(draw_lines(), degrees))
    evidence, reading = (compose(pile, arrangement, copy=copy)[0] for copy in ("evidence", "reading"))
    assert abs(slope_degrees(evidence.image) - degrees) < 0.15
    assert abs(slope_degrees(reading.image)) < 0.08
    assert (evidence.copy, reading.copy) == ("evidence", "reading")


def test_shreds_that_were_glued_askew_are_turned_and_not_only_sheared():
    pile, arrangement = shred(draw_lines(), tilt=1.5)
    reading = compose(pile, arrangement, copy="reading")[0]
    columns, rows = rule_rows(reading.image)
    rest = rows - np.polyval(np.polyfit(columns, rows, 1), columns)
    assert np.abs(rest).max() < 3.5
    assert abs(slope_degrees(reading.image)) < 0.15


def test_a_page_without_lines_is_not_turned():
    rng = np.random.default_rng(3)
    page = np.full((1200, 900, 3), 250, np.uint8)
    for x, y in rng.integers(50, 850, (60, 2)):
        page[y : y + 5, x : x + 5] = 40
    pile, arrangement = shred(page, shreds=5)
    reading = compose(pile, arrangement, copy="reading")[0]
    assert abs(reading.image.shape[1] - 900) < 30
    left = [int(np.median(seam.starts[seam.starts >= 0])) for seam in reading.seams]
    ends = [seam.starts[seam.starts >= 0][[20, -20]] for seam in reading.seams]
    assert all(abs(int(a) - int(b)) < 8 for a, b in ends), left


def test_the_reading_copy_of_a_straight_page_keeps_the_place_of_everything():
    page = draw_lines()
    pile, arrangement = shred(page)
    reading = compose(pile, arrangement, copy="reading")[0]
    assert abs(reading.image.shape[1] - page.shape[1]) < 16
    columns, rows = rule_rows(reading.image)
    assert np.ptp(rows) <= 3
    assert columns[-1] - columns[0] == pytest.approx(1200 - 420, abs=12)


def test_missing_paper_is_hatched_in_the_reading_copy_and_not_mended():
    pile, arrangement = shred(draw_lines(), shreds=6)
    missing = [MissingPaper("s02", "right", 30), MissingPaper("s05", "right", 90, "margin")]
    whole = compose(pile, arrangement, copy="reading")[0]
    parted = compose(pile, arrangement, copy="reading", missing=missing)[0]
    assert parted.image.shape[1] - whole.image.shape[1] == pytest.approx(120, abs=4)
    seam = parted.seams[2]
    rows = np.flatnonzero(seam.stops >= 0)[100:-100]
    assert np.median((seam.starts - seam.stops)[rows]) >= 27
    middle = parted.image[rows, (seam.starts + seam.stops)[rows] // 2]
    assert np.isin(middle, [205, 255]).all()


def test_odd_piles_are_drawn_too():
    empty = make_shred("empty", np.zeros((50, 40, 3), np.uint8), np.zeros((50, 40), bool))
    scrap = make_shred("scrap", np.full((30, 20, 3), 240, np.uint8))
    long = make_shred("long", draw_lines(900, 120))
    pile = ShredSet([empty, scrap, long])
    options = CompositionOptions(margin=7)
    for names in (("scrap",), ("empty", "long"), ("long", "scrap", "empty"), ("empty",)):
        page = compose(pile, arrange(*names), copy="reading", options=options)[0]
        assert [placement.shred_id for placement in page.placements] == list(names)
    apart = compose(pile, arrange("scrap", "long", offsets=[0, 500]), copy="reading")[0]
    assert apart.image.shape[0] > 1300


def test_slots_of_a_reading_copy_are_those_of_the_arrangement():
    pile, arrangement = shred(draw_lines(), shreds=4)
    (page,) = compose(pile, arrangement, copy="reading")
    assert [p.shred_id for p in page.placements] == [slot.shred_id for slot in arrangement.pages[0]]
    assert all(isinstance(slot, Slot) for slot in arrangement.pages[0])
    assert [(seam.left, seam.right) for seam in page.seams] == list(
        zip(pile.ids[:-1], pile.ids[1:], strict=True)
    )
