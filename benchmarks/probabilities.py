"""Simulated piles, some with shreds missing, and the curve that makes the probabilities of joins honest.

    python benchmarks/probabilities.py ../shared/data/pages/cdip --model towers-isri --piles 8
    python benchmarks/probabilities.py --model towers-cdip --piles 4

Without PAGES it draws its own. Prints the curve in use and the one that fits these piles best: mean surprise
in nats, joins with a probability of at least 0.8 that are true, and how many of the true joins those are. The
constants of `compatibility/presence.py` were fitted on eleven piles mixed like these. Every fourth pile is of
rectangular crops, whose tears do not show.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from deshred.arrangement import arrange
from deshred.compatibility.calibration import find_leads
from deshred.compatibility.contract import AnyScorer
from deshred.compatibility.presence import JoinFacts, PresenceCurve, gather_facts
from deshred.compatibility.scorers import load_scorer
from deshred.compatibility.scoring import score
from deshred.elements import Image, Pile, Shred
from deshred.imaging.binarization import BlankOptions
from deshred.imaging.preparation import prepare
from deshred.simulation.shredding import Damage, ShreddingOptions, shred_page
from deshred.simulation.truth import Place, Truth
from margins import pages

MISSING = (0.0, 0.1, 0.3)
PROBABLE = 0.8
_RIDGE = 1e-3  # towards the curve in use
_CROPS = Damage(ragged=0.0, fray=0.0, drift=0.0)


@dataclass(frozen=True, eq=False)
class Judged:
    """What is known about the joins of one pile, which of them are true, and how many true ones there are."""

    facts: JoinFacts
    is_true: NDArray[np.bool_]
    touching: int


def mix(images: Sequence[Image], rng: np.random.Generator, *, is_cropped: bool) -> tuple[list[Shred], Truth]:
    shreds: list[Shred] = []
    places: dict[str, Place] = {}
    for page, image in enumerate(images):
        options = ShreddingOptions(shreds=int(rng.integers(20, 31)))
        if is_cropped:
            options = replace(options, damage=_CROPS, shift=0, tilt_degrees=0.0)
        for place, simulated in enumerate(shred_page(image, rng, options=options)):
            shred = simulated.to_shred(f"{page}-{place:02d}")
            if is_cropped:
                shred = replace(shred, mask=np.ones_like(shred.mask))
            shreds.append(shred)
            places[shred.id] = Place(str(page), place)
    return [shreds[i] for i in rng.permutation(len(shreds))], Truth(places)


def judge(pile: Pile, truth: Truth, scorer: AnyScorer) -> Judged:
    """Solve a pile, and look at its joins: true are those between shreds that touched."""
    compatibility = score(pile, scorer)
    assert compatibility.margins is not None
    answer = arrange(compatibility)
    index = {name: i for i, name in enumerate(compatibility.ids)}
    joins = [(index[join.left], index[join.right]) for join in answer.joins]
    facts = gather_facts(
        compatibility,
        compatibility.margins,
        joins,
        find_leads(compatibility, joins),
        [1.0 if join.share is None else join.share for join in answer.joins],
    )
    touching = {pair for pair in truth.joins if index.keys() >= set(pair)}
    return Judged(facts, np.array([(j.left, j.right) in touching for j in answer.joins]), len(touching))


def simulate(arguments: argparse.Namespace) -> Iterator[tuple[float, Judged]]:
    scorer = load_scorer(arguments.scorer, arguments.model)
    rng = np.random.default_rng(arguments.seed)
    for number in range(arguments.piles):
        images = list(pages(arguments.pages, arguments.count, rng))
        shreds, truth = mix(images, rng, is_cropped=number % 4 == 3)
        inked = prepare(shreds, edges=scorer.edge_options, blank=BlankOptions(rule="paper")).shreds
        present = truth.restrict(inked.ids)
        for missing in MISSING:
            kept = [shred for shred in inked if rng.random() >= missing]
            pile = prepare(kept, edges=scorer.edge_options, keep=[shred.id for shred in kept])
            yield missing, judge(pile, present, scorer)
        print(f"pile {number + 1} of {arguments.piles}: {len(inked)} shreds", flush=True)


def measure_surprise(probabilities: NDArray[np.float64], is_true: NDArray[np.bool_]) -> float:
    return float(-np.log(np.where(is_true, probabilities, 1 - probabilities).clip(1e-12)).mean())


def fit(piles: Sequence[Judged]) -> PresenceCurve:
    """The curve under which the truth is least surprising, on average over the piles."""
    known = np.array(astuple(PresenceCurve()))

    def surprise(values: NDArray[np.float64]) -> float:
        curve = PresenceCurve(*values)
        each = [measure_surprise(curve.probability(pile.facts), pile.is_true) for pile in piles]
        return float(np.mean(each) + _RIDGE * np.sum((values - known) ** 2))

    best = minimize(surprise, known, method="Nelder-Mead", options={"maxfev": 800})
    return PresenceCurve(*(round(float(value), 3) for value in best.x))


def report(name: str, curve: PresenceCurve, judged: Sequence[tuple[float, Judged]]) -> None:
    print(f"{name}: {curve}")
    for missing in MISSING:
        piles = [pile for share, pile in judged if share == missing]
        probabilities = np.concatenate([curve.probability(pile.facts) for pile in piles])
        is_true = np.concatenate([pile.is_true for pile in piles])
        asserted = probabilities >= PROBABLE
        touching = sum(pile.touching for pile in piles)
        print(
            f"  {missing:.0%} missing: surprise {measure_surprise(probabilities, is_true):.4f}, "
            f"{(asserted & is_true).sum()} of {asserted.sum()} asserted joins true, "
            f"{(asserted & is_true).sum() / touching:.1%} of the true ones"
        )


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--model", help="one that was not trained on PAGES")
    parser.add_argument("--scorer", default="default", help="default or towers")
    parser.add_argument("--piles", type=int, default=8)
    parser.add_argument("--count", type=int, default=10, help="pages in a pile")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(given)
    judged = list(simulate(arguments))
    report("in use", PresenceCurve(), judged)
    report("fitted here", fit([pile for _, pile in judged]), judged)


if __name__ == "__main__":
    main()
