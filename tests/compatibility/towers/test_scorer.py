from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deshred.compatibility.calibration import Calibration
from deshred.compatibility.fusion import FusionScorer, FusionWeights
from deshred.compatibility.scoring import ScoringOptions, compare, cut_edges, describe, score
from deshred.compatibility.towers.scorer import ROW_STEP, TowerOptions, TowersScorer
from deshred.elements import Compatibility, Edge, ShredSet
from deshred.errors import InputError, ModelError, SettingsError


def _edges(count: int, width: int, seed: int = 0) -> list[Edge]:
    rng = np.random.default_rng(seed)
    rows = 3000
    return [
        Edge(
            (rng.random((rows, width)) < 0.1).astype(np.uint8),
            np.zeros(rows, np.float32),
            np.full((rows, 3), 255, np.uint8),
            0,
        )
        for _ in range(count)
    ]


def test_onnx_gives_what_torch_gives(small_towers: Path) -> None:
    torch = pytest.importorskip("torch", reason="needs deshred[train]")
    from deshred.compatibility.towers.network import Towers, load_weights

    scorer = TowersScorer(small_towers)
    network = Towers(scorer.options)
    network.load_state_dict(load_weights(small_towers), strict=False)
    network.eval()
    rights, lefts = _edges(3, 32, 1), _edges(4, 32, 2)
    with torch.no_grad():
        encoded = [_whole(network.right, rights), _whole(network.left, lefts)]
        expected = network.scores(encoded[0] * torch.exp(network.log_scale), encoded[1]).numpy()
    block = scorer.score_block(scorer.encode_rights(rights), scorer.encode_lefts(lefts))
    np.testing.assert_allclose(block.scores, expected, rtol=2e-3, atol=2e-2)


def _whole(tower: Any, edges: list[Edge]) -> Any:
    """A tower over whole edges on blank paper, all rows, no bands."""
    import torch

    ink = torch.tensor(np.stack([edge.ink for edge in edges])).float()
    padded = torch.nn.functional.pad(ink, (0, 0, 48, 48))
    return tower(padded)[:, 12:-12]


def test_bands_of_ink_give_what_whole_edges_give(small_towers: Path) -> None:
    torch = pytest.importorskip("torch", reason="needs deshred[train]")
    from deshred.compatibility.towers.network import Towers, load_weights

    scorer = TowersScorer(small_towers)
    network = Towers(scorer.options)
    network.load_state_dict(load_weights(small_towers), strict=False)
    network.eval()
    edges = _edges(5, 32)
    for i, edge in enumerate(edges):  # sparse ink: at the ends, in the middle, nowhere
        keep = np.zeros(len(edge.ink), bool)
        for top in (0, 700 * i, 2990 - 40 * i)[:i]:
            keep[top : top + 11] = True
        edges[i] = replace(edge, ink=np.where(keep[:, None], edge.ink, np.uint8(0)))
    with torch.no_grad():
        expected = _whole(network.left, edges).numpy()
    np.testing.assert_allclose(scorer.encode_lefts(edges), expected, rtol=2e-3, atol=2e-3)


def test_several_threads_give_what_one_gives(small_towers: Path) -> None:
    edges = _edges(8, 32)  # more rows than one run of the network takes
    alone = TowersScorer(small_towers, threads=1).encode_rights(edges)
    np.testing.assert_array_equal(TowersScorer(small_towers, threads=3).encode_rights(edges), alone)


def test_a_right_edge_that_lies_lower_is_found_at_its_offset(small_towers: Path) -> None:
    scorer = TowersScorer(small_towers)
    rng = np.random.default_rng(0)
    features = rng.normal(size=(1, 750, 8)).astype(np.float16)
    lower = np.roll(features, 3, axis=1)  # row y of the left shred meets row y + 3 of the right one
    block = scorer.score_block(features, lower)
    assert block.offsets[0, 0] == -3 * ROW_STEP  # so it has to move up


def test_the_fast_shifts_equal_a_plain_loop(small_towers: Path) -> None:
    scorer = TowersScorer(small_towers)
    rng = np.random.default_rng(0)
    rights = rng.normal(size=(3, 40, 8)).astype(np.float16)
    lefts = rng.normal(size=(4, 40, 8)).astype(np.float16)
    evidence = scorer.score_shifts(rights, lefts)
    reach = scorer.options.shifts
    for k, shift in enumerate(range(-reach, reach + 1)):
        for i in range(3):
            for j in range(4):
                met = [
                    float(rights[i, y].astype(np.float32) @ lefts[j, y + shift].astype(np.float32))
                    for y in range(40)
                    if 0 <= y + shift < 40
                ]
                assert evidence[k, i, j] == pytest.approx(sum(met), abs=1e-3)


def test_blocks_give_what_the_whole_gives(small_towers: Path, tiny_pile: ShredSet) -> None:
    scorer = TowersScorer(small_towers)
    whole = score(tiny_pile, scorer)
    blocks = score(tiny_pile, scorer, options=ScoringOptions(block=3))
    np.testing.assert_allclose(blocks.scores, whole.scores, rtol=1e-5)
    np.testing.assert_array_equal(blocks.offsets, whole.offsets)


def test_sparse_scores_are_the_dense_ones_where_they_are_kept(
    small_towers: Path, tiny_pile: ShredSet
) -> None:
    scorer = TowersScorer(small_towers)
    descriptions = describe(tiny_pile, cut_edges(tiny_pile, scorer), scorer)
    dense = compare(descriptions, scorer)
    sparse = compare(descriptions, scorer, options=ScoringOptions(dense_limit=0, candidates=2, block=3))
    kept = _kept(sparse)
    for i, j in kept:
        assert sparse.score(i, j) == pytest.approx(dense.score(i, j), rel=1e-5)
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
    small_towers: Path, tiny_pile: ShredSet
) -> None:
    scorer = TowersScorer(small_towers)
    order = np.random.default_rng(1).permutation(len(tiny_pile))
    shuffled = ShredSet([tiny_pile[i] for i in order])
    before, after = score(tiny_pile, scorer), score(shuffled, scorer)
    np.testing.assert_allclose(after.scores, before.scores[np.ix_(order, order)], rtol=1e-4)


def test_a_file_that_is_no_model_is_refused_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "broken.onnx").write_bytes(b"no model")
    with pytest.raises(ModelError, match="deshred models"):
        TowersScorer(tmp_path / "broken.onnx")


def test_a_width_that_does_not_divide_is_refused() -> None:
    with pytest.raises(SettingsError, match="multiple of 16"):
        TowerOptions(width=60)


def test_a_pile_from_a_generator_is_scored_like_one_in_memory(
    small_towers: Path, tiny_pile: ShredSet
) -> None:
    scorer = FusionScorer(small_towers, weights=FusionWeights())
    scorer.calibration = Calibration(slope=1.0, intercept=0.0)
    whole = score(tiny_pile, scorer)
    parts = score((shred for shred in tiny_pile), scorer, options=ScoringOptions(block=3))
    assert parts.ids == whole.ids
    assert parts.fingerprint == whole.fingerprint == tiny_pile.fingerprint
    np.testing.assert_allclose(parts.scores, whole.scores, rtol=1e-4, atol=1e-4)
    assert parts.margins is not None
    assert whole.margins is not None
    np.testing.assert_allclose(parts.margins.ends, whole.margins.ends, rtol=1e-4, atol=1e-4)


def test_ids_given_twice_are_found_across_parts_of_a_pile(small_towers: Path, tiny_pile: ShredSet) -> None:
    twice = [*tiny_pile, tiny_pile[0]]
    with pytest.raises(InputError, match=tiny_pile[0].id):
        score(iter(twice), TowersScorer(small_towers), options=ScoringOptions(block=3))
