from pathlib import Path

import numpy as np

from deshred.compatibility.classical.characters import read_shapes
from deshred.elements import Shred, Source


def shred_of(image: np.ndarray) -> Shred:
    rgb = np.repeat(image[:, :, None], 3, axis=2).astype(np.uint8)
    return Shred("s", rgb, np.ones(image.shape, bool), 300, Source(Path("s"), ""))


def test_characters_are_sorted_by_the_tear_that_cuts_them() -> None:
    page = np.full((120, 85), 255)
    page[40:70, 2:12] = 0  # near the left tear
    page[40:70, 30:42] = 0  # inside
    page[46:76, 70:81] = 0  # near the right tear
    text = read_shapes(shred_of(page), displacement=5)
    assert [(c.x, c.width) for c in text.lefts] == [(2, 10)]
    assert [(c.x, c.width) for c in text.inner] == [(30, 12)]
    assert [(c.x, c.width) for c in text.rights] == [(70, 11)]
    assert not read_shapes(shred_of(page), displacement=1).is_usable


def test_a_dot_belongs_to_its_letter() -> None:
    page = np.full((120, 85), 255)
    page[40:44, 31:36] = 0
    page[50:70, 30:38] = 0
    (letter,) = read_shapes(shred_of(page), displacement=5).inner
    assert (letter.y, letter.height, letter.width) == (40, 30, 8)


def test_what_is_too_high_for_text_takes_its_rows_with_it() -> None:
    page = np.full((300, 85), 255)
    page[20:50, 40:52] = 0
    page[100:220, 3:10] = 0  # a ruled line
    page[120:150, 50:62] = 0  # text beside it
    text = read_shapes(shred_of(page), displacement=5)
    assert [c.y for c in (*text.inner, *text.lefts, *text.rights)] == [20]
