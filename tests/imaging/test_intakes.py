from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from deshred.budgets import Budget
from deshred.errors import InputError
from deshred.executors import ThreadExecutor
from deshred.imaging.decoding import encode_png
from deshred.imaging.files import SkippedFilesWarning
from deshred.imaging.intakes import load_intake
from deshred.imaging.scans import DoubtfulScanWarning, ScanOptions

ORANGE = (249, 179, 87)
COLLECTIONS = Path(__file__).parents[3] / "shared" / "data"


def write(path: Path, image: np.ndarray, dpi: float = 300) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(encode_png(image, dpi=dpi))
    return path


def crop(left: int, right: int, width: int = 160) -> np.ndarray:
    image = np.full((1500, width, 3), 245, np.uint8)
    image[:, :left] = ORANGE
    image[:, width - right :] = ORANGE
    image[::40, left + 20 : left + 60] = 20
    return image


def sheet(scale: float = 1) -> np.ndarray:
    image = np.full((round(1800 * scale), round(1200 * scale), 3), ORANGE, np.uint8)
    for number in range(4):
        left = round((100 + 250 * number) * scale)
        image[round(100 * scale) : round(1700 * scale), left : left + round(100 * scale)] = 245
    return image


def test_crops_lose_their_background_even_where_it_shows_on_one_side_only(tmp_path: Path) -> None:
    for number in range(6):
        write(tmp_path / f"{number}.png", crop(20 + number, 20))
    write(tmp_path / "one side.png", crop(40, 0))
    write(tmp_path / "tight.png", crop(0, 0))
    intake = load_intake([tmp_path], executor=ThreadExecutor(2))
    assert (intake.decision.crops, intake.sheets) == (8, ())
    assert set(intake.shreds.ids) == {*"012345", "one side", "tight"}
    for shred in intake.shreds:
        inside = shred.image[shred.mask].astype(int)
        orange = np.abs(inside - ORANGE).max(axis=1) < 40
        assert orange.mean() < 0.01, shred.id
    assert intake.shreds[intake.shreds.index_of("tight")].mask.all()


def test_rectangles_with_a_little_color_stay_rectangles(tmp_path: Path) -> None:
    for number in range(5):
        write(tmp_path / f"{number}.png", crop(0, 0))
    write(tmp_path / "ad.png", crop(30, 30))
    intake = load_intake([tmp_path])
    assert all(shred.mask.all() for shred in intake.shreds)
    assert "1 of 6 show a background" in str(intake.decision)


@pytest.mark.skipif(not COLLECTIONS.is_dir(), reason="the public collections are not beside the repository")
def test_real_crops_are_cut_out_as_their_masks_say(tmp_path: Path) -> None:
    document = COLLECTIONS / "s-cdip/D003"
    shutil.copytree(document / "strips", tmp_path / "crops")
    found = load_intake([tmp_path / "crops"], executor=ThreadExecutor(2))
    assert (found.decision.crops, found.sheets) == (22, ())
    for shred, true in zip(found.shreds, load_intake([document]).shreds, strict=True):
        assert shred.id == true.id
        assert shred.mask.sum() == pytest.approx(true.mask.sum(), rel=0.05), shred.id


def test_two_sheets_of_75_dpi_are_sheets(tmp_path: Path) -> None:
    for name in "ab":
        write(tmp_path / f"{name}.png", sheet(0.25), dpi=75)
    with pytest.warns(DoubtfulScanWarning, match="2 pictures have 75 dpi"):
        intake = load_intake([tmp_path])
    assert (intake.decision.kind, len(intake.shreds)) == ("sheets", 8)
    assert "2 are wider than 60 mm" in str(intake.decision)


def test_a_very_fine_sheet_is_read_at_a_resolution_that_fits(tmp_path: Path) -> None:
    intake = load_intake([write(tmp_path / "fine.png", sheet(3), dpi=1200)])
    assert intake.sheets[0].segmentation.dpi == pytest.approx(600, rel=0.001)
    assert len(intake.shreds) == 4
    for shred in intake.shreds:
        assert shred.mask.sum() == pytest.approx(100 * 1600 * (3 / 4) ** 2, rel=0.02)


def test_what_does_not_fit_the_budget_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "large.png", np.full((4000, 4000, 3), 245, np.uint8))
    with pytest.raises(InputError, match=r"large\.png: 16 megapixels take about 0\.5 GB.*0\.2 GB.*--memory"):
        load_intake([path], budget=Budget(memory_gb=0.25))


def test_cutting_single_shreds_out_is_an_error_that_says_so(tmp_path: Path) -> None:
    as_segment_reads = ScanOptions(kind="sheets")
    for number in range(3):
        write(tmp_path / f"strips/{number}.png", crop(0, 0))
        write(tmp_path / f"masks/{number}.png", np.full((1500, 160, 3), 255, np.uint8))
    with pytest.raises(InputError, match=r"0\.png: no sheet .* a mask beside it\. Give them to recons"):
        load_intake([tmp_path], options=as_segment_reads).refuse_no_sheets()
    one = write(tmp_path / "sheet/sheet.png", sheet())
    load_intake([tmp_path / "strips", one], options=as_segment_reads).refuse_no_sheets()


def test_a_decision_of_a_person_is_kept(tmp_path: Path) -> None:
    for number in range(3):
        write(tmp_path / f"{number}.png", crop(30, 30))
    intake = load_intake([tmp_path], options=ScanOptions(kind="shreds"))
    assert str(intake.decision) == "read as 3 single shreds: --as shreds was given"
    assert all(shred.mask.all() for shred in intake.shreds)


def test_files_that_cannot_be_read_are_listed_with_the_reason(tmp_path: Path) -> None:
    write(tmp_path / "a.png", crop(0, 0))
    (tmp_path / "b.heic").write_bytes(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic")
    (tmp_path / "c.nef").write_bytes(b"\x01\x02")
    (tmp_path / "d").write_bytes(encode_png(crop(0, 0)))
    (tmp_path / "notes.txt").write_text("shredded by the tax office")
    (tmp_path / "Thumbs.db").write_bytes(b"\xd0\xcf\x11\xe0")
    with pytest.warns(SkippedFilesWarning, match=r"not read: .*b\.heic: a HEIC photo, which cannot be read"):
        intake = load_intake([tmp_path])
    assert [one.path.name for one in intake.skipped] == ["b.heic", "c.nef", "d"]
    assert intake.skipped[2].reason == "it holds a PNG but is not named like one; give it by name to read it"
    assert len(load_intake([tmp_path / "a.png", tmp_path / "d"]).shreds) == 2


def test_a_folder_of_photos_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    (tmp_path / "b.heic").write_bytes(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic")
    with pytest.raises(InputError, match=r"no image that can be read .*b\.heic: a HEIC photo.*as PNG"):
        load_intake([tmp_path])


def test_masks_are_recorded_as_the_shreds_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "doc/strips/a.png", crop(0, 0))
    write(tmp_path / "doc/masks/a.png", np.full((1500, 160, 3), 255, np.uint8))
    for folder, given, expected in (
        (tmp_path, "doc", ["doc/strips/a.png", "doc/masks/a.png"]),
        (tmp_path / "doc/strips", "a.png", ["a.png", "../masks/a.png"]),
        (tmp_path, tmp_path / "doc", [f"{tmp_path}/doc/strips/a.png", f"{tmp_path}/doc/masks/a.png"]),
    ):
        monkeypatch.chdir(folder)
        assert [str(source.path) for source in load_intake([given]).sources] == expected


def test_names_of_any_length_become_ids_that_files_can_have(tmp_path: Path) -> None:
    names = ["x" * 240, "x" * 239 + "y", "ü" * 120, "short"]
    for name in names:
        write(tmp_path / f"{name}.png", sheet(0.5))
    intake = load_intake([tmp_path])
    assert len(set(intake.shreds.ids)) == 16
    for shred_id in intake.shreds.ids:
        (tmp_path / f".{shred_id}.png.12345.tmp").touch()


def test_progress_begins_before_the_first_file_is_read(tmp_path: Path) -> None:
    for number in range(2):
        write(tmp_path / f"{number}.png", crop(0, 0))
    told: list[tuple[str, int, int]] = []
    load_intake([tmp_path], progress=lambda *one: told.append(one))
    assert told == [("reading", 0, 2), ("reading", 1, 2), ("reading", 2, 2)]
