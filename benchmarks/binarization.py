"""How quick is the binarization: against scikit-image's `threshold_sauvola`, on simulated shreds or on files.

    python benchmarks/binarization.py [FILES AND FOLDERS...]

Both run on one thread, one after the other: read the ratio, not the seconds.
Says, too, how many pixels differ.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from skimage.filters import threshold_sauvola

from deshred.imaging.binarization import binarize, to_gray
from deshred.imaging.intakes import load_shreds
from deshred.simulation.drawing import draw_page
from deshred.simulation.shredding import shred_page

Gray = NDArray[np.uint8]


def slow(gray: Gray) -> Gray:
    return (gray <= threshold_sauvola(gray)).view(np.uint8)


def seconds(function: Callable[[Gray], Gray], grays: list[Gray]) -> float:
    """The best of three rounds over all images."""
    rounds = []
    for _ in range(3):
        start = time.perf_counter()
        for gray in grays:
            function(gray)
        rounds.append(time.perf_counter() - start)
    return min(rounds)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="*", type=Path)
    paths = parser.parse_args().paths
    cv2.setNumThreads(1)
    if paths:
        grays = [to_gray(shred.image, shred.mask) for shred in load_shreds(paths)]
    else:
        rng = np.random.default_rng(0)
        grays = [to_gray(shred.image, shred.mask) for shred in shred_page(draw_page("letter", rng), rng)]
    differ = sum(int((binarize(gray) != slow(gray)).sum()) for gray in grays)
    ours, theirs = seconds(binarize, grays), seconds(slow, grays)
    print(f"{len(grays)} shreds, {differ} of {sum(gray.size for gray in grays):,} pixels differ")
    print(f"deshred {ours:.3f} s, scikit-image {theirs:.3f} s: {theirs / ours:.1f} times as fast")


if __name__ == "__main__":
    main()
