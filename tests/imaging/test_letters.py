from __future__ import annotations

import numpy as np
import pytest

from deshred.imaging.letters import learn_letters, load_letters
from deshred.simulation.drawing import draw_page
from deshred.simulation.intact import page_ink


@pytest.mark.parametrize("kind", ["text", "letter", "table"])
def test_drawn_pages_look_upright(kind: str) -> None:
    ink = page_ink(draw_page(kind, np.random.default_rng(123)))  # type: ignore[arg-type]
    assert load_letters().rate(ink) > 10
    assert load_letters().rate(ink[::-1, ::-1]) < -10


def test_blank_paper_looks_the_same_both_ways() -> None:
    assert load_letters().rate(np.zeros((400, 64), np.uint8)) == 0


def test_what_is_seen_upside_down_says_the_opposite() -> None:
    ink = np.zeros((400, 64), np.uint8)
    ink[100:140, 20:28] = 1
    ink[132:140, 28:44] = 1
    shapes = learn_letters([ink])
    assert shapes.rate(ink) > 0
    assert shapes.rate(ink[::-1, ::-1]) == -shapes.rate(ink)
