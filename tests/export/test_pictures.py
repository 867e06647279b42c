from __future__ import annotations

import io

import numpy as np
import PIL.Image

from deshred.export.encoding import to_bitonal
from deshred.export.pictures import export_png, export_tiff
from tests.export.materials import make_material, write_first


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
    picture = open_picture(write_first(export_tiff, material))
    assert picture.n_frames == 2
    for number, page in enumerate(material.pages):
        picture.seek(number)
        assert np.array_equal(np.asarray(picture.convert("RGB")), page.image)
