"""Simulated piles, some with shreds missing, and the curves that make the probabilities of joins honest.

    python benchmarks/probabilities.py towers-isri=../shared/data/pages/cdip --piles 8
    python benchmarks/probabilities.py towers-cdip=../shared/data/pages/isri-ocr towers-default --piles 4
    python benchmarks/probabilities.py towers-cdip=../shared/data/pages/isri-ocr --piles 6 --crops

Each model stands with PAGES that it was not trained on; without them the benchmark draws its own. Prints the
curves in use and those that fit these piles best: mean surprise in nats, joins with a probability of at least
0.8 that are true, and how many of the true joins those are. The constants of `compatibility/presence.py` were
fitted on piles mixed like these. Every fourth pile is of rectangular crops, whose tears do not show; only
there is a close look taken at joins, so `BeliefCurve` is fitted with --crops.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from deshred.arrangement import ArrangementOptions, arrange
from deshred.compatibility.calibration import find_leads
from deshred.compatibility.contract import AnyScorer
from deshred.compatibility.presence import BeliefCurve, JoinFacts, PresenceCurve, gather_facts
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
_MOST_SECONDS = 20.0  # of solving a pile
_RIDGE = 1e-3  # towards the curve in use
_CROPS = Damage(ragged=0.0, fray=0.0, drift=0.0)


@dataclass(frozen=True, eq=False)
class Judged:
    """What is known about the joins of one pile, which of them are true, and how many true ones there are."""

    facts: JoinFacts
    beliefs: NDArray[np.float64]  # NaN where no close look was taken
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
    answer = arrange(compatibility, options=ArrangementOptions(time_limit=_MOST_SECONDS))
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
    beliefs = compatibility.take_beliefs(joins)
    return Judged(
        facts, beliefs, np.array([(j.left, j.right) in touching for j in answer.joins]), len(touching)
    )


def simulate(given: str, arguments: argparse.Namespace) -> Iterator[tuple[float, Judged]]:
    model, _, folder = given.partition("=")
    scorer = load_scorer("default", model)
    rng = np.random.default_rng(arguments.seed)
    for number in range(arguments.piles):
        images = list(pages([Path(folder)] if folder else [], arguments.count, rng))
        shreds, truth = mix(images, rng, is_cropped=arguments.crops or number % 4 == 3)
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


def combine(pile: Judged, curve: PresenceCurve, beliefs: BeliefCurve | None) -> NDArray[np.float64]:
    probabilities = curve.probability(pile.facts)
    is_looked_at = beliefs is not None and not np.isnan(pile.beliefs).all()
    return beliefs.mix(probabilities, pile.beliefs) if beliefs and is_looked_at else probabilities


def fit_beliefs(piles: Sequence[Judged]) -> BeliefCurve:
    """The same for what a close look adds to the curve in use."""
    known = np.array(astuple(BeliefCurve()))

    def surprise(values: NDArray[np.float64]) -> float:
        curve = BeliefCurve(*values)
        each = [measure_surprise(combine(pile, PresenceCurve(), curve), pile.is_true) for pile in piles]
        return float(np.mean(each) + _RIDGE * np.sum((values - known) ** 2))

    best = minimize(surprise, known, method="Nelder-Mead", options={"maxfev": 400})
    return BeliefCurve(*(round(float(value), 3) for value in best.x))


def report(
    name: str, curve: PresenceCurve, beliefs: BeliefCurve | None, judged: Sequence[tuple[float, Judged]]
) -> None:
    print(f"{name}: {curve} {beliefs}")
    for missing in MISSING:
        piles = [pile for share, pile in judged if share == missing]
        probabilities = np.concatenate(
            [
                curve.probability(pile.facts) if beliefs is None else combine(pile, curve, beliefs)
                for pile in piles
            ]
        )
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
    parser.add_argument("models", nargs="+", metavar="MODEL[=PAGES]")
    parser.add_argument("--piles", type=int, default=8)
    parser.add_argument("--count", type=int, default=10, help="pages in a pile")
    parser.add_argument("--crops", action="store_true", help="all piles are of rectangular crops")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(given)
    judged = [one for model in arguments.models for one in simulate(model, arguments)]
    piles = [pile for _, pile in judged]
    report("without a close look", PresenceCurve(), None, judged)
    report("without a close look, fitted here", fit(piles), None, judged)
    report("in use", PresenceCurve(), BeliefCurve(), judged)
    report("fitted here", PresenceCurve(), fit_beliefs(piles), judged)


if __name__ == "__main__":
    main()
