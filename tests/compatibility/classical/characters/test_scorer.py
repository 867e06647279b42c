import numpy as np
import pytest

from deshred.compatibility.classical.characters import (
    CharactersOptions,
    CharactersScorer,
    keep_shreds_with_text,
    score_clusterings,
)
from deshred.compatibility.classical.characters.alphabet import AlphabetOptions, learn_alphabet
from deshred.compatibility.classical.characters.scorer import _clean
from deshred.compatibility.classical.characters.shapes import Picture, join_characters, measure_all
from deshred.compatibility.classical.characters.text import Character, ShredText
from deshred.elements import Shred, ShredSet
from deshred.errors import InputError, SettingsError
from deshred.executors import ThreadExecutor
from tests.compatibility.classical.characters.blobs import blobs, unlike


def characters(rng: np.random.Generator, count: int) -> tuple[Character, ...]:
    return tuple(
        Character(0, 25 * place + int(rng.integers(0, 20)), ink)
        for place, ink in enumerate(blobs(rng, count))
        if ink.any()
    )


def texts_of(rng: np.random.Generator, shreds: int) -> list[ShredText]:
    return [ShredText(3, characters(rng, 9), characters(rng, 6), characters(rng, 6)) for _ in range(shreds)]


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
