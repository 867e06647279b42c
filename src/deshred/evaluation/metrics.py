"""An order and the Truth in, numbers out: the paper's accuracy, pages, joins, offsets, calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from deshred.elements import Arrangement
from deshred.errors import MismatchError, SettingsError
from deshred.simulation.truth import Truth


def measure_accuracy(order: Sequence[str], truth: Truth) -> float:
    """The paper's accuracy: the share of the n - 1 consecutive pairs of one long order that match.

    Blank shreds are dropped before solving and are no part of the order. As in the paper, the shreds
    left and right of a dropped or lost one are then neighbors. An order of one shred is right.
    """
    truth = truth.restrict(order)
    if len(truth.places) != len(order):
        raise MismatchError(
            f"an order names each shred once, got {len(order)} names of {len(truth.places)} shreds."
        )
    if len(order) < 2:
        return 1.0
    return sum(truth.matches(*pair) for pair in pairwise(order)) / (len(order) - 1)


def count_whole(order: Sequence[str], truth: Truth) -> int:
    """How many documents stand whole in the order: complete, in sequence, nothing in between.

    Stricter than the accuracy, which is also 1 when a document is torn in two and its parts stand at the
    two ends of a mixed order: the end of the last document there meets the start of the torn one.
    """
    truth = truth.restrict(order)
    places = {id_: place for place, id_ in enumerate(order)}
    return sum(
        all(places[right] == places[left] + 1 for left, right in pairwise(ids))
        for ids in truth.documents.values()
    )


@dataclass(frozen=True)
class PageMetrics:
    """How good the pages of an answer are; shares of 0 things are 1."""

    documents: int
    pages: int
    perfect: int  # documents that are one page, complete and in order
    ends: float  # share of pages that begin and end with the first and last shred of one document
    precision: float  # share of the joins found that are true
    recall: float  # share of the true joins that were found


def measure_pages(arrangement: Arrangement, truth: Truth) -> PageMetrics:
    """Compare the pages with the documents, page breaks included: no credit for joining two documents."""
    pages = [tuple(slot.shred_id for slot in page) for page in arrangement.pages]
    truth = truth.restrict(arrangement.order)
    documents = set(truth.documents.values())
    found = {pair for page in pages for pair in pairwise(page)}
    ends = {(ids[0], ids[-1]) for ids in documents}
    right = len(found & truth.joins)
    return PageMetrics(
        documents=len(documents),
        pages=len(pages),
        perfect=len(documents & set(pages)),
        ends=_share(sum((page[0], page[-1]) in ends for page in pages if page), len(pages)),
        precision=_share(right, len(found)),
        recall=_share(right, len(truth.joins)),
    )


@dataclass(frozen=True)
class ReliabilityBin:
    """The joins whose probability lies between `low` and `high`."""

    low: float
    high: float
    joins: int
    promised: float  # mean probability
    kept: float  # share that is true


@dataclass(frozen=True)
class Reliability:
    """How far the probabilities of joins can be believed."""

    joins: int
    error: float  # expected calibration error: mean of |promised - kept| over the joins
    bins: tuple[ReliabilityBin, ...]  # without empty ones


def measure_reliability(
    probabilities: Sequence[float] | NDArray[np.float64],
    outcomes: Sequence[bool] | NDArray[np.bool_],
    *,
    bins: int = 10,
) -> Reliability:
    """Sort joins into bins of equal width by their probability and compare with how many are true."""
    promised = np.asarray(probabilities, np.float64)
    kept = np.asarray(outcomes, np.bool_)
    if bins < 1:
        raise SettingsError(f"reliability needs at least 1 bin, got {bins}.")
    if promised.shape != kept.shape:
        raise MismatchError(f"{promised.size} probabilities cannot have {kept.size} outcomes.")
    if ((promised < 0) | (promised > 1) | np.isnan(promised)).any():
        raise MismatchError("probabilities must lie between 0 and 1.")
    places = np.minimum((promised * bins).astype(int), bins - 1)
    filled = tuple(
        ReliabilityBin(
            low=place / bins,
            high=(place + 1) / bins,
            joins=int((places == place).sum()),
            promised=float(promised[places == place].mean()),
            kept=float(kept[places == place].mean()),
        )
        for place in np.unique(places).tolist()
    )
    weighted = sum(bin_.joins * abs(bin_.promised - bin_.kept) for bin_ in filled)
    return Reliability(promised.size, weighted / max(promised.size, 1), filled)


@dataclass(frozen=True)
class Mean:
    """A mean and the half width of its 95 % confidence interval (Student's t); None for a single value."""

    value: float
    margin: float | None


def average(values: Sequence[float]) -> Mean:
    """Mean with its 95 % confidence interval, as if the values were independent."""
    if not values:
        raise MismatchError("there is nothing to average.")
    n = len(values)
    if n == 1:
        return Mean(float(values[0]), None)
    margin = stats.t.ppf(0.975, n - 1) * np.std(values, ddof=1) / np.sqrt(n)
    return Mean(float(np.mean(values)), float(margin))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
