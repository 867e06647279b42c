"""Simulated piles, and what the signs that a part belongs to a page are worth.

    python benchmarks/gathering.py ../shared/data/pages/cdip --model towers-isri --piles 5 --count 14
    python benchmarks/gathering.py ../shared/data/pages/isri-ocr --model towers-cdip --piles 3

Without PAGES it draws its own. Prints, for the weights in use and for those that fit these piles best, the
mean surprise in nats and how many of the places that are likely enough are right; and whole documents before
and after parts were gathered. `--smooth` of the tears hardly show, as on real paper. A tenth of the shreds is
taken away as well, from each pile once.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from deshred.arrangement import arrange, paper_width
from deshred.compatibility.calibration import rate
from deshred.compatibility.contract import AnyScorer
from deshred.compatibility.scorers import load_scorer
from deshred.compatibility.scoring import score
from deshred.elements import Image, Pile, Shred
from deshred.evaluation.metrics import measure_pages
from deshred.gathering import Gathering, GatheringWeights, Place, gather, weigh
from deshred.imaging.binarization import BlankOptions
from deshred.imaging.preparation import prepare
from deshred.simulation.shredding import Damage, ShreddingOptions, shred_page
from deshred.simulation.truth import Place as TruePlace
from deshred.simulation.truth import Truth
from margins import pages

MISSING = (0.0, 0.1)
WHOLE_PILES = 3.0  # a part of a pile with nothing missing counts so many times
LIKELY = (0.5, 0.6, 0.7, 0.8, 0.9)
_RIDGE = 1e-3
_A4_MM = 210.0


@dataclass(frozen=True, eq=False)
class Judged:
    """The places that a part may have, which of them are right, and the share of shreds that are missing."""

    places: Sequence[Place]
    is_true: NDArray[np.bool_]
    missing: float


def mix(images: Iterator[Image], rng: np.random.Generator, smooth: float) -> tuple[list[Shred], Truth]:
    """A pile; the tears of some pages hardly show."""
    shreds: list[Shred] = []
    places: dict[str, TruePlace] = {}
    for page, image in enumerate(images):
        damage = replace(Damage(), ragged=0.2) if rng.random() < smooth else Damage()
        options = ShreddingOptions(shreds=int(rng.integers(20, 31)), damage=damage)
        for place, simulated in enumerate(shred_page(image, rng, options=options)):
            shreds.append(simulated.to_shred(f"{page}-{place:02d}"))
            places[shreds[-1].id] = TruePlace(str(page), place)
    return [shreds[i] for i in rng.permutation(len(shreds))], Truth(places)


def judge(pile: Pile, truth: Truth, scorer: AnyScorer, missing: float) -> list[Judged]:
    """Solve a pile, and look at every place of every part: right are the page and the side of it."""
    compatibility = score(pile, scorer)
    arrangement = rate(arrange(compatibility), compatibility)
    gathered = gather(pile, compatibility)
    before, after = (
        measure_pages(answer, truth.restrict(pile.shreds.ids)) for answer in (arrangement, arrange(gathered))
    )
    print(
        f"  {missing:.0%} missing, {len(pile)} shreds: whole {before.perfect} -> {after.perfect} of "
        f"{before.documents}, true of the joins made {before.precision:.4f} -> {after.precision:.4f}",
        flush=True,
    )
    paper_mm = paper_width(compatibility.margins) or _A4_MM
    gathering = Gathering(pile, compatibility, arrangement, paper_mm)
    at = [truth.places[name] for name in compatibility.ids]

    def is_right(place: Place) -> bool:
        left, right = (at[shred] for shred in place.join)
        return left.document == right.document and left.position < right.position

    found = [gathering.find_places(part) for part in gathering.parts]
    return [
        Judged(places, np.array([is_right(place) for place in places]), missing) for places in found if places
    ]


def simulate(arguments: argparse.Namespace) -> Iterator[Judged]:
    scorer = load_scorer("default", arguments.model)
    rng = np.random.default_rng(arguments.seed)
    for number in range(arguments.piles):
        print(f"pile {number + 1} of {arguments.piles}", flush=True)
        shreds, truth = mix(pages(arguments.pages, arguments.count, rng), rng, arguments.smooth)
        inked = prepare(shreds, edges=scorer.edge_options, blank=BlankOptions(rule="paper")).shreds
        for missing in MISSING:
            kept = [shred for shred in inked if rng.random() >= missing]
            pile = prepare(kept, edges=scorer.edge_options, keep=[shred.id for shred in kept])
            yield from judge(pile, truth, scorer, missing)


def measure_surprise(weights: GatheringWeights, judged: Sequence[Judged]) -> float:
    total = count = 0.0
    for part in judged:
        if part.is_true.any():
            share = WHOLE_PILES if part.missing == 0 else 1.0
            total -= share * float(np.log(max(weigh(part.places, weights)[part.is_true].sum(), 1e-12)))
            count += share
    return total / max(count, 1.0)


def fit(judged: Sequence[Judged]) -> GatheringWeights:
    def surprise(values: NDArray[np.float64]) -> float:
        return measure_surprise(GatheringWeights(*values), judged) + _RIDGE * float(values @ values)

    best = minimize(surprise, astuple(GatheringWeights()), method="Nelder-Mead", options={"maxfev": 400})
    return GatheringWeights(*(round(float(value), 2) for value in best.x))


def report(name: str, weights: GatheringWeights, judged: Sequence[Judged]) -> None:
    print(f"{name}: {weights}, surprise {measure_surprise(weights, judged):.3f}")
    for missing in MISSING:
        parts = [part for part in judged if part.missing == missing]
        chances = [weigh(part.places, weights) for part in parts]
        most = np.array([own.max() for own in chances])
        right = np.array([part.is_true[own.argmax()] for part, own in zip(parts, chances, strict=True)], bool)
        told = [f"{right[most >= least].sum()} of {(most >= least).sum()} from {least}" for least in LIKELY]
        print(f"  {missing:.0%} missing, {len(parts)} parts, right: {', '.join(told)}")


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--model", help="one that was not trained on PAGES")
    parser.add_argument("--piles", type=int, default=4)
    parser.add_argument("--count", type=int, default=12, help="pages in a pile")
    parser.add_argument("--smooth", type=float, default=0.12, help="share of pages whose tears hardly show")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(given)
    judged = list(simulate(arguments))
    report("in use", GatheringWeights(), judged)
    report("fitted here", fit(judged), judged)


if __name__ == "__main__":
    main()
