from __future__ import annotations

import numpy as np
import pytest

from deshred.simulation.drawing import DrawingOptions, draw_page
from deshred.simulation.transcripts import draw_transcript

CLEAN = DrawingOptions(dpi=100, scanned=False)


@pytest.mark.parametrize("kind", ["letter", "form", "table"])
def test_a_transcript_shows_the_page_that_is_drawn_without_it(kind: str) -> None:
    drawn = draw_transcript(kind, np.random.default_rng(5), options=CLEAN)
    assert np.array_equal(drawn.image, draw_page(kind, np.random.default_rng(5), options=CLEAN))


def test_the_box_of_a_word_holds_its_ink() -> None:
    drawn = draw_transcript("letter", np.random.default_rng(5), options=CLEAN)
    dark = drawn.image.min(axis=2) < 128
    for word in drawn.words:
        left, top, right, bottom = word.box
        assert dark[top:bottom, left:right].any(), word
    covered = np.zeros(dark.shape, bool)
    for left, top, right, bottom in (word.box for word in drawn.words):
        covered[top - 1 : bottom + 1, left - 1 : right + 1] = True
    assert (dark & covered).sum() > 0.8 * dark.sum()  # the rest is the signature and a rule
