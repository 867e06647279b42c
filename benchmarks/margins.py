"""Mixes piles of simulated shreds and counts the pages that are found, and those that are right.

    python benchmarks/margins.py [PAGES...] --piles 4 --count 10 --model towers-cdip

Without PAGES it draws its own. Several prices of a page are tried on top of the one in use, with and without
the width of the paper: the constants of `compatibility/margins.py` and `arrangement/pages.py` come from here.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deshred.arrangement import arrange
from deshred.compatibility.scorers import load_scorer
from deshred.compatibility.scoring import score
from deshred.elements import Image, Shred, ShredSet
from deshred.evaluation.collections import KnownPile
from deshred.evaluation.metrics import measure_pages
from deshred.imaging.binarization import is_blank
from deshred.imaging.preparation import prepare
from deshred.simulation.drawing import PAGE_KINDS, draw_page
from deshred.simulation.intact import load_intact
from deshred.simulation.shredding import ShreddingOptions, shred_page
from deshred.simulation.truth import Place, Truth


def pages(paths: list[Path], count: int, rng: np.random.Generator) -> Iterator[Image]:
    if not paths:
        for i in range(count):
            yield draw_page(PAGE_KINDS[i % len(PAGE_KINDS)], rng)
        return
    intact = load_intact(paths)
    for i in rng.permutation(len(intact))[:count]:
        yield np.repeat(255 * (1 - intact[i].ink[:, :, None]), 3, axis=2)


def mix(images: Iterator[Image], rng: np.random.Generator) -> KnownPile:
    """A pile without blank shreds; of each page, the longest run of shreds with ink, if it is most of them.

    Specks in the margin of a scanned page, cut off from it by blank shreds, belong nowhere.
    """
    shreds: list[Shred] = []
    places: dict[str, Place] = {}
    for page, image in enumerate(images):
        options = ShreddingOptions(shreds=int(rng.integers(20, 31)))
        cut = [s.to_shred(f"{page}-{i}") for i, s in enumerate(shred_page(image, rng, options=options))]
        inked = np.flatnonzero([not is_blank(shred) for shred in cut])
        runs = np.split(inked, np.flatnonzero(np.diff(inked) > 1) + 1)
        longest = max(runs, key=len)
        for i in longest if len(longest) >= 0.6 * len(inked) else inked:
            shreds.append(cut[i])
            places[cut[i].id] = Place(str(page), int(i))
    return KnownPile(ShredSet([shreds[i] for i in rng.permutation(len(shreds))]), Truth(places))


def count_pages(arguments: argparse.Namespace, rng: np.random.Generator) -> None:
    """Pages found and pages right for several prices of a page."""
    scorer = load_scorer("default", arguments.model)
    tallies: dict[tuple[str, float], NDArray[np.int64]] = {}
    for _ in range(arguments.piles):
        known_pile = mix(pages(arguments.pages, arguments.count, rng), rng)
        shreds = known_pile.shreds
        kept = prepare(shreds, edges=scorer.edge_options, keep=shreds.ids)
        pile = score(kept, scorer)
        margins = pile.margins
        assert margins is not None
        for paper, known in (("known", margins), ("unknown", replace(margins, heights_mm=None))):
            for extra in (-4.0, 0.0, 2.0, 6.0):
                half = np.float32(extra / 2)
                priced = replace(known, starts=known.starts - half, ends=known.ends - half)
                found = measure_pages(arrange(replace(pile, margins=priced)), known_pile.truth)
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
    parser.add_argument("--count", type=int, default=10, help="pages in a pile")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--piles", type=int, default=4)
    parser.add_argument("--model", help="one that was not trained on PAGES")
    arguments = parser.parse_args()
    count_pages(arguments, np.random.default_rng(arguments.seed))


if __name__ == "__main__":
    main()
