from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deshred.compatibility.towers.scorer import ROW_STEP, Features, TowerOptions, TowersScorer, _to_whole
from deshred.elements import Edge
from deshred.errors import ModelError, SettingsError
from deshred.executors import SerialExecutor, ThreadExecutor
from tests.compatibility.comparing import score_edges


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
    block = score_edges(scorer, rights, lefts)
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
    features = scorer.describe_lefts(edges, SerialExecutor()).values
    # a row may be off by one unit, sums over rows by half of one
    unit = scorer.units.left
    np.testing.assert_allclose(features, unit * expected, atol=1.1)
    sums = np.cumsum(features, axis=1, dtype=np.int64)
    np.testing.assert_allclose(sums, unit * np.cumsum(expected, axis=1, dtype=np.float64), atol=0.6)


def test_what_is_too_large_for_a_whole_number_is_made_up_for_in_the_next_rows() -> None:
    values = np.zeros((2, 6, 3), np.float32)
    values[0, 1] = 300.25
    whole = _to_whole(values, 1, 127, np.int8)
    assert whole[0, :, 0].tolist() == [0, 127, 127, 46, 0, 0]
    assert not whole[1].any()


def test_real_features_have_room_in_the_units_of_their_network() -> None:
    scorer = TowersScorer()
    for side, features in (
        (scorer.units.left, scorer.describe_lefts(_edges(4, 64), SerialExecutor())),
        (scorer.units.right, scorer.describe_rights(_edges(4, 64), SerialExecutor())),
    ):
        assert side == 1 << side.bit_length() - 1
        assert 30 < np.abs(features.values.astype(int)).max() < np.iinfo(features.values.dtype).max


def test_several_threads_give_what_one_gives(small_towers: Path) -> None:
    edges = _edges(8, 32)  # more rows than one run of the network takes
    scorer = TowersScorer(small_towers)
    alone = scorer.describe_rights(edges, SerialExecutor()).values
    np.testing.assert_array_equal(scorer.describe_rights(edges, ThreadExecutor(3)).values, alone)


def test_an_edge_is_described_the_same_in_every_company(small_towers: Path) -> None:
    edges = _edges(6, 32)
    scorer = TowersScorer(small_towers)
    together = scorer.describe_lefts(edges, SerialExecutor()).values
    for some in ([4], [5, 0], [2, 3, 1]):
        apart = scorer.describe_lefts([edges[i] for i in some], SerialExecutor()).values
        np.testing.assert_array_equal(apart, together[some])


def test_a_right_edge_that_lies_lower_is_found_at_its_offset(small_towers: Path) -> None:
    scorer = TowersScorer(small_towers)
    rng = np.random.default_rng(0)
    features = Features(rng.normal(0, 300, size=(1, 750, 8)).astype(np.int16))
    # row y of the left shred meets row y + 3 of the right one
    lower = Features(np.roll(20 * features.values, 3, axis=1))
    block = scorer.reduce(scorer.compare(features, lower))
    assert block.offsets[0, 0] == -3 * ROW_STEP  # so it has to move up


def test_a_file_that_is_no_model_is_refused_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "broken.onnx").write_bytes(b"no model")
    with pytest.raises(ModelError, match="deshred models"):
        TowersScorer(tmp_path / "broken.onnx")


def test_a_width_that_does_not_divide_is_refused() -> None:
    with pytest.raises(SettingsError, match="multiple of 16"):
        TowerOptions(width=60)
