from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from deshred.cases import Folder, FolderStore, MemoryStore
from deshred.compatibility.contract import AnyScorer, Rows
from deshred.compatibility.fusion import FusionScorer, FusionWeights
from deshred.compatibility.outline import OutlineScorer
from deshred.compatibility.scoring import ScoringOptions, score
from deshred.compatibility.towers.scorer import TowersScorer
from deshred.elements import Compatibility, ShredSet
from deshred.errors import MismatchError
from deshred.executors import ThreadExecutor
from deshred.imaging.edges import EdgeOptions
from tests.compatibility.comparing import Counting, pile_of


@pytest.fixture
def scorer(small_towers: Path) -> Counting:
    return Counting(small_towers, weights=FusionWeights(ink=0.5, outline=0.7))


def assert_same(some: Compatibility, others: Compatibility) -> None:
    """To the last bit."""
    assert some.ids == others.ids
    np.testing.assert_array_equal(some.scores, others.scores)
    np.testing.assert_array_equal(some.offsets, others.offsets)
    assert some.margins is not None
    assert others.margins is not None
    np.testing.assert_array_equal(some.margins.starts, others.margins.starts)
    np.testing.assert_array_equal(some.margins.ends, others.margins.ends)


def plain_score(pile: ShredSet, scorer: AnyScorer) -> Any:
    """All edges in one group, no store, no blocks: the obvious way."""
    edges = pile_of(pile, scorer.edge_options).edges
    executor = ThreadExecutor(1)
    rights = scorer.describe_rights([pair.right for pair in edges], executor)
    lefts = scorer.describe_lefts([pair.left for pair in edges], executor)
    evidence = scorer.compare(rights, lefts)

    def take(rows: Rows) -> Any:
        return evidence.take_rows(rows)

    padded = evidence.map(lambda array: np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, 56)]))
    return scorer.adapt(rights, take).reduce(padded).map(lambda array: array[:, : len(pile)].copy())


def test_groups_and_stores_give_what_the_obvious_way_gives(scorer: Counting, tiny_pile: ShredSet) -> None:
    expected = plain_score(tiny_pile, scorer).scores
    np.fill_diagonal(expected, -np.inf)
    for block in (1, 3, 256):
        found = score(pile_of(tiny_pile), scorer, options=ScoringOptions(block=block))
        np.testing.assert_array_equal(found.scores, expected)


@pytest.mark.parametrize("kept", ["memory", "folder"])
def test_a_pile_scored_in_two_halves_is_the_same_to_the_last_bit_and_pays_for_new_joins_only(
    kept: str, scorer: Counting, tiny_pile: ShredSet, tmp_path: Path
) -> None:
    whole = score(pile_of(tiny_pile), scorer)
    store = MemoryStore() if kept == "memory" else FolderStore(Folder(tmp_path))
    score(pile_of(tiny_pile[:5]), scorer, store=store)
    scorer.joins = scorer.edges = 0
    added = score(pile_of(tiny_pile), scorer, store=store)
    assert_same(added, whole)
    n, known, new = len(tiny_pile), 5, len(tiny_pile) - 5
    assert scorer.joins == n * n - known * known + 2 * new  # and each new edge once beside blank paper
    assert scorer.edges == new + 1  # blank paper shows what those that were kept must look like


def test_the_order_of_the_halves_does_not_matter(scorer: Counting, tiny_pile: ShredSet) -> None:
    store = MemoryStore()
    score(pile_of(tiny_pile[5:]), scorer, store=store)
    score(pile_of(tiny_pile[1:4]), scorer, store=store)
    scorer.joins = 0
    assert_same(score(pile_of(tiny_pile), scorer, store=store), score(pile_of(tiny_pile), scorer))


def test_what_was_scored_once_is_not_scored_again(scorer: Counting, tiny_pile: ShredSet) -> None:
    store = MemoryStore()
    first = score(pile_of(tiny_pile), scorer, store=store)
    scorer.joins = 0
    shuffled = ShredSet([replace(shred, id=f"new {shred.id}") for shred in tiny_pile][::-1])
    again = score(pile_of(shuffled), scorer, store=store)
    assert scorer.joins == 0
    np.testing.assert_allclose(again.scores[::-1, ::-1], first.scores, rtol=1e-5)


def test_a_scoring_that_was_killed_goes_on(scorer: Counting, tiny_pile: ShredSet, tmp_path: Path) -> None:
    store = FolderStore(Folder(tmp_path))
    options = ScoringOptions(block=3)
    scorer.dies_after = 30
    with pytest.raises(KeyboardInterrupt):
        score(pile_of(tiny_pile), scorer, store=store, options=options)
    done = scorer.joins
    scorer.dies_after, scorer.joins = None, 0
    resumed = score(pile_of(tiny_pile), scorer, store=store, options=options)
    count = len(tiny_pile)
    assert done + scorer.joins == count**2 + 2 * count + 1  # each edge once beside blank paper, and it itself
    assert_same(resumed, score(pile_of(tiny_pile), scorer))


def test_a_damaged_artefact_is_made_again(scorer: Counting, tiny_pile: ShredSet, tmp_path: Path) -> None:
    store = FolderStore(Folder(tmp_path))
    first = score(pile_of(tiny_pile), scorer, store=store)
    for file in tmp_path.rglob("*.npz"):
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 0xFF
        file.write_bytes(content)
    assert_same(score(pile_of(tiny_pile), scorer, store=store), first)


SPOILED: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "of another kind": lambda array: array.astype(np.str_),
    "of more bytes": lambda array: array.astype(np.float64) if array.dtype.kind in "fiub" else array,
    "cut": lambda array: array[:-1],
    "nested": lambda array: array[None],
    "a single one": lambda array: array.reshape(-1)[:1].reshape(()),
    "nothing": lambda array: array[:0],
}


@pytest.mark.parametrize("spoil", SPOILED)
@pytest.mark.parametrize("way", ["dense", "chosen", "listed"])
def test_what_a_stranger_put_under_our_keys_is_made_again(
    way: str, spoil: str, small_towers: Path, tiny_pile: ShredSet
) -> None:
    scorer: AnyScorer = OutlineScorer() if way == "listed" else TowersScorer(small_towers)
    options = ScoringOptions(dense_limit=100 if way == "dense" else 0, candidates=2, block=3)
    store = MemoryStore()
    first = score(pile_of(tiny_pile), scorer, store=store, options=options)
    for key, kept in store.kept.items():
        for name in kept:
            spoiled = {**kept, name: SPOILED[spoil](kept[name])}
            missing = {other: array for other, array in kept.items() if other != name}
            for arrays in (spoiled, missing):
                strange = MemoryStore({**store.kept, key: arrays})
                assert_same(score(pile_of(tiny_pile), scorer, store=strange, options=options), first)


def test_another_scorer_does_not_find_the_evidence_of_the_first(
    scorer: Counting, tiny_pile: ShredSet, small_towers: Path
) -> None:
    store = MemoryStore()
    score(pile_of(tiny_pile), scorer, store=store)
    other = Counting(small_towers, weights=FusionWeights(ink=1, outline=0.1))
    score(pile_of(tiny_pile), other, store=store)
    assert other.joins == len(tiny_pile) ** 2 + 2 * len(tiny_pile) + 1


@pytest.mark.parametrize("make", [TowersScorer, None], ids=["towers", "outline"])
def test_listed_scores_are_the_dense_ones_where_they_are_kept(
    make: Callable[[Path], Any] | None, small_towers: Path, tiny_pile: ShredSet
) -> None:
    scorer = OutlineScorer() if make is None else make(small_towers)
    dense = score(pile_of(tiny_pile), scorer)
    few = ScoringOptions(dense_limit=0, candidates=2, block=3)
    sparse = score(pile_of(tiny_pile), scorer, options=few)
    kept = _kept(sparse)
    for i, j in kept:
        assert sparse.score(i, j) == dense.score(i, j)
        assert sparse.offset(i, j) == dense.offset(i, j)
    best_right = {(i, int(j)) for i, row in enumerate(dense.scores) for j in np.argsort(-row)[:2]}
    best_left = {(int(i), j) for j, column in enumerate(dense.scores.T) for i in np.argsort(-column)[:2]}
    assert kept == best_right | best_left


def _kept(sparse: Compatibility) -> set[tuple[int, int]]:
    assert sparse.columns is not None
    assert sparse.row_starts is not None
    rows = np.repeat(np.arange(len(sparse)), np.diff(sparse.row_starts))
    return set(zip(rows.tolist(), sparse.columns.tolist(), strict=True))


def test_shuffling_the_shreds_shuffles_the_scores_and_nothing_else(
    scorer: Counting, tiny_pile: ShredSet
) -> None:
    order = np.random.default_rng(1).permutation(len(tiny_pile))
    shuffled = ShredSet([tiny_pile[i] for i in order])
    before, after = score(pile_of(tiny_pile), scorer), score(pile_of(shuffled), scorer)
    np.testing.assert_allclose(after.scores, before.scores[np.ix_(order, order)], rtol=1e-4)


def test_two_files_of_the_same_paper_are_two_shreds(scorer: Counting, tiny_pile: ShredSet) -> None:
    twice = ShredSet([*tiny_pile, replace(tiny_pile[2], id="copy")])
    store = MemoryStore()
    score(pile_of(tiny_pile), scorer, store=store)
    found = score(pile_of(twice), scorer, store=store)
    assert found.ids[-1] == "copy"
    np.testing.assert_array_equal(np.delete(found.scores[-1], [2, 8]), np.delete(found.scores[2], [2, 8]))


def test_edges_that_are_too_small_for_a_scorer_are_refused(scorer: Counting, tiny_pile: ShredSet) -> None:
    with pytest.raises(MismatchError, match="edge_options"):
        score(pile_of(tiny_pile, EdgeOptions(width=16, rows=3000)), scorer)


def test_matrix_products_have_no_threads_that_wait_for_each_other(
    tiny_pile: ShredSet, small_towers: Path
) -> None:
    class Watching(FusionScorer):
        threads: ClassVar[set[int]] = set()

        def adapt(self, rights: Any, evidence: Callable[[Rows], Any]) -> Any:
            self.threads |= {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}
            return super().adapt(rights, evidence)

    watching = Watching(small_towers, weights=FusionWeights(ink=0.5, outline=0.7))
    score(pile_of(tiny_pile, watching.edge_options), watching, options=ScoringOptions(block=4))
    assert watching.threads == {1}


@pytest.fixture(scope="module")
def cropped_pile(tiny_pile: ShredSet) -> ShredSet:
    """The shreds of a pile as rectangular crops, whose tears do not show."""
    return ShredSet([replace(shred, mask=np.ones_like(shred.mask)) for shred in tiny_pile])


def test_a_close_look_is_taken_only_where_no_tears_show(tiny_pile: ShredSet, cropped_pile: ShredSet) -> None:
    scorer = FusionScorer("towers-isri")
    assert score(pile_of(tiny_pile, scorer.edge_options), scorer).beliefs is None
    beliefs = score(pile_of(cropped_pile, scorer.edge_options), scorer).beliefs
    assert beliefs is not None
    assert np.isfinite(beliefs).any()


@pytest.mark.parametrize("options", [ScoringOptions(block=3), ScoringOptions(block=5, dense_limit=0)])
def test_what_is_believed_does_not_depend_on_how_a_pile_is_taken_apart(
    cropped_pile: ShredSet, options: ScoringOptions
) -> None:
    scorer = FusionScorer("towers-isri")
    pile = pile_of(cropped_pile, scorer.edge_options)
    whole = score(pile, scorer)
    parts = score(pile, scorer, options=options, executor=ThreadExecutor(2))
    assert whole.beliefs is not None
    assert parts.beliefs is not None
    rows, columns = parts.list_joins()
    np.testing.assert_array_equal(whole.beliefs[rows, columns], parts.beliefs.reshape(-1))
