from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import PIL.Image
import pytest

from deshred.elements import Copy
from deshred.export.pictures import (
    encode_jpeg,
    encode_page,
    encode_tiff,
    export_png,
    export_tiff,
    to_bitonal,
)
from tests.export.materials import make_material


def open_picture(content: bytes) -> PIL.Image.Image:
    return PIL.Image.open(io.BytesIO(content))


def test_png_and_tiff_hold_the_pixels_and_the_resolution() -> None:
    material = make_material()
    for export in (export_png, export_tiff):
        for file, page in zip(export(material), material.pages, strict=True):
            picture = open_picture(file.content)
            assert np.array_equal(np.asarray(picture.convert("RGB")), page.image)
            assert round(picture.info["dpi"][0]) == 300


def test_a_tiff_says_inside_which_copy_it_is() -> None:
    picture = open_picture(next(export_tiff(make_material())).content)
    assert picture.tag_v2[270] == "deshred, evidence copy"


def test_a_bitonal_tiff_is_group_4_and_holds_the_ink() -> None:
    material = make_material(images="bitonal")
    picture = open_picture(next(export_tiff(material)).content)
    assert picture.info["compression"] == "group4"
    assert np.array_equal(np.asarray(picture), np.asarray(to_bitonal(material.pages[0])))


def test_all_pages_fit_into_one_tiff() -> None:
    material = make_material(multipage=True)
    (file,) = export_tiff(material)
    picture = open_picture(file.content)
    assert picture.n_frames == 2
    for number, page in enumerate(material.pages):
        picture.seek(number)
        assert np.array_equal(np.asarray(picture.convert("RGB")), page.image)


@pytest.mark.parametrize("copy", ["evidence", "reading"])
def test_every_picture_says_inside_which_copy_it_is(copy: Copy) -> None:
    page = replace(make_material().pages[0], copy=copy)
    png = open_picture(encode_page(page))
    jpeg = open_picture(encode_jpeg(page))
    tiff = open_picture(encode_tiff(page, bitonal=False))
    for told in (png.info["Description"], jpeg.info["comment"].decode(), tiff.tag_v2[270]):
        assert told.startswith(f"deshred, {copy} copy")
    np.testing.assert_array_equal(np.asarray(png), page.image)
