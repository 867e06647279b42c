from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import PIL.Image
import pytest

from deshred.elements import Copy
from deshred.export.encoding import encode_jpeg, encode_page, encode_tiff
from tests.export.materials import make_material


def open_picture(content: bytes) -> PIL.Image.Image:
    return PIL.Image.open(io.BytesIO(content))


@pytest.mark.parametrize("copy", ["evidence", "reading"])
def test_every_picture_says_inside_which_copy_it_is(copy: Copy) -> None:
    page = replace(make_material().pages[0], copy=copy)
    png = open_picture(encode_page(page))
    jpeg = open_picture(encode_jpeg(page))
    tiff = open_picture(encode_tiff(page, bitonal=False))
    for told in (png.info["Description"], jpeg.info["comment"].decode(), tiff.tag_v2[270]):
        assert told.startswith(f"deshred, {copy} copy")
    np.testing.assert_array_equal(np.asarray(png), page.image)
