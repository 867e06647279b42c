from pathlib import Path

import numpy as np
import pytest

from deshred.compatibility.classical.marques import MarquesOptions, MarquesScorer, take_tones
from deshred.compatibility.scoring import score
from deshred.elements import Edge, Shred, Source
from deshred.errors import SettingsError
from deshred.executors import SerialExecutor
from deshred.imaging.edges import EdgeOptions, extract_edges
from deshred.imaging.preparation import prepare

ROWS = 64
SERIAL = SerialExecutor()


def edges_of(values: np.ndarray) -> list[Edge]:
    """Edges whose V channel is given; R and G are darker and must not matter."""
    tones = np.stack([values // 3, values // 2, values], axis=-1).astype(np.uint8)
    ink, outline = np.zeros((ROWS, 2), np.uint8), np.zeros(ROWS, np.float32)
    return [Edge(ink, outline, tone, 0) for tone in tones]


def shred_of(name: str, image: np.ndarray, mask: np.ndarray | None = None) -> Shred:
    whole = np.ones(image.shape[:2], bool)
    return Shred(name, image, whole if mask is None else mask, 300, Source(Path(name), ""))


def scorer_of(reach: int, wraps: bool) -> MarquesScorer:
    return MarquesScorer(MarquesOptions(reach=reach, wraps=wraps, rows=ROWS), EdgeOptions(width=2, rows=ROWS))


@pytest.mark.parametrize("wraps", [True, False])
def test_scores_and_offsets_equal_a_plain_loop(wraps: bool) -> None:
    rng = np.random.default_rng(3)
    rights, lefts = rng.integers(0, 256, (2, 5, ROWS)).astype(np.int64)
    scorer, reach = scorer_of(4, wraps), 4
    block = scorer.compare(
        scorer.describe_rights(edges_of(rights), SERIAL), scorer.describe_lefts(edges_of(lefts), SERIAL)
    )
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
    block = scorer.compare(
        scorer.describe_rights(edges_of(right[None]), SERIAL),
        scorer.describe_lefts(edges_of(left[None]), SERIAL),
    )
    assert block.offsets[0, 0] == -drop
    assert block.scores[0, 0] == 0.0


def test_equally_good_offsets_give_the_smallest() -> None:
    scorer = scorer_of(10, True)
    white = scorer.describe_rights(edges_of(np.full((1, ROWS), 255)), SERIAL)
    assert scorer.compare(white, white).offsets[0, 0] == 0


def test_no_edges_give_an_empty_block() -> None:
    scorer = scorer_of(0, False)
    some = scorer.describe_rights(edges_of(np.zeros((2, ROWS))), SERIAL)
    assert scorer.compare(some, scorer.describe_lefts([], SERIAL)).scores.shape == (2, 0)


def test_different_options_have_different_fingerprints() -> None:
    assert scorer_of(3, True).card.fingerprint != scorer_of(4, True).card.fingerprint
    assert scorer_of(3, True).card.fingerprint != scorer_of(3, False).card.fingerprint
    assert scorer_of(3, True).card.fingerprint == scorer_of(3, True).card.fingerprint


def test_shreds_are_compared_from_their_tops() -> None:
    tear = np.random.default_rng(5).integers(0, 256, (40, 1, 1)).astype(np.uint8)
    long, short = np.tile(tear, (1, 6, 3)), np.tile(tear[:35], (1, 6, 3))
    shreds = [shred_of("long", long), shred_of("short", short)]
    scorer = MarquesScorer(MarquesOptions(reach=2, rows=35), EdgeOptions(width=2, rows=ROWS))
    pile = prepare(shreds, edges=scorer.edge_options, keep=("long", "short"))
    compatibility = score(pile, scorer)
    assert compatibility.score(0, 1) == 0.0
    assert compatibility.offset(0, 1) == 0
    assert compatibility.offset(1, 0) == 0


def test_rows_without_paper_are_black() -> None:
    image = np.full((40, 6, 3), 200, np.uint8)
    mask = np.ones((40, 6), bool)
    mask[7] = False
    shred = shred_of("a", image, mask)
    edge = extract_edges(shred, options=EdgeOptions(width=2, rows=ROWS)).left
    columns = take_tones([edge], ROWS)
    assert columns.values[0, :40].tolist() == [0 if row == 7 else 200 for row in range(40)]


def test_a_reach_beyond_the_rows_is_refused() -> None:
    with pytest.raises(SettingsError, match="reach"):
        scorer_of(ROWS // 2, True)
    with pytest.raises(SettingsError, match="reach"):
        MarquesOptions(reach=-1)
