from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from deshred.elements import Scan, Source
from deshred.imaging.decoding import encode_png
from deshred.imaging.intakes import load_intake
from deshred.imaging.sheets.photos import straighten_photo

ORANGE = (250, 180, 88)
TABLES = {"wood": (150, 105, 70), "white": (225, 222, 215), "grey": (120, 120, 118), "dark": (45, 40, 38)}


def sheet(width: int = 840, height: int = 1188) -> np.ndarray:
    """A4 at 100 dpi or so, with six shreds."""
    image = np.full((height, width, 3), ORANGE, np.uint8)
    for left in range(50, width - 100, 130):
        image[60 : height - 60, left : left + 70] = 245
        image[100 : height - 100 : 30, left + 10 : left + 60] = 25
    return image


def photograph(picture: np.ndarray, table: tuple[int, int, int], seed: int = 0) -> Scan:
    """A picture on a table, seen from a little aside."""
    rng = np.random.default_rng(seed)
    height, width = picture.shape[:2]
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    places = corners * 0.95 + (110, 130) + rng.uniform(-18, 18, (4, 2))
    matrix = cv2.getPerspectiveTransform(corners, places.astype(np.float32))
    size = (width + 250, height + 260)
    ground = np.full((size[1], size[0], 3), table, np.uint8)
    seen = cv2.warpPerspective(picture, matrix, size, dst=ground, borderMode=cv2.BORDER_TRANSPARENT)
    noisy = seen + rng.normal(0, 3, seen.shape)
    return Scan(noisy.clip(0, 255).astype(np.uint8), 300.0, Source(Path("photo.png"), ""))


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("seed", range(2))
def test_a_sheet_on_a_table_is_found_and_straightened(table: str, seed: int) -> None:
    found = straighten_photo(photograph(sheet(), TABLES[table], seed))
    assert found is not None
    height, width = found.scan.image.shape[:2]
    assert height / width == pytest.approx(297 / 210, rel=0.01)
    assert found.scan.dpi == pytest.approx(0.95 * 840 / 210 * 25.4, rel=0.06)
    assert "taken to be A4" in found.note
    for corner in (found.scan.image[5, 5], found.scan.image[-5, -5], found.scan.image[5, -5]):
        assert np.abs(corner.astype(int) - ORANGE).max() < 40


def test_a_sheet_of_no_known_format_keeps_its_resolution() -> None:
    found = straighten_photo(photograph(sheet(840, 840), TABLES["grey"]))
    assert found is not None
    assert (found.scan.dpi, "--dpi" in found.note) == (300.0, True)


@pytest.mark.parametrize("picture", [sheet(), np.full((900, 700, 3), 240, np.uint8)])
def test_what_fills_the_picture_is_no_photo_of_a_sheet(picture: np.ndarray) -> None:
    assert straighten_photo(Scan(picture, 300.0, Source(Path("a.png"), ""))) is None


def shaded(sheet: np.ndarray) -> np.ndarray:
    """The sheet with shreds as long as itself, each in a shadow as brown as a table."""
    image = np.full_like(sheet, ORANGE)
    for left in range(30, 1600, 108):
        image[:, left : left + 54] = 245
        image[100:-100:30, left + 10 : left + 44] = 25
        image[:, left + 54 : left + 61] = (120, 85, 60)
    return image


def test_the_table_around_a_sheet_is_not_taken_for_what_shreds_lie_on(tmp_path: Path) -> None:
    scan = photograph(shaded(sheet(1680, 2376)), (140, 105, 88))
    (tmp_path / "photo.png").write_bytes(encode_png(scan.image, dpi=200))
    intake = load_intake([tmp_path / "photo.png"])
    assert "a photo: the sheet was found" in " ".join(intake.sheets[0].segmentation.warnings)
    assert len(intake.shreds) == 15
    for shred in intake.shreds:
        orange = np.abs(shred.image[shred.mask].astype(int) - ORANGE).max(axis=1) < 40
        assert orange.mean() < 0.05, shred.id


@pytest.mark.filterwarnings("ignore::deshred.imaging.scans.DoubtfulScanWarning")
def test_the_shreds_of_a_photo_are_cut_out_with_a_word_about_it(tmp_path: Path) -> None:
    scan = photograph(sheet(), TABLES["wood"])
    (tmp_path / "photo.png").write_bytes(encode_png(scan.image))
    intake = load_intake([tmp_path])
    assert len(intake.shreds) == 6
    (told,) = intake.sheets[0].segmentation.warnings
    assert told.startswith("a photo: the sheet was found by its four corners; taken to be A4")
    for shred in intake.shreds:
        assert shred.width_mm == pytest.approx(70 / 840 * 210, rel=0.1)
