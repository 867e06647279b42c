"""Counts the shapes of letters on drawn pages: what `deshred/imaging/letters.npz` is made with.

    python benchmarks/letters.py src/deshred/imaging/letters.npz

The same seed gives the same file. No page of a collection is looked at.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from deshred.imaging.letters import learn_letters
from deshred.simulation.drawing import PAGE_KINDS, draw_page
from deshred.simulation.intact import page_ink


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--pages", type=int, default=4 * len(PAGE_KINDS))
    parser.add_argument("--seed", type=int, default=11)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    kinds = [PAGE_KINDS[i % len(PAGE_KINDS)] for i in range(arguments.pages)]
    shapes = learn_letters(page_ink(draw_page(kind, rng)) for kind in kinds)
    np.savez_compressed(arguments.out, weights=shapes.weights)
    print(f"{arguments.pages} pages, {np.count_nonzero(shapes.weights)} sights that tell")


if __name__ == "__main__":
    main()
