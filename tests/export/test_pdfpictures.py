"""The PDF of pictures is one that other programs open, and its pictures are those of the pages."""

from __future__ import annotations

import io

import numpy as np
import pytest

from deshred.export.encoding import encode_fax, encode_jpeg
from deshred.export.pdfpictures import FIRST, write_pictures
from tests.export.materials import make_material

pikepdf = pytest.importorskip("pikepdf", reason="pikepdf is not installed: pip install 'deshred[pdf]'")


@pytest.mark.parametrize("images", ["lossless", "jpeg", "bitonal"])
def test_every_picture_is_found_by_its_number(images: str) -> None:
    material = make_material(images=images)
    file = io.BytesIO()
    write_pictures(file, material, [1, 0])
    with pikepdf.open(file) as document:
        assert document.check_pdf_syntax() == []
        assert len(document.pages) == 0
        for number, index in enumerate((1, 0), FIRST):
            stream, page = document.get_object(number, 0), material.pages[index]
            assert (int(stream.Height), int(stream.Width)) == page.mask.shape
            if images == "lossless":
                pixels = pikepdf.PdfImage(stream).as_pil_image().convert("RGB")
                np.testing.assert_array_equal(np.asarray(pixels), page.image)
            else:
                encode = encode_jpeg if images == "jpeg" else encode_fax
                assert stream.read_raw_bytes() == encode(page)
