"""Fits what an outer edge looks like, and what a page costs: the constants of `compatibility/margins.py` and
`arrangement/pages.py`, on simulated shreds.

    python benchmarks/margins.py [PAGES...]
    python benchmarks/margins.py [PAGES...] --piles 4 --count 10 --model towers-cdip

Without PAGES it draws its own. Prints the log-likelihood ratio "first or last of a page" against "inner edge"
as a logistic function of the number of inked rows near the tear, and how well it separates them. With --piles
it mixes that many piles of --count pages instead and prints how many pages are found, and how many are right,
for several prices of a page on top of the one in use, with and without the width of the paper.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from deshred.arrangement import arrange
from deshred.compatibility.margins import count_inked_rows
from deshred.compatibility.scorers import load_scorer
from deshred.compatibility.scoring import score
from deshred.compatibility.shredding import ShreddingOptions, shred_page
from deshred.elements import Image, Shred, ShredSet, Source
from deshred.evaluation.metrics import Place, Truth, measure_pages
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


def mix(images: Iterator[Image], rng: np.random.Generator) -> tuple[ShredSet, Truth]:
    """A pile without blank shreds; of each page, the longest run of shreds with ink, if it is most of them.

    Specks in the margin of a scanned page, cut off from it by blank shreds, belong nowhere.
    """
    shreds: list[Shred] = []
    places: dict[str, Place] = {}
    for page, image in enumerate(images):
        options = ShreddingOptions(shreds=int(rng.integers(20, 31)))
        cut = [
            Shred(f"{page}-{i}", s.image, s.mask, 300.0, Source(Path(), ""))
            for i, s in enumerate(shred_page(image, rng, options=options))
        ]
        inked = np.flatnonzero([not is_blank(shred) for shred in cut])
        runs = np.split(inked, np.flatnonzero(np.diff(inked) > 1) + 1)
        longest = max(runs, key=len)
        for i in longest if len(longest) >= 0.6 * len(inked) else inked:
            shreds.append(cut[i])
            places[cut[i].id] = Place(str(page), int(i))
    return ShredSet([shreds[i] for i in rng.permutation(len(shreds))]), Truth(places)


def count_pages(arguments: argparse.Namespace, rng: np.random.Generator) -> None:
    """Pages found and pages right for several prices of a page."""
    scorer = load_scorer("default", arguments.model)
    tallies: dict[tuple[str, float], NDArray[np.int64]] = {}
    for _ in range(arguments.piles):
        shreds, truth = mix(pages(arguments.pages, arguments.count, rng), rng)
        pile = score(shreds, scorer)
        margins = pile.margins
        assert margins is not None
        for paper, known in (("known", margins), ("unknown", replace(margins, heights_mm=None))):
            for extra in (-4.0, 0.0, 2.0, 6.0):
                half = np.float32(extra / 2)
                priced = replace(known, starts=known.starts - half, ends=known.ends - half)
                found = measure_pages(arrange(replace(pile, margins=priced)), truth)
                right = round(found.ends * found.pages)
                row = np.array([found.documents, found.pages, found.perfect, right])
                tallies[paper, extra] = tallies.get((paper, extra), np.zeros(4, np.int64)) + row
    for (paper, extra), (true, number, perfect, right) in tallies.items():
        print(
            f"width {paper:7}, {extra:+.0f} nats per page: {number} pages for {true}, "
            f"{right} with the right first and last shred, {perfect} perfect"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--piles", type=int, default=0, help="mix piles and count pages instead")
    parser.add_argument("--model", help="for --piles; one that was not trained on PAGES")
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    if arguments.piles:
        count_pages(arguments, rng)
        return
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
