from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from deshred.budgets import Budget
from deshred.errors import InputError
from deshred.imaging.decoding import Frame, decode
from deshred.imaging.formats import is_risky
from deshred.imaging.workers import decode_safely
from tests.hostile import jpeg_of_many_scans, large_picture, many_pages, nested_forms, one_page, stream, tiff

QUICK = Budget(seconds=1)
needs_limits = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits as Linux has them")


def noise(height: int, width: int, seed: int = 0) -> Image.Image:
    return Image.fromarray(np.random.default_rng(seed).integers(0, 255, (height, width, 3)).astype(np.uint8))


def encode(kind: str, *pictures: Image.Image, **options: object) -> bytes:
    buffer = io.BytesIO()
    more = {"save_all": True, "append_images": pictures[1:]} if len(pictures) > 1 else {}
    pictures[0].save(buffer, kind, **more, **options)
    return buffer.getvalue()


def read(content: bytes, budget: Budget | None = None, name: str = "x") -> list[Frame]:
    return list(decode_safely(content, Path(name), max_pixels=10**8, budget=budget).pictures)


RISKY = {
    "tiff": encode("TIFF", noise(90, 70), noise(30, 200, 1), dpi=(204, 98)),
    "alpha tiff": encode("TIFF", noise(90, 70).convert("RGBA").rotate(20, fillcolor=(0, 0, 0, 0))),
    "pdf": encode("PDF", noise(90, 70), noise(50, 60)),
    "progressive jpeg": encode("JPEG", noise(90, 70), progressive=True, dpi=(72, 72)),
}


@pytest.mark.parametrize("kind", RISKY)
def test_a_worker_gives_the_same_pixels(kind: str) -> None:
    content = RISKY[kind]
    assert is_risky(content)
    here = list(decode(content, Path("x"), max_pixels=10**8).pictures)
    there = read(content)
    assert len(here) == len(there)
    for one, other in zip(here, there, strict=True):
        np.testing.assert_array_equal(one.image, other.image)
        assert (one.mask is None) == (other.mask is None)
        assert one.mask is None or np.array_equal(one.mask, other.mask)
        assert (one.dpi, one.meaningless_dpi) == (other.dpi, other.meaningless_dpi)


@pytest.mark.parametrize("kind", ["PNG", "BMP", "WEBP", "JPEG"])
def test_what_costs_what_its_size_says_needs_no_worker(kind: str) -> None:
    assert not is_risky(encode(kind, noise(90, 70)))


@pytest.mark.parametrize("colors", ["L", "RGB", "CMYK"])
def test_jpegs_of_one_scan_are_told_from_those_of_many(colors: str) -> None:
    picture = noise(90, 70).convert(colors)
    assert not is_risky(encode("JPEG", picture))
    assert not is_risky(encode("JPEG", picture, exif=b"Exif\0\0" + bytes(3000)))
    assert is_risky(encode("JPEG", picture, progressive=True))


@needs_limits
@pytest.mark.parametrize(
    "make", [nested_forms, lambda: jpeg_of_many_scans(2000, 2000)], ids=["nested forms", "many scans"]
)
def test_a_file_that_would_take_for_ever_is_refused_by_name(make: object) -> None:
    with pytest.raises(InputError, match=r"my file\.pdf: .*leave it out"):
        read(make(), QUICK, "my file.pdf")  # type: ignore[operator]
    assert len(read(RISKY["tiff"])) == 2  # the next file gets a worker of its own


@needs_limits
def test_a_picture_that_would_take_too_much_memory_is_refused_by_name() -> None:
    limited = Budget(memory_gb=0.25)
    strip = {256: (3, 1, 9000), 257: (3, 1, 9000), 258: (3, 1, 8), 259: (3, 1, 5), 262: (3, 1, 1)}
    declared = tiff({**strip, 273: (4, 1, 200), 277: (3, 1, 3), 278: (4, 1, 9000), 279: (4, 1, 1 << 30)})
    with pytest.raises(InputError, match=r"x: "):
        read(declared, limited)


def test_sizes_are_checked_before_a_page_is_drawn() -> None:
    with pytest.raises(InputError, match=r"x: 12208 x 12208 pixels are more than the limit of 100 megapix"):
        read(many_pages(60, 2930))
    with pytest.raises(InputError, match=r"x: has 3,000 pictures; 1 to 2,000 can be read"):
        read(many_pages(3000, 10))
    with pytest.raises(InputError, match=r"x: a picture of .* no side can have more than 65,535"):
        read(one_page(b"", b"", size=10**9))


def test_pages_come_one_at_a_time() -> None:
    frames = decode_safely(many_pages(1000, 600), Path("x"), max_pixels=10**8)
    assert frames.count == 1000
    assert next(frames.pictures).image.shape == (2500, 2500, 3)
    frames.pictures.close()  # type: ignore[attr-defined]


def test_a_page_may_show_a_picture_much_larger_than_itself() -> None:
    assert read(large_picture(6000))[0].image.shape == (2500, 2500, 3)


def test_a_tiff_whose_height_is_damaged_is_refused() -> None:
    content = bytearray(encode("TIFF", noise(100, 60), tiffinfo={278: 100}))
    place = content.index(b"\x01\x01\x04\x00\x01\x00\x00\x00d\x00\x00\x00")
    for height, told in ((2_097_572, "no side can have more"), (5000, "damaged or cut off")):
        content[place + 8 : place + 12] = height.to_bytes(4, "little")
        with pytest.raises(InputError, match=told):
            read(bytes(content))


def flip(content: bytes, place: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 0x5A]) + content[place + 1 :]


def test_what_a_decoder_complains_of_is_told_with_the_picture() -> None:
    page = Image.fromarray(np.asarray(noise(300, 400).convert("L")) > 128)
    content = encode("TIFF", page, compression="group4")
    assert [frame.complaint for frame in read(content)] == [""]
    told = []
    for place in range(len(content) // 4, len(content) // 2, 997):
        try:
            told += [frame.complaint for frame in read(flip(content, place))]
        except InputError as error:
            told.append(str(error))
    assert any("Fax4" in complaint for complaint in told)
    assert [frame.complaint for frame in read(content)] == [""]


@pytest.mark.parametrize("kept", [0.2, 0.5, 0.8, 0.98])
def test_a_tiff_of_many_pages_that_is_cut_off_is_called_so(kept: float) -> None:
    content = encode("TIFF", *(noise(90, 70, seed) for seed in range(4)), compression="tiff_lzw")
    with pytest.raises(InputError, match=r"x: the image is damaged or cut off.*again"):
        read(content[: int(kept * len(content))])


def test_a_worker_trusts_no_module_beside_the_scans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("numpy", "json", "PIL", "struct"):
        (tmp_path / f"{name}.py").write_text("import os; os.abort()")
    monkeypatch.chdir(tmp_path)
    busy = [decode_safely(many_pages(9, 60), Path("x"), max_pixels=10**8) for _ in range(3)]
    for frames in busy:  # more than waited for work, so that some have started here
        assert next(frames.pictures).image.ndim == 3
        frames.pictures.close()  # type: ignore[attr-defined]


def test_postscript_by_any_name_reaches_no_decoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spy = tmp_path / "gs"
    spy.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n")
    spy.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    postscript = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 100 100\n%%EndComments\nshowpage\n"
    with pytest.raises(InputError, match=r"x\.png: PostScript, which cannot be read\. Save it as PNG"):
        read(postscript, name="x.png")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("kind", ["GIF", "PPM", "ICO", "JPEG2000", "PCX", "TGA"])
def test_formats_that_are_not_listed_are_refused_by_content(kind: str) -> None:
    with pytest.raises(InputError, match=r"x: .* (Save it as|Use) PNG, JPEG, TIFF, WebP, BMP or PDF"):
        read(encode(kind, noise(60, 60)))


def test_the_content_of_a_stream_is_what_the_helpers_write() -> None:
    drawing = b"0 0 300 600 re f"
    (frame,) = read(one_page(b"", drawing))
    assert frame.image[1250, 100].tolist() == [0, 0, 0]
    assert frame.image[1250, 2000].tolist() == [255, 255, 255]
    assert b"FlateDecode" in stream(drawing)
