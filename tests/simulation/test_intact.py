from __future__ import annotations

from pathlib import Path

import numpy as np

from deshred.imaging.decoding import encode_png
from deshred.simulation.intact import load_intact


def test_transparent_paper_is_white(tmp_path: Path) -> None:
    ink = np.zeros((900, 2480), bool)
    for y in range(100, 800, 50):
        ink[y : y + 20, 200:-200:7] = True
    black = np.zeros((*ink.shape, 3), np.uint8)
    white = np.where(ink, 0, 255)[..., None].repeat(3, axis=2).astype(np.uint8)
    (tmp_path / "paper.png").write_bytes(encode_png(white))
    (tmp_path / "transparent.png").write_bytes(encode_png(black, ink))  # as drawing programs save a page
    paper, transparent = load_intact([tmp_path])
    assert np.array_equal(transparent.ink, paper.ink)
    assert np.array_equal(transparent.ink, ink)
