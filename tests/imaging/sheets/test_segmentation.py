from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from deshred.elements import Mask, Scan, Shred, Source
from deshred.errors import InputError, SettingsError
from deshred.imaging.sheets.cutouts import LOST_INK, LOST_SIDE
from deshred.imaging.sheets.looks import look_at
from deshred.imaging.sheets.overview import draw_overview
from deshred.imaging.sheets.segmentation import (
    Segmentation,
    SegmentationOptions,
    parse_color,
    refuse_blank,
    segment,
)
from deshred.simulation.layouts import Layout, LayoutOptions, lay_out

GUIDE = Path(__file__).parents[3] / "docs" / "scanning.md"
DATA = Path(__file__).parents[4] / "shared" / "data"
COLORS = {
    "orange": (250, 180, 88),
    "green": (70, 160, 80),
    "blue": (50, 90, 180),
    "red": (200, 50, 45),
    "dark grey": (75, 75, 78),
    "black": (28, 28, 30),
}
WORN = LayoutOptions(
    dpi=150,
    width_mm=150,
    height_mm=110,
    gap_mm=3,
    rim_mm=1,
    gradient=0.25,
    shadow=0.2,
    noise=3,
    jpeg_quality=85,
)


def torn_shreds(count: int = 6, *, seed: int = 0, height: int = 1000, width: int = 110) -> list[Shred]:
    """Ragged shreds at 300 dpi with lines of black bars that reach the edges, as print does."""
    rng = np.random.default_rng(seed)
    shreds = []
    for i in range(count):
        left, right = (
            cv2.GaussianBlur(rng.normal(0, 22, (height, 1)), (1, 0), sigmaX=1, sigmaY=12)[:, 0]
            for _ in range(2)
        )
        columns = np.arange(width + 40)
        mask = (columns >= (20 + left)[:, None]) & (columns < (20 + width + right)[:, None])
        image = np.full((height, width + 40, 3), 246, np.uint8)
        for y in range(40, height - 40, 46):
            x = int(rng.integers(0, 60))
            image[y : y + 16, x : x + int(rng.integers(30, 100))] = 25
        image[height // 2 : height // 2 + 5] = 20  # a ruled line across
        shreds.append(Shred(f"s{i}", image, mask, 300.0, Source(Path("torn.png"), "")))
    return shreds


def scan_of(layout: Layout) -> Scan:
    return Scan(layout.image, layout.dpi, Source(Path("sheet.png"), "0" * 64))


def lay(options: LayoutOptions, shreds: list[Shred] | None = None, seed: int = 1) -> Layout:
    return lay_out(shreds or torn_shreds(), np.random.default_rng(seed), options=options)


def footprint(segmentation: Segmentation, index: int) -> Mask:
    width, height = segmentation.size
    full = np.zeros((height, width), bool)
    full[segmentation.cutouts[index].box.slices] = segmentation.cutouts[index].mask
    return full


def overlap(a: Mask, b: Mask) -> float:
    return float((a & b).sum() / (a | b).sum())


def best_overlaps(layout: Layout, segmentation: Segmentation) -> list[float]:
    found = [footprint(segmentation, i) for i in range(len(segmentation.cutouts))]
    return [max(overlap(layout.truth(i), mask) for mask in found) for i in range(len(layout.laid))]


@pytest.mark.parametrize("color", COLORS)
def test_every_shred_is_found_on_every_color(color: str) -> None:
    layout = lay(replace(WORN, color=COLORS[color], max_lean=4))
    segmentation = segment(scan_of(layout))
    assert len(segmentation.shreds) == len(layout.laid) == 6
    assert min(best_overlaps(layout, segmentation)) > 0.965
    assert segmentation.background is not None
    difference = np.array(segmentation.background.color, int) - COLORS[color]
    assert np.abs(difference).max() < 45  # the lamp is weaker in the far corner


@pytest.mark.parametrize("dpi", [100, 300, 600])
def test_shreds_are_found_at_every_resolution(dpi: int) -> None:
    layout = lay(replace(WORN, dpi=dpi, width_mm=50, height_mm=60, max_lean=2), torn_shreds(2, height=500))
    segmentation = segment(scan_of(layout))
    assert len(segmentation.shreds) == len(layout.laid)
    assert min(best_overlaps(layout, segmentation)) > 0.96
    assert {shred.dpi for shred in segmentation.shreds} == {dpi}


def test_the_outline_is_true_to_the_pixel() -> None:
    layout = lay(LayoutOptions(dpi=300, width_mm=100, height_mm=100, noise=2))
    segmentation = segment(scan_of(layout))
    for index in range(len(layout.laid)):
        truth, found = layout.truth(index), footprint(segmentation, index)
        rows = truth.any(axis=1) & found.any(axis=1)
        error = np.abs(truth[rows].argmax(axis=1) - found[rows].argmax(axis=1))
        assert np.percentile(error, 95) <= 1


def test_ink_at_the_edge_and_inside_is_paper() -> None:
    layout = lay(LayoutOptions(dpi=300, width_mm=120, height_mm=100))
    segmentation = segment(scan_of(layout))
    grey = layout.image.mean(axis=2)
    for index in range(len(layout.laid)):
        inner = cv2.erode(layout.truth(index).astype(np.uint8), np.ones((5, 5), np.uint8)).astype(bool)
        ink = inner & (grey < 80)
        assert ink.sum() > 1000
        assert (footprint(segmentation, index)[ink]).mean() > 0.999


def test_a_straight_shred_keeps_its_pixels() -> None:
    layout = lay(WORN)
    scan = scan_of(layout)
    segmentation = segment(scan)
    for shred, cutout in zip(segmentation.shreds, segmentation.cutouts, strict=True):
        assert cutout.trace.is_exact
        assert np.array_equal(shred.image, scan.image[cutout.box.slices])
        assert np.array_equal(shred.mask, cutout.mask)


def test_a_leaning_shred_becomes_upright_and_can_be_traced_back() -> None:
    layout = lay(replace(WORN, dpi=300, max_lean=5, noise=0, jpeg_quality=None))
    scan = scan_of(layout)
    segmentation = segment(scan)
    leans = sorted(one.lean for one in layout.laid)
    assert np.allclose(sorted(-c.angle for c in segmentation.cutouts), leans, atol=0.5)
    for shred, cutout in zip(segmentation.shreds, segmentation.cutouts, strict=True):
        if cutout.trace.is_exact:
            continue
        rows, columns = np.nonzero(shred.mask)
        x, y = cutout.trace.to_scan(np.stack([columns, rows], axis=-1)).T
        x, y = np.rint(x).astype(int), np.rint(y).astype(int)
        back = np.zeros(scan.image.shape[:2], bool)
        back[y, x] = True
        back = cv2.morphologyEx(back.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8)).astype(
            bool
        )
        full = np.zeros_like(back)
        full[cutout.box.slices] = cutout.mask
        assert overlap(back, full) > 0.98
        colors = np.abs(shred.image[rows, columns].astype(int) - scan.image[y, x])
        assert np.median(colors) <= 2
        widths = shred.mask.sum(axis=1)
        middles = np.array(
            [np.flatnonzero(row).mean() for row in shred.mask[widths > 0.7 * np.median(widths)]]
        )
        drift = np.polyfit(np.arange(middles.size), middles, 1)[0]
        assert abs(np.degrees(np.arctan(drift))) < 0.5


def test_a_curled_shred_is_straightened() -> None:
    layout = lay(replace(WORN, dpi=300, width_mm=120, curl=8.0), torn_shreds(4, height=1100, width=90))
    segmentation = segment(scan_of(layout))
    assert not any(cutout.trace.is_exact for cutout in segmentation.cutouts)
    for shred in segmentation.shreds:
        rows = np.flatnonzero(shred.mask.any(axis=1))[20:-20]
        middles = np.array([np.flatnonzero(shred.mask[row]).mean() for row in rows])
        bow = np.polyfit(rows, middles, 2)[0] * (rows.size / 2) ** 2
        assert abs(bow) < 3  # 19 px as laid


def test_lying_shreds_are_turned_upright() -> None:
    layout = lay(replace(WORN, width_mm=110, height_mm=150, lying=True, max_lean=1))
    segmentation = segment(scan_of(layout))
    assert len(segmentation.shreds) == len(layout.laid)
    assert all(shred.mask.shape[0] > 3 * shred.mask.shape[1] for shred in segmentation.shreds)
    assert all(abs(cutout.angle - 90) < 2 for cutout in segmentation.cutouts)
    scan = scan_of(layout)
    shred, cutout = segmentation.shreds[0], segmentation.cutouts[0]
    x, y = cutout.trace.to_scan(np.array([[3.0, 10.0]]))[0]
    assert np.array_equal(shred.image[10, 3], scan.image[round(y), round(x)])


def test_several_rows_of_short_shreds_are_numbered_in_reading_order() -> None:
    layout = lay(replace(WORN, width_mm=90, height_mm=130), torn_shreds(9, height=400))
    segmentation = segment(scan_of(layout))
    assert [shred.id for shred in segmentation.shreds] == [f"sheet#{i:02d}" for i in range(1, 10)]
    assert min(overlap(layout.truth(i), footprint(segmentation, i)) for i in range(9)) > 0.96


def test_touching_shreds_are_separated_and_say_so() -> None:
    layout = lay(replace(WORN, dpi=300, max_lean=2, touching_pairs=2))
    segmentation = segment(scan_of(layout))
    assert len(segmentation.shreds) == len(layout.laid)
    assert min(best_overlaps(layout, segmentation)) > 0.95
    warned = sum("touched" in " ".join(cutout.warnings) for cutout in segmentation.cutouts)
    assert warned >= 2


def glued(layout: Layout) -> np.ndarray:
    image = layout.image.copy()
    first, second = (layout.laid[i] for i in (0, 1))
    bottom = first.y + first.mask.shape[0] - 8
    image[first.y + 8 : bottom, first.x + 30 : second.x + 30] = 250  # no gap is left between the two
    return image


def test_shreds_that_cannot_be_separated_are_one_with_a_warning() -> None:
    layout = lay(WORN)
    segmentation = segment(Scan(glued(layout), layout.dpi, Source(Path("glued.png"), "")))
    assert len(segmentation.shreds) == len(layout.laid) - 1
    assert "may be several" in " ".join(segmentation.cutouts[0].warnings)


@pytest.mark.parametrize("rim_color", [(255, 255, 255), (15, 15, 15)])
def test_the_rim_of_the_scanner_is_not_paper(rim_color: tuple[int, int, int]) -> None:
    options = replace(WORN, rim_mm=2, rim_color=rim_color, top_mm=-10, gradient=0.1)
    layout = lay(options)
    segmentation = segment(scan_of(layout))
    assert {rim.side for rim in segmentation.rims} == {"top", "bottom", "left", "right"}
    assert len(segmentation.shreds) == len(layout.laid)
    depth = round(2 / 25.4 * 150)
    assert all(cutout.box.y >= depth - 1 for cutout in segmentation.cutouts)
    assert all(cutout.touches_border for cutout in segmentation.cutouts)


def test_a_sheet_that_was_fed_sideways_is_told_of() -> None:
    image = np.full((900, 1500, 3), (250, 180, 88), np.uint8)
    for top in (100, 400, 700):
        image[top : top + 90, 100:1400] = 245
        image[top + 20 : top + 60, 200:1300:40] = 20
    sideways = segment(Scan(image, 150, Source(Path("side.png"), "")))
    assert "3 shreds lie on their side" in " ".join(sideways.warnings)
    upright = segment(Scan(np.rot90(image).copy(), 150, Source(Path("side.png"), "")))
    assert not upright.warnings
    assert [shred.mask.shape for shred in upright.shreds] == [shred.mask.shape for shred in sideways.shreds]


def running_out(ink_at: int | None = None) -> Scan:
    """Shreds longer than the scan: as most are, blank where they end, or written on there."""
    image = np.full((1500, 900, 3), (250, 180, 88), np.uint8)
    for left in (100, 400, 700):
        image[:, left : left + 90] = 245
        image[200:1300:40, left + 20 : left + 60] = 20
    if ink_at is not None:
        image[ink_at : ink_at + 12, 110:180] = 20
    return Scan(image, 150, Source(Path("long.png"), ""))


def test_shreds_that_end_beyond_the_scan_in_a_blank_margin_lose_nothing() -> None:
    segmentation = segment(running_out())
    assert len(segmentation.shreds) == 3
    assert all(cutout.touches_border for cutout in segmentation.cutouts)
    assert not any(cutout.warnings for cutout in segmentation.cutouts)


@pytest.mark.parametrize("ink_at", [0, 1488])
def test_shreds_that_lose_writing_beyond_the_scan_say_so(ink_at: int) -> None:
    segmentation = segment(running_out(ink_at))
    assert [cutout.warnings for cutout in segmentation.cutouts] == [(LOST_INK,), (), ()]


def test_a_shred_that_runs_out_along_its_side_says_so() -> None:
    scan = running_out()
    image = scan.image[:, 130:].copy()
    image[:550] = image[950:] = (250, 180, 88)
    cut = Scan(image, 150, scan.source)
    assert [cutout.warnings for cutout in segment(cut).cutouts] == [(LOST_SIDE,), (), ()]


def test_scraps_are_listed_and_dust_is_counted() -> None:
    layout = lay(WORN)
    image = layout.image.copy()
    image[600:614, 500:520] = 250  # 2.4 x 3.4 mm
    image[620:622, 700:702] = 20
    segmentation = segment(Scan(image, layout.dpi, Source(Path("sheet.png"), "")))
    assert len(segmentation.shreds) == len(layout.laid)
    assert [scrap.reason.split(" (")[0] for scrap in segmentation.scraps] == ["shorter than a shred"]
    assert segmentation.scraps[0].box.x == pytest.approx(500, abs=2)
    assert segmentation.dust >= 1
    assert any("1 scrap" in warning for warning in segmentation.warnings)


def test_a_ruled_line_with_misregistered_channels_does_not_cut_a_shred() -> None:
    layout = lay(replace(WORN, dpi=300, misregistration_px=1.2))
    segmentation = segment(scan_of(layout))
    assert len(segmentation.shreds) == len(layout.laid)


def test_a_colored_stamp_at_the_edge_is_paper() -> None:
    shreds = torn_shreds()
    stamped = shreds[2].image.copy()
    stamped[300:420] = (205, 40, 60)
    shreds[2] = Shred("s2", stamped, shreds[2].mask, 300.0, shreds[2].source)
    layout = lay(LayoutOptions(dpi=300, width_mm=120, height_mm=100), shreds)
    segmentation = segment(scan_of(layout))
    assert overlap(layout.truth(2), footprint(segmentation, 2)) > 0.98


def test_a_punch_hole_stays_open_and_is_reported() -> None:
    shreds = torn_shreds(width=200)
    punched = shreds[0].mask.copy()
    cv2.circle(view := punched.astype(np.uint8), (120, 500), 35, 0, cv2.FILLED)
    shreds[0] = Shred("s0", shreds[0].image, view.astype(bool), 300.0, shreds[0].source)
    segmentation = segment(scan_of(lay(replace(WORN, width_mm=180), shreds)))
    assert "hole" in " ".join(segmentation.cutouts[0].warnings)
    assert segmentation.cutouts[0].area < segmentation.cutouts[1].area


def test_a_forced_color_is_used() -> None:
    layout = lay(replace(WORN, gradient=0))
    forced = segment(scan_of(layout), options=SegmentationOptions(background=WORN.color))
    assert len(forced.shreds) == len(layout.laid)
    with pytest.raises(InputError, match="#0000ff"):
        segment(scan_of(layout), options=SegmentationOptions(background=(0, 0, 255)))


def test_a_transparent_sheet_needs_no_background() -> None:
    layout = lay(LayoutOptions(dpi=150, width_mm=150, height_mm=110))
    mask = np.any([layout.truth(i) for i in range(len(layout.laid))], axis=0)
    scan = Scan(np.full_like(layout.image, 250), 150, Source(Path("clear.png"), ""), mask)
    assert look_at(scan).guess == "sheet"
    segmentation = segment(scan)
    assert len(segmentation.shreds) == len(layout.laid)
    assert segmentation.background is None


def test_a_shred_that_is_cut_out_already_has_lost_nothing() -> None:
    scan = running_out(0)
    paper = scan.image.min(axis=2) > 200
    left = int(np.flatnonzero(paper.any(axis=0))[0])
    tight = np.s_[:, left : left + 40]
    found = segment(Scan(scan.image[tight], 150, scan.source, paper[tight]))
    assert [cutout.warnings for cutout in found.cutouts] == [()]


def test_the_json_holds_everything_and_nothing_numpy() -> None:
    segmentation = segment(scan_of(lay(replace(WORN, max_lean=4))))
    content = json.loads(json.dumps(segmentation.as_json()))
    assert content["sheet"] == "sheet.png"
    assert content["size"] == list(segmentation.size)
    first = content["shreds"][0]
    assert {"id", "box_xywh", "outline", "angle", "area", "touches_border", "warnings", "trace"} <= set(first)
    x, y, width, height = first["box_xywh"]
    outline = np.array(first["outline"])
    assert outline.min(axis=0).tolist() == [x, y]
    assert outline.max(axis=0).tolist() == [x + width - 1, y + height - 1]


def test_the_outline_redraws_the_mask() -> None:
    segmentation = segment(scan_of(lay(WORN)))
    for index, cutout in enumerate(segmentation.cutouts):
        drawn = np.zeros(segmentation.size[::-1], np.uint8)
        cv2.fillPoly(drawn, [cutout.outline], 1)
        assert np.array_equal(drawn.astype(bool), footprint(segmentation, index))


def test_the_overview_draws_on_every_shred_and_leaves_the_rest_alone() -> None:
    layout = lay(replace(WORN, noise=0, jpeg_quality=None, rim_mm=0))
    scan = scan_of(layout)
    segmentation = segment(scan)
    picture = draw_overview(scan, segmentation)
    changed = (picture != scan.image).any(axis=2)
    for cutout in segmentation.cutouts:
        assert changed[cutout.box.slices].sum() > cutout.box.height
    assert not changed[-15:].any()


def test_segmenting_twice_gives_the_same() -> None:
    scan = scan_of(lay(replace(WORN, max_lean=4, touching_pairs=1)))
    once, again = segment(scan), segment(scan)
    assert [s.fingerprint for s in once.shreds] == [s.fingerprint for s in again.shreds]


def blank_sheet() -> np.ndarray:
    return np.full((800, 600, 3), COLORS["orange"], np.uint8)


def test_a_blank_sheet_among_others_has_a_warning_and_alone_is_refused() -> None:
    blank = Scan(blank_sheet(), 150, Source(Path("blank.png"), ""))
    full, empty = (segment(scan, allow_blank=True) for scan in (scan_of(lay(WORN)), blank))
    assert len(full.shreds) == 6
    assert empty.shreds == ()
    assert any("blank" in warning for warning in empty.warnings)
    refuse_blank([empty, full])
    for refused in (lambda: refuse_blank([empty]), lambda: segment(blank)):
        with pytest.raises(InputError, match=r"blank\.png.*--background") as caught:
            refused()
        assert "mm wide on the color #fab458, which 100% of the sheet has. If" in str(caught.value)


def test_a_transparent_sheet_without_shreds_is_refused_in_words() -> None:
    mask = np.zeros((800, 600), bool)
    mask[:5, :5] = True
    with pytest.raises(InputError, match="mm wide in what is not transparent"):
        segment(Scan(blank_sheet(), 150, Source(Path("clear.png"), ""), mask))


def text_page() -> np.ndarray:
    page = np.full((1600, 1200, 3), 250, np.uint8)
    for y in range(100, 1500, 40):
        cv2.putText(
            page,
            "the quick brown fox jumps over it",
            (100, y),
            cv2.FONT_HERSHEY_SIMPLEX,
            1.5,
            (20, 20, 20),
            3,
        )
    return page


def photo() -> np.ndarray:
    rng = np.random.default_rng(0)
    soft = sum(cv2.GaussianBlur(rng.normal(0, 1, (900, 1200, 3)), (0, 0), s) * s for s in (3, 12, 50))
    return np.clip(128 + 60 * soft / soft.std(), 0, 255).astype(np.uint8)


def grey_scan() -> np.ndarray:
    grey = cv2.cvtColor(lay(WORN).image, cv2.COLOR_RGB2GRAY)
    return np.dstack([grey] * 3)


@pytest.mark.parametrize("draw", [text_page, photo, grey_scan, lambda: np.zeros((1, 1, 3), np.uint8)])
def test_what_is_no_sheet_is_refused_with_a_remedy(draw: object) -> None:
    scan = Scan(draw(), 150, Source(Path("odd.png"), ""))  # type: ignore[operator]
    with pytest.raises(InputError, match=r"odd\.png.*(--background|docs/scanning\.md)"):
        segment(scan)


def page_on_a_lid() -> np.ndarray:
    image = np.full((1900, 1500, 3), 30, np.uint8)
    image[100:-100, 100:-100] = 248
    return image


def test_a_page_on_a_dark_lid_is_refused_as_a_page() -> None:
    with pytest.raises(InputError, match="whole page"):
        segment(Scan(page_on_a_lid(), 150, Source(Path("page.png"), "")))


def pale_noisy_sheet() -> np.ndarray:
    image = np.full((400, 400, 3), 255.0)
    image[:, :200] = (250, 235, 190)
    image += np.random.default_rng(0).normal(0, 25, image.shape)
    return np.clip(image, 0, 255).astype(np.uint8)


def sunset() -> np.ndarray:
    """From orange to white through all tones between."""
    share = np.linspace(0, 1, 800)[None, :, None]
    return np.tile(COLORS["orange"] * (1 - share) + 250 * share, (600, 1, 1)).astype(np.uint8)


def test_the_messages_that_the_guide_explains_are_those_that_are_given() -> None:
    layout = lay(WORN)
    glued_sheet = segment(Scan(glued(layout), layout.dpi, Source(Path("glued.png"), "")))
    given = [warning for cutout in glued_sheet.cutouts for warning in cutout.warnings]
    white = np.full((800, 600, 3), 255, np.uint8)
    for image in (grey_scan(), white, pale_noisy_sheet(), blank_sheet(), page_on_a_lid(), sunset()):
        with pytest.raises(InputError) as caught:
            segment(Scan(image, 150, Source(Path("odd.png"), "")))
        given.append(str(caught.value))
    explained = re.findall(r"(?m)^\| (.+?) \|", GUIDE.read_text().partition("| message |")[2])
    assert len(explained) == len({*given})
    for message in explained:
        pattern = re.escape(message).replace(r"\ ", " ").replace(r"\.\.\.", ".*")
        pattern = re.sub(r"\d+ mm wide:", r"\\d+ mm wide:", pattern)
        assert any(re.search(pattern, one) for one in given), message


def test_one_shred_is_no_sheet_and_a_sheet_is_one() -> None:
    rng = np.random.default_rng(2)
    rectangle = np.full((2000, 85, 3), 240, np.uint8)
    rectangle[rng.random((2000, 85)) < 0.1] = (20, 20, 160)
    assert look_at(Scan(rectangle, 300, Source(Path("one.png"), ""))).guess != "sheet"
    shred = torn_shreds(1)[0]
    assert look_at(Scan(shred.image, 300, Source(Path("cut.png"), ""), shred.mask)).guess != "sheet"
    assert look_at(scan_of(lay(WORN))).guess == "sheet"


def test_colors_are_read_as_people_write_them() -> None:
    assert parse_color("#ff9933") == parse_color("FF9933") == parse_color("255, 153,51") == (255, 153, 51)
    for wrong in ("orange-ish", "#ff99", "300,0,0", ""):
        with pytest.raises(SettingsError, match="#ff9933"):
            parse_color(wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"min_width_mm": 0.0},
        {"min_width_mm": 70.0},
        {"min_length_mm": 1.0},
        {"outline_coverage": 0.95},
        {"max_lean": -1.0},
        {"background": (0, 0, 256)},
    ],
)
def test_senseless_options_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        SegmentationOptions(**wrong)  # type: ignore[arg-type]


@pytest.mark.skipif(not (DATA / "s-cdip-sheets").is_dir(), reason="the collection s-cdip-sheets is not there")
def test_real_sheets_agree_with_the_true_masks() -> None:
    truth = json.loads((DATA / "s-cdip-sheets" / "truth.json").read_text())
    for name in ("D003-sheet1", "D056-sheet2"):  # near-touching; a slanted rim
        image = cv2.imread(str(DATA / "s-cdip-sheets" / f"{name}.jpg"))[..., ::-1]
        started = time.process_time()
        segmentation = segment(Scan(np.ascontiguousarray(image), 300, Source(Path(f"{name}.jpg"), "")))
        assert time.process_time() - started < 6  # seconds of both cores
        document = name[:4]
        true = sorted(
            (s for s in truth[document]["shreds"] if s["sheet"] == f"{name}.jpg"), key=lambda s: s["position"]
        )
        assert len(segmentation.shreds) == len(true)
        for index, shred in enumerate(true):
            file = DATA / "s-cdip" / document / "masks" / f"{shred['name']}.png"
            cut = cv2.imread(str(file), cv2.IMREAD_GRAYSCALE) > 0
            left, width = shred["bbox_xywh"][0], shred["bbox_xywh"][2]
            full = np.zeros(image.shape[:2], bool)
            full[image.shape[0] - cut.shape[0] :, left : left + width] = cut
            assert overlap(full, footprint(segmentation, index)) > 0.99
