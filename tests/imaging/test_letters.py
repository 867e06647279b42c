from __future__ import annotations

import numpy as np
import pytest

from deshred.elements import EdgePair, Image
from deshred.imaging.edges import EdgeOptions, extract_edges
from deshred.imaging.letters import _see, judge_page, learn_letters, load_letters
from deshred.simulation.drawing import draw_page
from deshred.simulation.intact import page_ink
from deshred.simulation.shredding import ShreddingOptions, shred_page


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


def cut_into_edges(image: Image) -> list[EdgePair]:
    shreds = shred_page(image, np.random.default_rng(1), options=ShreddingOptions(shreds=10))
    return [
        extract_edges(one.to_shred(str(i)), options=EdgeOptions(width=48, rows=3200))
        for i, one in enumerate(shreds)
    ]


def test_a_page_of_print_is_judged_by_its_letters() -> None:
    page = draw_page("text", np.random.default_rng(5))
    assert judge_page(cut_into_edges(page)) > 3
    assert judge_page(cut_into_edges(page[::-1, ::-1])) < -3


def test_strokes_that_say_nothing_leave_it_to_where_they_lie() -> None:
    page = np.full((3400, 2400, 3), 255, np.uint8)
    page[400:1200:80, 200:2200] = 0
    assert judge_page(cut_into_edges(page)) > 1
    assert judge_page(cut_into_edges(page[::-1, ::-1])) < -1


def test_blank_shreds_say_nothing_about_their_page() -> None:
    assert judge_page(cut_into_edges(np.full((3400, 2400, 3), 255, np.uint8))) == 0


@pytest.mark.parametrize("shape", [(16, 16), (19, 33), (403, 66)])
def test_every_window_is_seen_bit_for_bit(shape: tuple[int, int]) -> None:
    """Slowly: the mean of every point, and every window on its own."""
    ink = (np.random.default_rng(3).random(shape) < 0.4).astype(np.uint8)
    points = np.array(
        [
            [ink[y : y + 4, x : x + 4].mean() >= 0.4 for x in range(0, shape[1] - 3, 4)]
            for y in range(0, shape[0] - 3, 4)
        ]
    )
    slow = [
        sum(int(bit) << place for place, bit in enumerate(points[y : y + 4, x : x + 4].ravel()))
        for y in range(points.shape[0] - 3)
        for x in range(points.shape[1] - 3)
    ]
    assert _see(ink).tolist() == slow
