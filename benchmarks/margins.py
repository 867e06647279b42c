"""Fits what an outer edge looks like: the two constants of `compatibility/margins.py`, on simulated shreds.

    python benchmarks/margins.py [PAGES...]

Without PAGES it draws its own. Prints the log-likelihood ratio "first or last of a page" against "inner edge"
as a logistic function of the number of inked rows near the tear, and how well it separates them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from deshred.compatibility.margins import count_inked_rows
from deshred.compatibility.shredding import shred_page
from deshred.elements import Image, Shred, Source
from deshred.imaging.binarization import is_blank
from deshred.imaging.drawing import PAGE_KINDS, draw_page
from deshred.imaging.edges import EdgeOptions, extract_edges
from deshred.imaging.intact import load_intact


def pages(paths: list[Path], count: int, rng: np.random.Generator) -> Iterator[Image]:
    if not paths:
        for i in range(count):
            yield draw_page(PAGE_KINDS[i % len(PAGE_KINDS)], rng)
        return
    intact = load_intact(paths)
    for i in rng.permutation(len(intact))[:count]:
        yield np.repeat(255 * (1 - intact[i].ink[:, :, None]), 3, axis=2)


def observe(
    images: Iterator[Image], rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Log inked rows of outer and inner edges, and which are outer; blank shreds are set aside before."""
    rows, outer = [], []
    for image in images:
        cut = [Shred("", s.image, s.mask, 300.0, Source(Path(), "")) for s in shred_page(image, rng)]
        pairs = [extract_edges(s, options=EdgeOptions()) for s in cut if not is_blank(s)]
        for i, pair in enumerate(pairs):
            rows += [count_inked_rows(pair.left), count_inked_rows(pair.right)]
            outer += [i == 0, i == len(pairs) - 1]
    return np.log1p(rows), np.array(outer)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    x, outer = observe(pages(arguments.pages, arguments.count, rng), rng)

    def surprise(parameters: NDArray[np.float64]) -> float:
        log_odds = parameters[0] - parameters[1] * x
        return float(np.logaddexp(0, np.where(outer, -log_odds, log_odds)).mean())

    base, slope = minimize(surprise, np.array([0.0, 1.0]), method="Nelder-Mead").x
    prior = np.log(outer.mean() / (1 - outer.mean()))
    order = np.argsort(x)
    ranks = np.empty(len(x))
    ranks[order] = np.arange(len(x))
    area = 1 - (ranks[outer].mean() - (outer.sum() - 1) / 2) / (~outer).sum()
    print(f"{outer.sum()} outer and {(~outer).sum()} inner edges")
    print(f"log-likelihood ratio = {base - prior:.2f} - {slope:.2f} * log(1 + inked rows)")
    print(f"area under the ROC curve {area:.3f}")


if __name__ == "__main__":
    main()
