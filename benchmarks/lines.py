"""Simulated piles, and what lines of print tell about joins whose ink at the cut is silent.

    python benchmarks/lines.py --scripts arabic hangul latin --piles 2
    python benchmarks/lines.py ../shared/data/pages/isri-ocr --model towers-cdip --piles 3
    python benchmarks/lines.py ../shared/data/pages/cdip --model towers-isri --piles 3

Ink alone, ten pages in a pile. Without PAGES it draws running text in each script, with the faces that
trainings draw. Prints lost joins, wrong ones, wrong ones between two pages, and whole pages, with and without
lines, the number of pages given and not; and the weights that tell joins within a page best from others.
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
from deshred.compatibility.lines import LineWeights, LookedAt, look_at_lines, weigh_lines
from deshred.compatibility.scorers import load_scorer
from deshred.compatibility.scoring import score
from deshred.elements import Compatibility
from deshred.evaluation.collections import KnownPile
from deshred.evaluation.metrics import measure_pages
from deshred.imaging.preparation import prepare
from deshred.simulation.truth import Truth
from margins import mix, pages
from scripts import RUNNING, SCRIPTS, Job, make_pile

PAGES = 10
_RIDGE = 1e-4


@dataclass(frozen=True, eq=False)
class Judged:
    """What lines show of joins that are not sure, and whether they are within a page."""

    looked: LookedAt
    is_within: NDArray[np.bool_]


def make_piles(arguments: argparse.Namespace) -> Iterator[tuple[str, KnownPile]]:
    for number in range(arguments.piles):
        if arguments.pages:
            rng = np.random.default_rng([arguments.seed, number])
            yield f"pile {number}", mix(pages(arguments.pages, PAGES, rng), rng)
        else:
            for script in arguments.scripts:
                job = Job(script, (script,), RUNNING)
                yield f"{script} {number}", make_pile(job, PAGES, arguments.seed + number, faces="training")


def judge(looked: LookedAt, compatibility: Compatibility, truth: Truth) -> Judged:
    rows, columns = compatibility.list_joins()
    documents = np.array([truth.places[name].document for name in compatibility.ids])
    left, right = rows[looked.places], columns[looked.places]
    return Judged(looked, documents[left] == documents[right])


def fit(judged: Sequence[Judged]) -> LineWeights:
    """Logistic regression; joins within a page count as much as the others, and every pile the same."""

    def share(one: Judged, own: NDArray[np.bool_]) -> NDArray[np.float64]:
        telling = one.looked.signs[:, -1] * own
        return telling / max(float(telling.sum()), 1e-9)

    signs = np.concatenate([one.looked.signs for one in judged])
    within = np.concatenate([one.is_within for one in judged])
    counts = np.concatenate([share(one, one.is_within) + share(one, ~one.is_within) for one in judged])

    def surprise(values: NDArray[np.float64]) -> float:
        odds = signs @ values
        loss = np.logaddexp(0, np.where(within, -odds, odds)) @ counts / counts.sum()
        return float(loss + _RIDGE * values @ values)

    best = minimize(surprise, astuple(LineWeights()), method="BFGS")
    return LineWeights(*(round(float(value), 1) for value in best.x))


def count(compatibility: Compatibility, truth: Truth, number: int | None) -> NDArray[np.int64]:
    """Lost joins, wrong ones, wrong ones between two pages, whole pages."""
    options = ArrangementOptions(time_limit=20)
    options = options if number is None else replace(options, pages=number)
    arrangement = arrange(compatibility, options=options)
    wrong = {(join.left, join.right) for join in arrangement.joins} - truth.joins
    across = sum(truth.places[left].document != truth.places[right].document for left, right in wrong)
    lost = len(truth.joins) - len(arrangement.joins) + len(wrong)
    return np.array([lost, len(wrong), across, measure_pages(arrangement, truth).perfect])


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--model", default="towers-default", help="one that was not trained on PAGES")
    parser.add_argument("--scripts", nargs="+", default=SCRIPTS, choices=SCRIPTS)
    parser.add_argument("--piles", type=int, default=1, help="piles of PAGES, or of each script")
    parser.add_argument("--seed", type=int, default=1000)
    arguments = parser.parse_args(given)
    scorer = load_scorer("towers", arguments.model)
    judged: list[Judged] = []
    total = np.zeros((2, 2, 4), np.int64)
    for name, known in make_piles(arguments):
        pile = prepare(known.shreds, edges=scorer.edge_options, keep=known.shreds.ids)
        bare = score(pile, scorer)
        looked = look_at_lines(bare, pile.edges)
        judged += [] if looked is None else [judge(looked, bare, known.truth)]
        ways = (bare, weigh_lines(bare, pile, scorer=scorer.card))
        found = np.array([[count(way, known.truth, n) for way in ways] for n in (PAGES, None)])
        total += found
        print(name, "without and with lines:", *found.tolist(), flush=True)
    print("pages given, not given; lost, wrong, across pages, whole:", *total.tolist())
    print(f"in use {LineWeights()}, fitted here {fit(judged)}")


if __name__ == "__main__":
    main()
