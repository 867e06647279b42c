from pathlib import Path

import numpy as np
import pytest
from scipy import ndimage

from deshred.compatibility.classical.characters import (
    CharactersOptions,
    CharactersScorer,
    keep_shreds_with_text,
    read_shapes,
    score_clusterings,
)
from deshred.compatibility.classical.characters.alphabet import AlphabetOptions, learn_alphabet
from deshred.compatibility.classical.characters.scorer import _clean
from deshred.compatibility.classical.characters.shapes import (
    Canvas,
    Letters,
    Picture,
    join_characters,
    measure_all,
)
from deshred.compatibility.classical.characters.text import Character, ShredText
from deshred.elements import Shred, ShredSet, Source
from deshred.errors import InputError, SettingsError
from deshred.executors import ThreadExecutor

WINDOW = 120


def unlike(one: np.ndarray, other: np.ndarray) -> float:
    """The slow, obvious modified Hausdorff distance of two pictures in one large window."""
    windows = []
    for ink in (one, other):
        rows, columns = np.nonzero(ink)
        window = np.zeros((WINDOW, WINDOW), bool)
        window[rows - int(rows.mean()) + WINDOW // 2, columns - int(columns.mean()) + WINDOW // 2] = True
        windows.append(window)
    a, b = windows
    far_a, far_b = ndimage.distance_transform_edt(~a), ndimage.distance_transform_edt(~b)
    return max(far_a[b].mean(), far_b[a].mean())


def blobs(rng: np.random.Generator, count: int) -> list[np.ndarray]:
    """Random shapes; every third is nearly the one before."""
    found: list[np.ndarray] = []
    for place in range(count):
        if place % 3 == 2:
            twin = found[-1].copy()
            twin[tuple(rng.integers(0, size) for size in twin.shape)] ^= True
            found.append(twin if twin.any() else found[-1])
            continue
        height, width = rng.integers(8, 30, 2)
        found.append(ndimage.gaussian_filter(rng.random((height, width)), 2) > 0.5)
    return found


def characters(rng: np.random.Generator, count: int) -> tuple[Character, ...]:
    return tuple(
        Character(0, 25 * place + int(rng.integers(0, 20)), ink)
        for place, ink in enumerate(blobs(rng, count))
        if ink.any()
    )


def texts_of(rng: np.random.Generator, shreds: int) -> list[ShredText]:
    return [ShredText(3, characters(rng, 9), characters(rng, 6), characters(rng, 6)) for _ in range(shreds)]


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


def slow_score(right_side: ShredText, left_side: ShredText, alphabet: list[np.ndarray]) -> float:
    """The rule of the method, word by word."""

    def known(ink: np.ndarray) -> bool:
        return any(unlike(ink, letter) <= 0.5 for letter in alphabet)

    rights, lefts, score = list(right_side.rights), list(left_side.lefts), 0.0
    while rights and lefts:
        right, left = rights[0], lefts[0]
        last = min(right.y + right.height - 1, left.y + left.height - 1)
        if (last - max(right.y, left.y)) / min(right.height, left.height) >= 0.5:
            fits = known(join_characters(right, left)) or (known(right.ink) and known(left.ink))
            score += 1.0 if fits else -0.2
            rights.pop(0)
            lefts.pop(0)
        elif right.y + right.height >= left.y + left.height:
            score += 0.0 if known(lefts.pop(0).ink) else -0.2
        else:
            score += 0.0 if known(rights.pop(0).ink) else -0.2
    return score + sum(0.0 if known(character.ink) else -0.2 for character in (*rights, *lefts))


def test_scores_equal_the_rule_applied_join_by_join() -> None:
    texts = texts_of(np.random.default_rng(2), 4)
    options = CharactersOptions(clusterings=2, seed=7, alphabet=AlphabetOptions(letters=10))
    scores = score_clusterings(texts, options=options)

    inner = [character.ink for character in _clean([c for text in texts for c in text.inner])]
    rng = np.random.default_rng(7)
    distances = measure_all([Picture.of(ink) for ink in inner])
    for found in scores:
        alphabet = [inner[i] for i in learn_alphabet(distances, rng, options.alphabet)]
        expected = [
            [0.0 if i == j else slow_score(one, other, alphabet) for j, other in enumerate(texts)]
            for i, one in enumerate(texts)
        ]
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_threads_and_small_alphabet_samples_change_nothing_they_should_not() -> None:
    texts = texts_of(np.random.default_rng(3), 5)
    options = CharactersOptions(clusterings=2)
    plain = score_clusterings(texts, options=options)
    np.testing.assert_array_equal(
        plain, score_clusterings(texts, options=options, executor=ThreadExecutor(2))
    )
    few = score_clusterings(texts, options=CharactersOptions(clusterings=2, learners=12))
    assert few.shape == plain.shape


def test_an_alphabet_has_one_letter_of_each_group_and_no_loners() -> None:
    points = np.concatenate([np.repeat([0.0, 100.0, 200.0], 10) + np.tile(np.arange(10), 3) / 10, [1000.0]])
    distances = np.abs(points[:, None] - points).astype(np.float32)
    letters = learn_alphabet(distances, np.random.default_rng(0), AlphabetOptions(letters=4, patience=1.0))
    assert sorted(np.round(points[letters], -2)) == [0, 100, 200]


def test_where_every_letter_stands_alone_all_are_kept() -> None:
    distances = np.abs(np.arange(5)[:, None] - np.arange(5)).astype(np.float32)
    assert len(learn_alphabet(distances, np.random.default_rng(0), AlphabetOptions())) == 5


def test_a_cut_letter_is_joined_beside_each_other_at_its_own_height() -> None:
    right = Character(3, 10, np.ones((4, 2), bool))
    left = Character(0, 12, np.ones((5, 3), bool))
    joined = join_characters(right, left)
    assert joined.shape == (7, 5)
    assert joined[:, :2].sum(axis=1).tolist() == [2, 2, 2, 2, 0, 0, 0]
    assert joined[:, 2:].sum(axis=1).tolist() == [0, 0, 3, 3, 3, 3, 3]


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


def test_shreds_without_text_are_refused_clearly(tiny_pile: ShredSet) -> None:
    bare = ShredSet(
        [
            Shred(shred.id, np.full_like(shred.image, 255), shred.mask, shred.dpi, shred.source)
            for shred in tiny_pile
        ]
    )
    assert len(keep_shreds_with_text(bare)) == 0
    with pytest.raises(InputError, match="printed text"):
        CharactersScorer().score_pile(bare)


def test_a_pile_is_scored_alike_each_time(tiny_pile: ShredSet) -> None:
    scorer = CharactersScorer(CharactersOptions(seed=3))
    found = scorer.score_pile(tiny_pile)
    assert found.ids == tiny_pile.ids
    assert np.isneginf(np.diag(found.scores)).all()
    np.testing.assert_array_equal(found.scores, scorer.score_pile(tiny_pile).scores)


def test_options_that_make_no_sense_are_refused() -> None:
    with pytest.raises(SettingsError, match="threshold"):
        CharactersOptions(threshold=0.7)
    with pytest.raises(SettingsError, match="clusterings"):
        CharactersOptions(clusterings=0)
