import numpy as np

from deshred.compatibility.classical.characters.shapes import (
    Canvas,
    Letters,
    Picture,
    join_characters,
    measure_all,
)
from deshred.compatibility.classical.characters.text import Character
from tests.compatibility.classical.characters.blobs import blobs, unlike


def test_distances_of_shapes_equal_a_plain_loop() -> None:
    inks = [ink for ink in blobs(np.random.default_rng(0), 12) if ink.any()]
    distances = measure_all([Picture.of(ink) for ink in inks])
    expected = [[unlike(one, other) for other in inks] for one in inks]
    np.testing.assert_allclose(distances, expected, rtol=1e-5, atol=1e-5)


def test_letters_match_where_the_plain_distance_is_within_the_threshold() -> None:
    rng = np.random.default_rng(1)
    letters = [ink for ink in blobs(rng, 9) if ink.any()]
    others = [ink for ink in (*blobs(rng, 9), *letters) if ink.any()]
    found = Letters([Picture.of(ink) for ink in letters], 0.5, Canvas(60, 60, 120, 120))
    expected = [[unlike(ink, letter) <= 0.5 for letter in letters] for ink in others]
    assert np.sum(expected) > len(letters)
    np.testing.assert_array_equal(found.match([Picture.of(ink) for ink in others]), expected)


def test_a_cut_letter_is_joined_beside_each_other_at_its_own_height() -> None:
    right = Character(3, 10, np.ones((4, 2), bool))
    left = Character(0, 12, np.ones((5, 3), bool))
    joined = join_characters(right, left)
    assert joined.shape == (7, 5)
    assert joined[:, :2].sum(axis=1).tolist() == [2, 2, 2, 2, 0, 0, 0]
    assert joined[:, 2:].sum(axis=1).tolist() == [0, 0, 3, 3, 3, 3, 3]
