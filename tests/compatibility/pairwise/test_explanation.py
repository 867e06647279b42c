from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deshred.compatibility.pairwise.explanation import ExplanationOptions, JoinMap, draw_joins, map_joins
from deshred.compatibility.pairwise.scorer import PairwiseOptions, PairwiseScorer
from deshred.elements import Page, Placement, Shred, ShredSet, Source
from deshred.errors import SettingsError
from deshred.imaging.edges import extract_edges

torch = pytest.importorskip("torch", reason="making a network needs deshred[train]")

from deshred.compatibility.pairwise.samples import SampleOptions  # noqa: E402
from deshred.compatibility.pairwise.squeezenet import build_squeezenet  # noqa: E402
from deshred.compatibility.pairwise.training import export_pairwise  # noqa: E402


def white_page(*placements: Placement) -> Page:
    return Page(np.full((300, 120, 3), 255, np.uint8), np.ones((300, 120), np.bool_), placements, 300)


def dark_shred(name: str, seed: int, height: int) -> Shred:
    ink = np.random.default_rng(seed).random((height, 40)) < 0.3
    image = np.where(ink[:, :, None], 0, 255).repeat(3, axis=2).astype(np.uint8)
    return Shred(name, image, np.ones(ink.shape, np.bool_), 300, Source(Path(name), ""))


def test_good_rows_are_green_bad_ones_red_and_all_else_stays() -> None:
    fit = np.array([5.0, -5.0, 0.0], np.float32)
    join = JoinMap("a", "b", fit, 10, np.full(3, 60))
    picture = draw_joins(white_page(), [join], options=ExplanationOptions(reach=4))
    good, bad, neutral = picture[10, 60], picture[11, 60], picture[12, 60]
    assert good[1] > good[0]
    assert bad[0] > bad[1]
    assert neutral.tolist() == [255, 255, 255]
    assert (picture[10:12, 56:64] < 255).any(axis=2).all()
    picture[10:12, 56:64] = 255
    assert (picture == 255).all()


def test_a_map_that_reaches_over_the_page_is_cut_off() -> None:
    join = JoinMap("a", "b", np.full(400, 3.0, np.float32), -50, np.full(400, 118))
    assert draw_joins(white_page(), [join]).shape == (300, 120, 3)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's exporter warns about itself
def test_maps_follow_the_joins_as_they_were_laid_down(tmp_path: Path) -> None:
    file = tmp_path / "m.onnx"
    export_pairwise(build_squeezenet(32, 32, seed=0).eval(), file, options=SampleOptions(), card={})
    scorer = PairwiseScorer(file, options=PairwiseOptions(rows=136, max_shift=0), threads=1)
    shreds = ShredSet([dark_shred("a", 1, 200), dark_shred("b", 2, 210), dark_shred("c", 3, 200)])
    page = white_page(Placement("a", 0, 3), Placement("b", 40, 0), Placement("c", 80, 9))
    maps = map_joins(page, shreds, scorer)
    assert [(join.left, join.right) for join in maps] == [("a", "b"), ("b", "c")]
    assert [join.top for join in maps] == [3 + (200 - 136) // 2, (210 - 136) // 2]
    assert maps[0].seam.tolist() == [40] * 136
    # b lies 3 px higher than a, but its edge is cut 5 px lower: together its rows come 2 px lower
    edges = [extract_edges(shred, options=scorer.edge_options) for shred in shreds]
    steps = scorer.map_join(edges[0].right, edges[1].left, 2)
    assert maps[0].fit[15 + 16 * 3] == pytest.approx(steps[3], abs=1e-6)


def test_options_that_make_no_sense_are_refused() -> None:
    with pytest.raises(SettingsError, match="opacity lie above 0"):
        ExplanationOptions(opacity=0)
