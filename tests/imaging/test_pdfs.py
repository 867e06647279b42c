"""PDFs: measured before they are drawn, drawn one page at a time, the same in every thread."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pypdfium2
import pytest

from deshred.errors import InputError
from deshred.imaging.decoding import Frames
from deshred.imaging.pdfs import decode_pdf
from tests.hostile import many_pages, one_page

PATH = Path("some.pdf")


def pages_of(*sizes: tuple[float, float]) -> bytes:
    """Empty pages of these sizes in points."""
    document = pypdfium2.PdfDocument.new()
    for size in sizes:
        document.new_page(*size)
    buffer = io.BytesIO()
    document.save(buffer)
    document.close()
    return buffer.getvalue()


def open_pdf(content: bytes, max_pixels: int = 10**8) -> Frames:
    return decode_pdf(content, PATH, max_pixels=max_pixels)


def test_every_page_has_its_own_size_at_300_dpi() -> None:
    frames = open_pdf(pages_of((72, 144), (144, 36)))
    assert (frames.count, frames.most_pixels) == (2, 300 * 600)
    pictures = list(frames.pictures)
    assert [frame.image.shape for frame in pictures] == [(600, 300, 3), (150, 600, 3)]
    assert {frame.dpi for frame in pictures} == {300.0}
    assert {frame.mask for frame in pictures} == {None}


def test_colors_are_red_green_and_blue_in_this_order_on_white_paper() -> None:
    (frame,) = open_pdf(one_page(b"", b"1 0 0 rg 0 50 50 50 re f 0 0 1 rg 0 0 50 50 re f", size=100)).pictures
    upper, lower, empty = frame.image[50, 50], frame.image[350, 50], frame.image[200, 380]
    assert [pixel.tolist() for pixel in (upper, lower, empty)] == [[255, 0, 0], [0, 0, 255], [255] * 3]


def test_a_page_that_is_too_large_is_refused_before_the_first_is_drawn() -> None:
    with pytest.raises(InputError, match=r"some\.pdf: 6250 x 6250 pixels are more .* 20 megapixels"):
        open_pdf(pages_of((72, 72), (1500, 1500)), max_pixels=20_000_000)


def test_more_pages_than_anybody_scans_are_refused() -> None:
    with pytest.raises(InputError, match=r"some\.pdf: has [\d,]+ pictures"):
        open_pdf(many_pages(20_000, 10))


@pytest.mark.parametrize("content", [b"%PDF-1.7", b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer <<>>"])
def test_what_cannot_be_opened_comes_with_a_remedy(content: bytes) -> None:
    with pytest.raises(InputError, match=r"some\.pdf: the PDF cannot be opened .*save it again"):
        open_pdf(content)


def test_a_password_is_named_as_a_reason() -> None:
    pikepdf = pytest.importorskip("pikepdf", reason="pikepdf is not installed: pip install 'deshred[pdf]'")
    buffer = io.BytesIO()
    with pikepdf.open(io.BytesIO(pages_of((72, 72)))) as document:
        document.save(buffer, encryption=pikepdf.Encryption(owner="o", user="u"))
    with pytest.raises(InputError, match=r"Remove its password"):
        open_pdf(buffer.getvalue())


def test_pages_outlive_the_document_they_were_drawn_from() -> None:
    content = one_page(b"", b"0 0 0 rg 0 0 50 100 re f", size=100)
    kept = [frame.image for _ in range(3) for frame in open_pdf(content).pictures]
    for image in kept:
        assert (image[:, :200] == 0).all()
        assert (image[:, 212:] == 255).all()


def test_one_may_stop_after_the_first_page() -> None:
    pictures = open_pdf(many_pages(50, 72)).pictures
    assert next(pictures).image.shape == (300, 300, 3)
    pictures.close()  # type: ignore[attr-defined]
    assert list(pictures) == []


def test_threads_draw_what_one_after_the_other_draws() -> None:
    contents = [one_page(b"", b"0 0 0 rg 0 0 %d 100 re f" % width, size=100) for width in range(10, 90, 10)]
    plain = [next(open_pdf(content).pictures).image for content in contents]
    with ThreadPoolExecutor(4) as pool:
        drawn = list(pool.map(lambda content: next(open_pdf(content).pictures).image, contents * 3))
    for one, other in zip(drawn, plain * 3, strict=True):
        np.testing.assert_array_equal(one, other)
