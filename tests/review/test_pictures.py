import io

import numpy as np
import pytest
from PIL import Image

from deshred.errors import InputError
from deshred.pipeline import Reconstruction
from deshred.review.pictures import LEVELS, PER_ATLAS, Pictures


@pytest.fixture
def pictures(reconstruction: Reconstruction) -> Pictures:
    return Pictures(reconstruction.shreds, reconstruction.blank, reconstruction.settings.composition)


def test_a_strip_halves_from_level_to_level_and_keeps_its_outline(
    pictures: Pictures, reconstruction: Reconstruction
) -> None:
    sizes = []
    for level in range(LEVELS):
        picture = Image.open(io.BytesIO(pictures.strip(0, level).content))
        assert picture.mode == "RGBA"
        sizes.append(picture.height)
    height = reconstruction.shreds[0].mask.shape[0]
    assert sizes == [-(-height // 2**level) for level in range(LEVELS)]
    alpha = np.asarray(Image.open(io.BytesIO(pictures.strip(0, 0).content)))[:, :, 3] > 127
    assert abs(float(alpha.mean()) - float(reconstruction.shreds[0].mask.mean())) < 0.15


def test_an_atlas_holds_every_shred_in_its_cell(pictures: Pictures) -> None:
    cells = pictures.cells()
    atlas = Image.open(io.BytesIO(pictures.atlas(0).content))
    last = cells[min(PER_ATLAS, len(cells)) - 1]
    assert atlas.width == last.x + last.width
    for cell in cells:
        part = np.asarray(atlas.crop((cell.x, 0, cell.x + cell.width, cell.height)))
        assert (part[:, :, 3] > 0).any()


def test_the_same_picture_is_made_once(pictures: Pictures) -> None:
    assert pictures.strip(1, 2) is pictures.strip(1, 2)


@pytest.mark.parametrize(("index", "level"), [(-1, 0), (10_000, 0), (0, -1), (0, LEVELS)])
def test_what_is_not_there_is_refused(pictures: Pictures, index: int, level: int) -> None:
    with pytest.raises(InputError):
        pictures.strip(index, level)


def test_there_are_only_so_many_atlases(pictures: Pictures) -> None:
    with pytest.raises(InputError):
        pictures.atlas(1)
