import numpy as np

from deshred.compatibility.classical import PileScorer
from deshred.compatibility.classical.characters import CharactersScorer
from deshred.compatibility.classical.words import Sighting, Sightings, WordsOptions, WordsScorer
from deshred.elements import ShredSet


class EverywhereReader:
    """Sees one word over the whole picture."""

    fingerprint = "everywhere"

    def read(self, image: np.ndarray) -> Sightings:
        word = Sighting("word", 0, image.shape[1], 90.0, True)
        return Sightings((word,), (word,))


def test_joins_get_words_and_low_scores_and_no_shred_stands_beside_itself(tiny_pile: ShredSet) -> None:
    scorer: PileScorer = WordsScorer(EverywhereReader(), WordsOptions(samples=5))
    found = scorer.score_pile(tiny_pile)
    assert found.ids == tiny_pile.ids
    assert np.isneginf(np.diag(found.scores)).all()
    assert found.scores.max() > 1


def test_cards_tell_scorers_and_options_apart() -> None:
    cards = [
        WordsScorer(EverywhereReader(), WordsOptions(seed=1)).card,
        WordsScorer(EverywhereReader(), WordsOptions(seed=2)).card,
        CharactersScorer().card,
    ]
    assert len({card.fingerprint for card in cards}) == 3
    assert [card.name for card in cards] == ["words", "words", "characters"]
