from pathlib import Path

import numpy as np

from deshred.compatibility.classical.marques import MarquesOptions, MarquesScorer
from deshred.compatibility.margins import observe_borders
from deshred.compatibility.outline import OutlineScorer
from deshred.compatibility.scoring import cut_edges, score
from deshred.elements import Shred, ShredSet
from deshred.evaluation.blocks import EdgedDocument, ScoreBlocks, Window
from deshred.evaluation.collections import open_collection, read_document
from deshred.imaging.edges import EdgeOptions
from tests.evaluation.drawn_collections import write_collection

SCORER = MarquesScorer(MarquesOptions(wraps=False), EdgeOptions(width=2, rows=100))


def edge(name: str, shreds: ShredSet) -> EdgedDocument:
    edges = cut_edges(shreds, SCORER)
    return EdgedDocument(name, shreds.ids, tuple(edges), observe_borders(shreds, edges), blank=0)


def test_blocks_put_together_are_the_scores_of_the_mixed_pile(tmp_path: Path) -> None:
    collection = open_collection(write_collection(tmp_path, [3, 4, 2]))
    piles = [read_document(document).shreds for document in collection]
    blocks = ScoreBlocks([edge(str(at), pile) for at, pile in enumerate(piles)], SCORER)
    order = np.random.default_rng(0).permutation(6)
    found = blocks.assemble(Window(1, 3), order)

    mixed = [*piles[1], *piles[2]]
    whole = score(ShredSet([mixed[i] for i in order]), SCORER)
    assert found.ids == whole.ids
    np.testing.assert_allclose(found.scores, whole.scores, rtol=1e-5)
    np.testing.assert_array_equal(found.offsets, whole.offsets)


def test_a_scorer_that_adapts_sees_each_window_as_a_pile_of_its_own(tmp_path: Path) -> None:
    scorer = OutlineScorer()
    collection = open_collection(write_collection(tmp_path, [3, 4, 2]))
    piles = [read_document(document).shreds for document in collection]
    documents = []
    for at, pile in enumerate(piles):
        edges = cut_edges(pile, scorer)
        documents.append(
            EdgedDocument(str(at), pile.ids, tuple(edges), observe_borders(pile, edges), blank=0)
        )
    blocks = ScoreBlocks(documents, scorer)
    blocks.assemble(Window(0, 3), np.arange(9))
    found = blocks.assemble(Window(1, 2), np.arange(4))
    whole = score(piles[1], scorer)
    np.testing.assert_allclose(found.scores, whole.scores, rtol=1e-4, atol=1e-4)
    assert found.margins is not None
    assert whole.margins is not None
    np.testing.assert_array_equal(found.margins.starts, whole.margins.starts)
    np.testing.assert_array_equal(found.margins.widths_mm, whole.margins.widths_mm)


def test_shreds_of_different_height_get_offsets_of_their_images(tmp_path: Path) -> None:
    """Cutting rows off the top of a shred must move it down by as many."""
    collection = open_collection(write_collection(tmp_path, [2]))
    left, right = read_document(collection.documents[0]).shreds
    lower = Shred(right.id, right.image[6:], right.mask[6:], right.dpi, right.source)
    blocks = ScoreBlocks([edge("cut", ShredSet([left, lower]))], SCORER)
    found = blocks.assemble(Window(0, 1), np.arange(2))
    assert found.offset(0, 1) == 6
