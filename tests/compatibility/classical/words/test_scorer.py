import numpy as np

from deshred.compatibility.classical.characters import CharactersScorer
from deshred.compatibility.classical.words import Sighting, Sightings, WordsOptions, WordsScorer
from deshred.compatibility.contract import PileScorer
from deshred.compatibility.scorers import load_scorer
from deshred.compatibility.scoring import score
from deshred.elements import ShredSet
from deshred.imaging.preparation import prepare


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


def test_scorers_of_whole_piles_go_the_way_of_every_pile(tiny_pile: ShredSet) -> None:
    scorer = load_scorer("characters")
    found = score(prepare(tiny_pile, edges=scorer.edge_options), scorer)
    assert found.ids == tiny_pile.ids
    assert found.margins is None
    assert isinstance(load_scorer("words"), PileScorer)
