import numpy as np
import pytest

from deshred.compatibility.classical.marques import MarquesOptions, MarquesScorer
from deshred.elements import Edge
from deshred.errors import SettingsError
from deshred.imaging.edges import EdgeOptions
from tests.compatibility.comparing import score_edges

ROWS = 64


def edges_of(values: np.ndarray) -> list[Edge]:
    """Edges whose V channel is given; R and G are darker and must not matter."""
    tones = np.stack([values // 3, values // 2, values], axis=-1).astype(np.uint8)
    ink, outline = np.zeros((ROWS, 2), np.uint8), np.zeros(ROWS, np.float32)
    return [Edge(ink, outline, tone, 0) for tone in tones]


def scorer_of(reach: int, wraps: bool) -> MarquesScorer:
    return MarquesScorer(MarquesOptions(reach=reach, wraps=wraps), EdgeOptions(width=2, rows=ROWS))


@pytest.mark.parametrize("wraps", [True, False])
def test_scores_and_offsets_equal_a_plain_loop(wraps: bool) -> None:
    rng = np.random.default_rng(3)
    rights, lefts = rng.integers(0, 256, (2, 5, ROWS)).astype(np.int64)
    scorer, reach = scorer_of(4, wraps), 4
    block = score_edges(scorer, edges_of(rights), edges_of(lefts))
    for i in range(5):
        for j in range(5):
            distances = {}
            for offset in range(-reach, reach + 1):
                differences = [rights[i, row] - lefts[j, row - offset] for row in range(reach, ROWS - reach)]
                kept = [d % 256 if wraps else d for d in differences]
                distances[offset] = np.sqrt(np.mean(np.square(kept)))
            assert block.scores[i, j] == pytest.approx(-min(distances.values()), rel=1e-5)
            assert block.offsets[i, j] == min(distances, key=distances.__getitem__)


@pytest.mark.parametrize("wraps", [True, False])
@pytest.mark.parametrize("drop", [-7, 0, 7])
def test_a_shred_that_hangs_too_low_is_moved_up(wraps: bool, drop: int) -> None:
    tear = np.random.default_rng(0).integers(0, 256, ROWS + 40)
    right, left = tear[20 : 20 + ROWS], tear[20 - drop : 20 - drop + ROWS]
    scorer = scorer_of(10, wraps)
    block = score_edges(scorer, edges_of(right[None]), edges_of(left[None]))
    assert block.offsets[0, 0] == -drop
    assert block.scores[0, 0] == 0.0


def test_equally_good_offsets_give_the_smallest() -> None:
    scorer = scorer_of(10, True)
    white = edges_of(np.full((1, ROWS), 255))
    assert score_edges(scorer, white, white).offsets[0, 0] == 0


def test_no_edges_give_an_empty_block() -> None:
    scorer = scorer_of(0, False)
    some = edges_of(np.zeros((2, ROWS)))
    assert score_edges(scorer, some, []).scores.shape == (2, 0)


def test_different_options_have_different_fingerprints() -> None:
    assert scorer_of(3, True).card.fingerprint != scorer_of(4, True).card.fingerprint
    assert scorer_of(3, True).card.fingerprint != scorer_of(3, False).card.fingerprint
    assert scorer_of(3, True).card.fingerprint == scorer_of(3, True).card.fingerprint


def test_a_reach_beyond_the_edge_is_refused() -> None:
    with pytest.raises(SettingsError, match="reach"):
        scorer_of(ROWS // 2, True)
    with pytest.raises(SettingsError, match="reach"):
        MarquesOptions(reach=-1)
