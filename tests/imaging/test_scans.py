from __future__ import annotations

import io
import json
import os
import struct
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pypdfium2
import pytest
from PIL import Image

from deshred.budgets import Budget
from deshred.cases import CASE
from deshred.errors import InputError, SettingsError
from deshred.executors import ProcessExecutor, SerialExecutor, ThreadExecutor
from deshred.imaging.decoding import decode, encode_png
from deshred.imaging.intakes import load_intake, load_shreds
from deshred.imaging.scans import (
    DoubtfulScanWarning,
    ScanOptions,
    flatten,
    hash_file,
    load_scans,
    name_scans,
    read_scans,
    to_working_resolution,
)
from tests.hostile import many_pages


def picture(height: int = 60, width: int = 24, seed: int = 0) -> np.ndarray:
    """Smooth colors, so that lossy formats come back nearly the same."""
    coarse = np.random.default_rng(seed).integers(0, 255, (4, 3, 3)).astype(np.uint8)
    return cv2.resize(coarse, (width, height), interpolation=cv2.INTER_LINEAR)


def save(path: Path, pixels: np.ndarray, **options: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, **options)
    return path


@pytest.mark.parametrize(
    ("name", "tolerance"),
    [("a.png", 0), ("a.tif", 0), ("a.bmp", 0), ("a.jpg", 4), ("a.JPEG", 4), ("a.webp", 6)],
)
def test_every_format_gives_its_colors(tmp_path: Path, name: str, tolerance: int) -> None:
    scan = load_scans([save(tmp_path / name, picture())])[0]
    assert scan.image.shape == (60, 24, 3)
    assert np.abs(scan.image.astype(int) - picture()).mean() <= tolerance
    assert scan.mask is None


def test_gray_palette_16_bit_and_1_bit_become_rgb(tmp_path: Path) -> None:
    gray = np.tile(np.arange(0, 240, 10, dtype=np.uint8), (60, 1))
    save(tmp_path / "gray.png", gray)
    save(tmp_path / "deep.png", gray.astype(np.uint16) * 257)
    save(tmp_path / "deep.tif", gray.astype(np.uint16) * 257)
    Image.fromarray(gray).convert("P").save(tmp_path / "palette.png")
    Image.fromarray(gray).save(tmp_path / "gray.jpg", quality=100)
    for name in ("gray.png", "deep.png", "deep.tif", "palette.png", "gray.jpg"):
        image = load_scans([tmp_path / name])[0].image
        assert np.abs(image.astype(int) - gray[..., None]).max() <= 2, name
    Image.fromarray(gray > 100).save(tmp_path / "bits.tif", compression="group4")
    assert np.array_equal(load_scans([tmp_path / "bits.tif"])[0].image[..., 0] > 0, gray > 100)


def test_16_bit_color_keeps_its_high_byte(tmp_path: Path) -> None:
    deep = picture().astype(np.uint16) * 257
    cv2.imwrite(str(tmp_path / "deep.png"), cv2.cvtColor(deep, cv2.COLOR_RGB2BGR))
    image = load_scans([tmp_path / "deep.png"])[0].image
    assert np.abs(image.astype(int) - picture()).max() <= 1


@pytest.mark.parametrize("name", ["alpha.png", "alpha.webp", "alpha.tif"])
def test_alpha_is_the_mask(tmp_path: Path, name: str) -> None:
    mask = np.zeros((60, 24), bool)
    mask[5:55, 3:20] = True
    rgba = np.dstack([picture(), mask.astype(np.uint8) * 255])
    shred = load_shreds([save(tmp_path / name, rgba)])[0]
    assert np.array_equal(shred.mask, mask)


def test_a_transparent_palette_color_is_outside_the_mask(tmp_path: Path) -> None:
    indices = np.zeros((60, 24), np.uint8)
    indices[:, 4:] = 1
    paletted = Image.fromarray(indices, mode=None).convert("L").convert("P")
    paletted.putdata(indices.ravel().tolist())
    paletted.save(tmp_path / "p.png", transparency=0)
    assert np.array_equal(load_shreds([tmp_path / "p.png"])[0].mask, indices == 1)


def test_a_file_without_alpha_is_paper_all_over(tmp_path: Path) -> None:
    assert load_shreds([save(tmp_path / "a.png", picture())])[0].mask.all()


def test_a_fully_transparent_file_is_refused(tmp_path: Path) -> None:
    rgba = np.dstack([picture(), np.zeros((60, 24), np.uint8)])
    with pytest.raises(InputError, match="transparent"):
        load_shreds([save(tmp_path / "a.png", rgba)])


@pytest.mark.parametrize("orientation", [3, 6, 8])
def test_exif_orientation_is_obeyed(tmp_path: Path, orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    for name in ("turned.jpg", "turned.png"):
        path = save(tmp_path / name, picture(), exif=exif.tobytes())
        turns = {3: 2, 6: 3, 8: 1}[orientation]  # quarter turns counterclockwise
        upright = np.rot90(picture(), turns)
        image = load_scans([path])[0].image
        assert image.shape == upright.shape
        assert np.abs(image.astype(int) - upright).mean() < 4


def test_every_frame_of_a_tiff_is_a_scan_with_its_number(tmp_path: Path) -> None:
    first, *rest = (Image.fromarray(picture(seed=seed)) for seed in range(3))
    first.save(tmp_path / "many.tif", save_all=True, append_images=rest, dpi=(300, 300))
    scans = load_scans([tmp_path / "many.tif"])
    assert [scan.source.frame for scan in scans] == [0, 1, 2]
    assert np.array_equal(scans[2].image, picture(seed=2))
    assert load_shreds([tmp_path / "many.tif"]).ids == ("many#01", "many#02", "many#03")


def test_a_pdf_is_drawn_page_by_page_at_300_dpi(tmp_path: Path) -> None:
    pages = [Image.fromarray(picture(600, 300, seed)) for seed in (1, 2)]
    pages[0].save(tmp_path / "two.pdf", save_all=True, append_images=pages[1:], resolution=150)
    scans = load_scans([tmp_path / "two.pdf"])
    assert [scan.image.shape for scan in scans] == [(1200, 600, 3)] * 2
    assert [scan.dpi for scan in scans] == [300.0] * 2


def test_a_blank_page_of_a_pdf_is_called_so(tmp_path: Path) -> None:
    document = pypdfium2.PdfDocument.new()
    for size in ((300, 500), (0, 0)):
        document.new_page(*size)
    document.save(tmp_path / "empty.pdf")
    document.close()
    with pytest.raises(InputError, match=r"empty\.pdf: nothing but the color #ffffff \(page 1\).*damaged"):
        load_shreds([tmp_path])


def test_a_page_of_a_pdf_whose_image_is_damaged_is_called_so(tmp_path: Path) -> None:
    Image.fromarray(picture(2000, 1500)).save(tmp_path / "a.pdf", resolution=300)
    content = (tmp_path / "a.pdf").read_bytes()
    at = content.index(b"\xff\xd8\xff")
    (tmp_path / "a.pdf").write_bytes(content[:at] + bytes(2000) + content[at + 2000 :])
    with pytest.raises(InputError, match=r"a\.pdf: nothing but the color #ffffff"):
        load_shreds([tmp_path])


def test_resolution_comes_from_the_file_and_shreds_come_at_300_dpi(tmp_path: Path) -> None:
    path = save(tmp_path / "a.png", picture(600, 240), dpi=(600, 600))
    assert load_scans([path])[0].dpi == pytest.approx(600, rel=0.001)
    shred = load_shreds([path])[0]
    assert (shred.image.shape, shred.dpi) == ((300, 120, 3), 300)


def test_mask_and_image_are_scaled_together(tmp_path: Path) -> None:
    mask = np.zeros((300, 120), bool)
    mask[30:270, 20:100] = True
    rgba = np.dstack([picture(300, 120), mask.astype(np.uint8) * 255])
    shred = load_shreds([save(tmp_path / "a.png", rgba, dpi=(150, 150))])[0]
    assert shred.mask.shape == (600, 240)
    assert shred.mask.sum() == pytest.approx(4 * mask.sum(), rel=0.02)


def test_a_given_resolution_overrides_the_file(tmp_path: Path) -> None:
    path = save(tmp_path / "a.png", picture(600, 240), dpi=(600, 600))
    shred = load_shreds([path], options=ScanOptions(dpi=300))[0]
    assert shred.image.shape == (600, 240, 3)


@pytest.mark.parametrize("dpi", [None, 1, 299, 302])
def test_implausible_or_nearly_right_resolutions_leave_pixels_alone(tmp_path: Path, dpi: int | None) -> None:
    options = {} if dpi is None else {"dpi": (dpi, dpi)}
    path = save(tmp_path / "a.png", picture(), **options)
    assert np.array_equal(load_shreds([path])[0].image, picture())


@pytest.mark.parametrize("dpi", [72, 96])
def test_resolutions_that_programs_make_up_are_ignored_and_told_of_once(tmp_path: Path, dpi: int) -> None:
    for name in "abc":
        save(tmp_path / f"{name}.png", picture(), dpi=(dpi, dpi))
    with pytest.warns(DoubtfulScanWarning, match=rf"3 pictures have {dpi} dpi, which .* --dpi") as told:
        assert np.array_equal(load_shreds([tmp_path])[0].image, picture())
    assert len(told) == 1
    assert len(load_shreds([tmp_path], options=ScanOptions(dpi=300))) == 3


def test_a_coarse_resolution_is_used_and_told_of(tmp_path: Path) -> None:
    path = save(tmp_path / "a.png", picture(), dpi=(75, 75))
    with pytest.warns(DoubtfulScanWarning, match="1 picture has 75 dpi, too little"):
        assert load_shreds([path])[0].image.shape == (240, 96, 3)


def test_strips_take_their_masks_from_beside(tmp_path: Path) -> None:
    mask = np.zeros((60, 24), np.uint8)
    mask[:, 4:20] = 255
    for name in ("a", "b"):
        save(tmp_path / f"doc/strips/{name}.png", picture())
    save(tmp_path / "doc/masks/a.png", mask)
    np.save(tmp_path / "doc/masks/b.npy", mask > 0)
    for given in (tmp_path, tmp_path / "doc", tmp_path / "doc/strips", tmp_path / "doc/strips/a.png"):
        for shred in load_shreds([given]):
            assert np.array_equal(shred.mask, mask > 0)
    assert load_shreds([tmp_path]).ids == ("a", "b")


@pytest.mark.parametrize("suffix", [".png", ".npy"])
def test_a_mask_of_the_wrong_size_names_both_files(tmp_path: Path, suffix: str) -> None:
    save(tmp_path / "strips/a.png", picture())
    wrong = np.full((59, 24), 255, np.uint8)
    (tmp_path / "masks").mkdir()
    if suffix == ".png":
        save(tmp_path / "masks/a.png", wrong)
    else:
        np.save(tmp_path / "masks/a.npy", wrong)
    with pytest.raises(InputError, match=r"masks.a.*24 x 59.*strips.a.png.*24 x 60"):
        load_shreds([tmp_path])


def test_a_missing_or_empty_or_damaged_mask_is_an_error(tmp_path: Path) -> None:
    save(tmp_path / "strips/a.png", picture())
    save(tmp_path / "masks/other.png", picture())
    with pytest.raises(InputError, match=r"no a\.png or a\.npy"):
        load_shreds([tmp_path])
    (tmp_path / "masks/a.npy").write_bytes(b"\x93NUMPY nonsense")
    with pytest.raises(InputError, match="not a readable NPY file"):
        load_shreds([tmp_path])
    np.save(tmp_path / "masks/a.npy", np.zeros((60, 24), bool))
    with pytest.raises(InputError, match="mask is empty"):
        load_shreds([tmp_path])


@pytest.mark.parametrize("kind", ["U3", "S3", "M8[s]", "m8[s]", "i4,i4", "c16"])
def test_a_mask_of_no_numbers_is_an_error(tmp_path: Path, kind: str) -> None:
    save(tmp_path / "strips/a.png", picture())
    (tmp_path / "masks").mkdir()
    np.save(tmp_path / "masks/a.npy", np.zeros((60, 24), kind))
    with pytest.raises(
        InputError, match=r"a\.npy: .*(True and False, or numbers|not numbers).*Save it again"
    ):
        load_shreds([tmp_path])


@pytest.mark.parametrize(
    "shape",
    ["(1000000, 1000000)", "(True, 24)", "(99999999999999999999999, 1)", "(60, 24", "(-1, 24)", "(60, 2')"],
)
def test_a_mask_with_a_lying_header_is_an_error(tmp_path: Path, shape: str) -> None:
    save(tmp_path / "strips/a.png", picture())
    (tmp_path / "masks").mkdir()
    header = f"{{'descr': '|b1', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    start = b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode()
    (tmp_path / "masks/a.npy").write_bytes(start + b"\1" * 60 * 24)
    with pytest.raises(InputError, match=r"a\.npy: (this is not a readable NPY file|would unpack)"):
        load_shreds([tmp_path])


def test_a_pickled_mask_is_never_unpickled(tmp_path: Path) -> None:
    save(tmp_path / "strips/a.png", picture())
    (tmp_path / "masks").mkdir()
    np.save(tmp_path / "masks/a.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="not a readable NPY file"):
        load_shreds([tmp_path])


def test_folders_are_one_pile_and_equal_names_are_told_apart(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        for name in ("01", "02"):
            save(tmp_path / folder / f"{name}.png", picture())
    save(tmp_path / "two/03.png", picture())
    assert load_shreds([tmp_path / "one", tmp_path / "two"]).ids == (
        "one/01",
        "one/02",
        "two/01",
        "two/02",
        "03",
    )


def test_names_with_spaces_and_beyond_ascii_work(tmp_path: Path) -> None:
    for name in ("Müll 1.png", "纸 条.jpg", "a b/ß.webp"):
        save(tmp_path / "Streifen (neu)" / name, picture())
    assert set(load_shreds([tmp_path]).ids) == {"Müll 1", "纸 条", "ß"}


def test_a_name_that_is_no_utf_8_becomes_an_id_that_is(tmp_path: Path) -> None:
    for name in (b"caf\xe9.png", b"caf\xe8.png", b"caf.png"):
        (tmp_path / os.fsdecode(name)).write_bytes(encode_png(picture()))
    sheet = np.full((900, 900, 3), (250, 180, 88), np.uint8)
    sheet[100:800, 200:300] = 250
    (tmp_path / os.fsdecode(b"sh\xe9et.png")).write_bytes(encode_png(sheet))
    intake = load_intake([tmp_path])
    assert len(intake.shreds) == 4
    assert intake.shreds.fingerprint
    assert intake.sheets[0].name == "sh\ufffdet"
    assert "sh\ufffdet" in json.dumps(intake.sheets[0].segmentation.as_json(), ensure_ascii=False)
    json.dumps(intake.sheets[0].segmentation.as_json(), ensure_ascii=False).encode()


def test_frames_and_files_that_are_named_like_frames_are_told_apart(tmp_path: Path) -> None:
    frames = [Image.fromarray(picture(seed=seed)) for seed in (1, 2)]
    frames[0].save(tmp_path / "a.tif", save_all=True, append_images=frames[1:])
    save(tmp_path / "a#01.png", picture())
    assert set(load_shreds([tmp_path]).ids) == {"a#01", "a.tif#01", "a.tif#02"}
    assert set(name_scans(load_scans([tmp_path]))) == {"a#01", "a.tif#01", "a.tif#02"}


def test_other_files_in_a_folder_are_passed_over(tmp_path: Path) -> None:
    save(tmp_path / "a.png", picture())
    (tmp_path / "truth.json").write_text("{}")
    (tmp_path / "._a.png").write_bytes(b"resource fork")
    assert load_shreds([tmp_path]).ids == ("a",)


def test_beside_a_folder_of_shreds_nothing_else_is_read(tmp_path: Path) -> None:
    save(tmp_path / "shreds/a.png", picture())
    save(tmp_path / "overviews/sheet.png", picture())
    assert load_shreds([tmp_path]).ids == ("a",)


def test_results_of_deshred_are_only_read_when_named(tmp_path: Path) -> None:
    save(tmp_path / "a.png", picture())
    save(tmp_path / "out/pages/page-001.png", picture())
    (tmp_path / "out" / CASE).write_text("{}")
    assert load_shreds([tmp_path]).ids == ("a",)
    assert load_shreds([tmp_path / "out"]).ids == ("page-001",)


def test_the_source_has_path_and_digest(tmp_path: Path) -> None:
    import hashlib

    path = save(tmp_path / "a.png", picture())
    source = load_shreds([path])[0].source
    assert source.path == path
    assert source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_sources_of_a_pile_are_all_files_that_were_read(tmp_path: Path) -> None:
    sheet = np.full((900, 900, 3), (250, 180, 88), np.uint8)
    blank = save(tmp_path / "blank.png", sheet)
    frames = [Image.fromarray(picture(seed=seed)) for seed in (1, 2)]
    many = tmp_path / "many.tif"
    frames[0].save(many, save_all=True, append_images=frames[1:])
    shred, twin = (save(tmp_path / f"doc/strips/a.{kind}", picture()) for kind in ("jpg", "png"))
    mask = save(tmp_path / "doc/masks/a.png", np.full((60, 24), 255, np.uint8))
    intake = load_intake([tmp_path / "doc", blank, many], executor=ProcessExecutor(2))
    assert [source.path for source in intake.sources] == [shred, mask, twin, blank, many]
    assert all(source.sha256 == hash_file(source.path) for source in intake.sources)
    assert {shred.source.path for shred in intake.shreds} == {shred, twin, many}


def test_a_transparent_scan_is_flattened_to_white(tmp_path: Path) -> None:
    mask = np.zeros((60, 24), bool)
    mask[:, 3:] = True
    (tmp_path / "a.png").write_bytes(encode_png(picture(), mask))
    image = flatten(read_scans(tmp_path / "a.png")[0])
    assert image.dtype == np.uint8
    assert np.array_equal(image[mask], picture()[mask])
    assert (image[~mask] == 255).all()
    whole = read_scans(save(tmp_path / "b.png", picture()))[0]
    assert np.array_equal(flatten(whole), picture())


def damaged(kind: str) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(picture(300, 200)).save(buffer, format=kind)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "TIFF"])
@pytest.mark.parametrize("kept", [0.02, 0.3, 0.9])
def test_a_truncated_file_is_an_input_error_that_names_it(kind: str, kept: float) -> None:
    content = damaged(kind)
    with pytest.raises(InputError, match=r"shred 7\.x"):
        list(
            decode(content[: max(4, int(len(content) * kept))], Path("shred 7.x"), max_pixels=10**8).pictures
        )


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "TIFF"])
def test_flipped_bytes_never_crash(kind: str) -> None:
    rng = np.random.default_rng(1)
    content = damaged(kind)
    for _ in range(40):
        flipped = bytearray(content)
        for at in rng.integers(0, len(flipped), 8):
            flipped[at] = rng.integers(0, 256)
        try:
            frames = list(decode(bytes(flipped), Path("x"), max_pixels=10**7).pictures)
        except InputError as error:
            assert str(error).startswith("x: ")  # noqa: PT017
        else:
            assert all(frame.image.ndim == 3 for frame in frames)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "empty"),
        (b"hello, I am a text file", "not an image"),
        (b"%PDF-1.7 but no more", "PDF cannot be opened"),
        (b"\x89PNG\r\n\x1a\n", "x.png"),
    ],
)
def test_what_is_no_image_is_an_input_error_with_a_remedy(
    tmp_path: Path, content: bytes, complaint: str
) -> None:
    (tmp_path / "x.png").write_bytes(content)
    with pytest.raises(InputError, match=complaint) as caught:
        load_shreds([tmp_path])
    assert "x.png" in str(caught.value)


def png_bomb(side: int) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    body = zlib.compress(b"\0" * 10_000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


@pytest.mark.parametrize("side", [13_000, 60_000])
def test_an_image_bomb_is_refused_before_it_unpacks(tmp_path: Path, side: int) -> None:
    (tmp_path / "bomb.png").write_bytes(png_bomb(side))
    with pytest.raises(InputError, match=r"bomb\.png.*300 dpi"):
        load_shreds([tmp_path])


def test_pages_that_do_not_fit_into_memory_at_once_are_refused_before_they_are_drawn(tmp_path: Path) -> None:
    (tmp_path / "many.pdf").write_bytes(many_pages(20, 600))
    with pytest.raises(InputError, match=r"many\.pdf: 20 pictures of up to 6 megapixels.*0\.2 GB.*--memory"):
        read_scans(tmp_path / "many.pdf", budget=Budget(memory_gb=0.25))


def test_the_size_limit_can_be_set(tmp_path: Path) -> None:
    path = save(tmp_path / "a.png", picture(100, 100))
    with pytest.raises(InputError, match=r"0\.005 megapixels"):
        load_scans([path], options=ScanOptions(max_megapixels=0.005))


@pytest.mark.parametrize("kind", ["shreds", "sheets"])
def test_the_size_limit_holds_at_300_dpi(tmp_path: Path, kind: Any) -> None:
    sheet = np.full((400, 400, 3), (250, 180, 88), np.uint8)
    sheet[50:350, 100:140] = 250
    path = save(tmp_path / "a.png", sheet, dpi=(100, 100))
    with pytest.raises(InputError, match=r"400 x 400 pixels at 100 dpi would be 1200 x 1200 .*1 mega.*--dpi"):
        load_shreds([path], options=ScanOptions(max_megapixels=1, kind=kind))
    with pytest.warns(DoubtfulScanWarning, match="100 dpi"):
        assert len(load_shreds([path], options=ScanOptions(max_megapixels=1.5, kind=kind))) == 1
    assert len(load_shreds([path], options=ScanOptions(max_megapixels=1, kind=kind, dpi=300))) == 1


def test_the_size_limit_holds_at_300_dpi_for_pages_too(tmp_path: Path) -> None:
    scan = replace(read_scans(save(tmp_path / "a.png", picture()))[0], dpi=0.5)
    with pytest.raises(InputError, match="14400 x 36000 at 300 dpi"):
        to_working_resolution(scan)


def test_an_empty_folder_and_a_missing_path_are_input_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no images"):
        load_shreds([tmp_path])
    with pytest.raises(InputError, match="no such file"):
        load_shreds([tmp_path / "nowhere"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_an_input_error(tmp_path: Path) -> None:
    path = save(tmp_path / "a.png", picture())
    path.chmod(0)
    with pytest.raises(InputError, match="permissions"):
        load_shreds([path])


@pytest.mark.parametrize(
    "options",
    [{"dpi": 0}, {"dpi": 10_000}, {"max_megapixels": 0}, {"max_megapixels": 1e6}, {"kind": "pages"}],
)
def test_senseless_options_are_settings_errors(options: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=next(iter(options))):
        ScanOptions(**options)


def test_threads_and_processes_load_what_serial_loads(tmp_path: Path) -> None:
    for seed in range(5):
        save(tmp_path / f"{seed}.png", picture(seed=seed))
    expected = load_shreds([tmp_path], executor=SerialExecutor())
    for executor in (ThreadExecutor(2), ProcessExecutor(2)):
        loaded = load_shreds([tmp_path], executor=executor)
        assert loaded.fingerprint == expected.fingerprint
        for one, other in zip(loaded, expected, strict=True):
            np.testing.assert_array_equal(one.image, other.image)


def test_shreds_read_whole_are_known_by_their_files(tmp_path: Path) -> None:
    """The same file under another name is the same shred; other pixels, masks and resolutions are not."""
    paper = np.full((60, 24), 255, np.uint8)
    for name in ("one", "same", "part"):
        save(tmp_path / "doc/strips" / f"{name}.png", picture(seed=1))
        save(tmp_path / "doc/masks" / f"{name}.png", paper)
    paper[:40] = 0
    save(tmp_path / "doc/masks/part.png", paper)
    plain = [save(tmp_path / "plain" / f"{seed}.png", picture(seed=seed)) for seed in (1, 2)]
    one, part, same = (shred.fingerprint for shred in load_shreds([tmp_path / "doc"]))
    first, second = (shred.fingerprint for shred in load_shreds(plain))
    finer = load_shreds(plain[:1], options=ScanOptions(dpi=302))[0].fingerprint
    assert one == same
    assert len({one, part, first, second, finer}) == 5


def test_frames_of_a_file_are_told_apart(tmp_path: Path) -> None:
    frames = [Image.fromarray(picture(seed=seed)) for seed in (1, 2)]
    frames[0].save(tmp_path / "both.tif", save_all=True, append_images=frames[1:])
    one, two = load_shreds([tmp_path / "both.tif"])
    assert one.fingerprint != two.fingerprint


def test_a_png_keeps_pixels_mask_and_resolution(tmp_path: Path) -> None:
    mask = np.zeros((60, 24), bool)
    mask[:, 3:] = True
    path = tmp_path / "a.png"
    path.write_bytes(encode_png(picture(), mask, dpi=600))
    scan = read_scans(path)[0]
    assert np.array_equal(scan.image, picture())
    assert scan.mask is not None
    assert np.array_equal(scan.mask, mask)
    assert scan.dpi == pytest.approx(600, rel=1e-4)
