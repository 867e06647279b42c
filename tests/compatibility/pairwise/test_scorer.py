from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from deshred.compatibility.pairwise.scorer import (
    PairwiseOptions,
    PairwiseScorer,
    shift_down,
)
from deshred.compatibility.scorers import load_scorer
from deshred.elements import Edge
from deshred.errors import SettingsError
from deshred.settings import Settings
from tests.compatibility.comparing import score_edges

torch = pytest.importorskip("torch", reason="the plain twin needs deshred[train]")

from deshred.compatibility.pairwise.samples import SampleOptions  # noqa: E402
from deshred.compatibility.pairwise.squeezenet import SqueezeNet  # noqa: E402
from deshred.compatibility.pairwise.training import export_pairwise  # noqa: E402
from tests.compatibility.pairwise.networks import lively_network  # noqa: E402

# torch's exporter warns about itself
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

ROWS = 408  # 16 k + 8, as 3000 is


def make_scorer(network: SqueezeNet, columns: int, folder: Path, max_shift: int) -> PairwiseScorer:
    file = folder / f"{columns}.onnx"
    export_pairwise(network, file, options=SampleOptions(columns=columns), card={})
    return PairwiseScorer(file, options=PairwiseOptions(rows=ROWS, max_shift=max_shift), threads=1)


def make_edge(rng: np.random.Generator, width: int) -> Edge:
    """Two bands of ink with a long blank between them."""
    ink = np.zeros((ROWS, width), np.uint8)
    ink[20:60] = rng.random((40, width)) < 0.3
    ink[350:380] = rng.random((30, width)) < 0.3
    return Edge(ink, np.zeros(ROWS, np.float32), np.full((ROWS, 3), 255, np.uint8), 0)


def plain_probability(network: SqueezeNet, right: Edge, left: Edge, shift: int) -> float:
    """The paper's words, one join and one shift at a time."""
    moved = np.zeros_like(left.ink)
    for row in range(ROWS):
        if 0 <= row - shift < ROWS:
            moved[row] = left.ink[row - shift]
    joined = np.concatenate([right.ink[:, ::-1], moved], axis=1)
    with torch.no_grad():
        logits = network(torch.from_numpy(joined)[None, None].float())
    return float(torch.softmax(logits, dim=1)[0, 1])


@pytest.mark.parametrize(("columns", "sample_rows"), [(32, 32), (64, 32), (32, 64)])
def test_shared_work_gives_what_a_plain_loop_gives(columns: int, sample_rows: int, tmp_path: Path) -> None:
    network = lively_network(columns, sample_rows=sample_rows)
    scorer = make_scorer(network, columns, tmp_path, max_shift=3)
    rng = np.random.default_rng(0)
    rights, lefts = ([make_edge(rng, columns // 2) for _ in range(n)] for n in (2, 3))
    block = score_edges(scorer, rights, lefts)
    for i, right in enumerate(rights):
        for j, left in enumerate(lefts):
            plain = {shift: plain_probability(network, right, left, shift) for shift in range(-3, 4)}
            best = max(plain, key=lambda shift: plain[shift])
            assert block.scores[i, j] == pytest.approx(plain[best], abs=1e-5)
            assert block.offsets[i, j] == best


@pytest.mark.parametrize("sample_rows", [32, 64])
def test_rows_with_ink_on_one_side_only_count_as_in_a_plain_loop(sample_rows: int, tmp_path: Path) -> None:
    network = lively_network(32, sample_rows=sample_rows)
    scorer = make_scorer(network, 32, tmp_path, max_shift=1)
    rng = np.random.default_rng(0)
    bands = [(0, 40), (370, ROWS), (150, 170), (0, 0)]
    edges = []
    for first, last in bands:
        ink = np.zeros((ROWS, 16), np.uint8)
        ink[first:last] = rng.random((last - first, 16)) < 0.3
        edges.append(Edge(ink, np.zeros(ROWS, np.float32), np.full((ROWS, 3), 255, np.uint8), 0))
    scores = score_edges(scorer, edges, edges).scores
    for i, right in enumerate(edges):
        for j, left in enumerate(edges):
            plain = max(plain_probability(network, right, left, shift) for shift in (-1, 0, 1))
            assert scores[i, j] == pytest.approx(plain, abs=1e-5)


def test_scores_do_not_depend_on_the_block(tmp_path: Path) -> None:
    scorer = make_scorer(lively_network(32), 32, tmp_path, max_shift=1)
    rng = np.random.default_rng(0)
    rights, lefts = [make_edge(rng, 16) for _ in range(10)], [make_edge(rng, 16)]
    whole = score_edges(scorer, rights, lefts).scores
    single = [score_edges(scorer, [right], lefts).scores[0] for right in rights]
    np.testing.assert_allclose(whole, single, atol=1e-5)


def test_the_map_along_a_join_has_the_mean_that_is_scored(tmp_path: Path) -> None:
    network = lively_network(32)
    scorer = make_scorer(network, 32, tmp_path, max_shift=0)
    rng = np.random.default_rng(0)
    right, left = make_edge(rng, 16), make_edge(rng, 16)
    score = score_edges(scorer, [right], [left]).scores[0, 0]
    along = scorer.map_join(right, left, 0)
    assert along.shape == (ROWS // 16,)
    assert 1 / (1 + np.exp(-along.mean())) == pytest.approx(score, abs=1e-5)


def test_of_equal_scores_the_smallest_shift_wins(tmp_path: Path) -> None:
    scorer = make_scorer(lively_network(32), 32, tmp_path, max_shift=4)
    blank = Edge(
        np.zeros((ROWS, 16), np.uint8), np.zeros(ROWS, np.float32), np.full((ROWS, 3), 255, np.uint8), 0
    )
    assert score_edges(scorer, [blank], [blank]).offsets.tolist() == [[0]]


@pytest.mark.parametrize(
    ("shift", "expected"), [(0, [1, 2, 3]), (1, [0, 1, 2]), (-2, [3, 0, 0]), (5, [0, 0, 0])]
)
def test_white_comes_in_where_rows_move_away(shift: int, expected: list[int]) -> None:
    assert shift_down(np.array([1, 2, 3], np.uint8), shift).tolist() == expected


def test_scoring_needs_no_torch() -> None:
    code = "import sys, deshred.compatibility.pairwise.scorer; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"rows": 16}, "64 to 65,535 rows"),
        ({"rows": 10**9}, "64 to 65,535 rows"),
        ({"max_shift": -1}, "got -1"),
        ({"rows": 100, "max_shift": 50}, "max_shift must lie in 0..49"),
    ],
)
def test_options_that_make_no_sense_are_refused(wrong: dict[str, int], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        PairwiseOptions(**wrong)


def test_the_greatest_shift_is_a_setting(tmp_path: Path) -> None:
    file = tmp_path / "m.onnx"
    export_pairwise(lively_network(32), file, options=SampleOptions(), card={})
    chosen = Settings().change("pairwise.max_shift", 2).pairwise
    scorer = load_scorer("pairwise", file, pairwise=chosen, threads=1)
    assert isinstance(scorer, PairwiseScorer)
    assert scorer.options.shifts == (0, -1, 1, -2, 2)
    # cached scores of other shifts must not be taken for these
    assert scorer.card.fingerprint != load_scorer("pairwise", file, threads=1).card.fingerprint
