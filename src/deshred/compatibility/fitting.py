"""A towers model and intact pages in, the weights and curves that make its scores honest out.

Simulated piles with known truth teach two things: what a nat of ink and a nat of outline are worth when they
are added, and how leads become probabilities. Both are written into the model file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment, minimize

from deshred.compatibility.calibration import find_leads, is_beaten
from deshred.compatibility.comparing import face_paper
from deshred.compatibility.describing import DescribedGroup
from deshred.compatibility.fusion import FusionScorer, FusionWeights, coarsen
from deshred.compatibility.groups import Group
from deshred.compatibility.margins import Borders, Facing, observe_borders, weigh_margins
from deshred.compatibility.models import open_model
from deshred.compatibility.shifts import LogPrior, ShiftEvidence, learn_prior, reduce_shifts
from deshred.compatibility.towers.closelook import CloseLook
from deshred.elements import Calibration, Compatibility, Shred
from deshred.errors import InputError
from deshred.executors import SerialExecutor
from deshred.imaging.binarization import is_blank
from deshred.imaging.edges import extract_edges
from deshred.simulation.intact import IntactPage
from deshred.simulation.shredding import ShreddingOptions, shred_page

_PAGES_PER_PILE = 6
_RIDGE = 1e-3  # towards scores that are nats already, where piles are solved without a mistake
_USUAL = FusionWeights(ink=0.4, outline=0.8)  # of good models; what piles leave open is no matter of a seed
_USUAL_PULL = 0.01


@dataclass(frozen=True, eq=False)
class _Weighed:
    """Nats for every shift and join, of each kind. (shifts, n, n)"""

    ink: ShiftEvidence
    outline: ShiftEvidence

    def combine(self, weights: FusionWeights) -> ShiftEvidence:
        """The weighted sum."""
        total: ShiftEvidence = np.float32(weights.ink) * self.ink
        total += np.float32(weights.outline) * self.outline
        return total


@dataclass(frozen=True, eq=False)
class _KnownPile:
    """The evidence of one simulated pile, and its true joins."""

    evidence: _Weighed
    joins: NDArray[np.intp]  # (m, 2)
    facing: Facing  # from ink alone
    borders: Borders


@dataclass(frozen=True)
class CalibrationResult:
    """What was fitted, as the model card carries it."""

    fusion: FusionWeights
    towers: Calibration
    default: Calibration
    joins: int


def calibrate(
    model: Path, pages: Sequence[IntactPage], *, seed: int = 0, piles: int = 36
) -> CalibrationResult:
    """Fit weights and curves on simulated piles of the given pages."""
    if not pages:
        raise InputError("calibration needs at least one intact page.")
    rng = np.random.default_rng(seed)
    scorer = FusionScorer(model, weights=FusionWeights())
    simulated = [_simulate(scorer, pages, rng) for _ in range(piles)]
    prior = scorer.log_prior
    fusion = _fit_weights(simulated, prior)
    return CalibrationResult(
        fusion,
        _fit_curve(simulated, FusionWeights(ink=1.0, outline=0.0), prior),
        _fit_curve(simulated, fusion, prior),
        sum(len(pile.joins) for pile in simulated),
    )


def write_calibration(model: Path, result: CalibrationResult) -> None:
    """Put what was fitted into the card inside the model file."""
    _write_card(
        model,
        {
            "fusion": asdict(result.fusion),
            "calibration": {"towers": _card_of(result.towers), "default": _card_of(result.default)},
            "calibration_joins": result.joins,
        },
    )


def write_close_look(model: Path, look: CloseLook) -> None:
    """Put a close look into the card inside the model file."""
    _write_card(model, {"close_look": look.to_card()})


def _card_of(curve: Calibration) -> dict[str, float]:
    beaten = {} if curve.beaten is None else {"beaten": curve.beaten}
    return {"slope": curve.slope, "intercept": curve.intercept, **beaten}


def copy_calibration(model: Path, taught: Path) -> None:
    """Give a model the weights and curves of the one it comes from."""
    card = open_model(model, "towers").card
    fitted = ("fusion", "calibration", "calibration_joins", "close_look")
    _write_card(taught, {key: card[key] for key in fitted if key in card})


def _write_card(model: Path, entries: Mapping[str, Any]) -> None:
    import onnx

    graph = onnx.load(str(model))
    properties = {prop.key: prop.value for prop in graph.metadata_props}
    card = {**json.loads(properties["deshred.card"]), **entries}
    onnx.helper.set_model_props(graph, {**properties, "deshred.card": json.dumps(card)})
    part = model.with_suffix(".onnx.part")
    onnx.save(graph, str(part))
    part.replace(model)


def _simulate(scorer: FusionScorer, pages: Sequence[IntactPage], rng: np.random.Generator) -> _KnownPile:
    """Shred some pages, mix them, and look at every join."""
    chosen = rng.choice(len(pages), min(_PAGES_PER_PILE, len(pages)), replace=False)
    shreds: list[Shred] = []
    joins: list[tuple[int, int]] = []
    for page in chosen:
        image = np.repeat(255 * (1 - pages[page].ink[:, :, None]), 3, axis=2)
        options = ShreddingOptions(shreds=int(rng.integers(20, 31)))
        cut = shred_page(image, rng, options=options)
        follows = False  # the shred before was kept
        for simulated in cut:
            shred = simulated.to_shred(f"{len(shreds)}")
            inked = not is_blank(shred)  # blank ones are set aside before scoring, as in real piles
            if inked:
                joins += [(len(shreds) - 1, len(shreds))] if follows else []
                shreds.append(shred)
            follows = inked
    return _look(scorer, shreds, np.array(joins))


def _look(scorer: FusionScorer, shreds: Sequence[Shred], joins: NDArray[np.intp]) -> _KnownPile:
    """What the scorer sees in a pile, weighed as it would be once the pile is known."""
    edges = [extract_edges(shred, options=scorer.edge_options) for shred in shreds]
    rights = scorer.describe_rights([pair.right for pair in edges], SerialExecutor())
    lefts = scorer.describe_lefts([pair.left for pair in edges], SerialExecutor())
    evidence = scorer.compare(rights, lefts)
    adapted = scorer.adapt(rights, evidence.take_rows)
    tops = np.array([pair.left.top for pair in edges], np.int32)
    borders = observe_borders(shreds, edges)
    everything = Group(np.arange(len(shreds)), "simulated")
    ink = DescribedGroup(everything, rights.features, lefts.features, tops, borders)
    return _KnownPile(
        _Weighed(evidence.ink.nats, coarsen(adapted.outline.weigh(evidence.outline))),
        joins,
        face_paper(ink, scorer.towers, lambda a, b: scorer.towers.compare(a.rights, b.lefts)),
        borders,
    )


def _scores(evidence: _Weighed, weights: FusionWeights, log_prior: LogPrior) -> NDArray[np.float32]:
    """The scores that the adapted scorer gives under these weights."""
    combined = evidence.combine(weights)
    others = np.where(np.eye(combined.shape[1], dtype=bool), np.float32(-np.inf), combined)
    adapted = learn_prior(others, log_prior)
    scores = reduce_shifts(combined, adapted, np.zeros(len(combined), np.int16)).scores
    np.fill_diagonal(scores, -np.inf)
    return scores


def _fit_weights(piles: Sequence[_KnownPile], log_prior: LogPrior) -> FusionWeights:
    """The weights under which the true partner of an edge is least surprising among all candidates."""

    def surprise(logs: NDArray[np.float64]) -> float:
        weights = FusionWeights(*np.exp(logs))
        total = 0.0
        for pile in piles:
            scores = _scores(pile.evidence, weights, log_prior).astype(np.float64)
            i, j = pile.joins.T
            own = scores[i, j]
            # a heavy tail: one ruined join must not set the weights of all others
            forth = np.logaddexp.reduce(scores, axis=1)[i] - own
            back = np.logaddexp.reduce(scores, axis=0)[j] - own
            total += float(np.minimum(forth, 10).mean() + np.minimum(back, 10).mean())
        astray = logs - usual
        return total / len(piles) + _USUAL_PULL * float(astray @ astray)

    usual = np.log([_USUAL.ink, _USUAL.outline])
    steps = usual + 0.3 * np.array([[0, 0], [1, 0], [0, 1]])
    options = {"maxiter": 80, "xatol": 0.01, "initial_simplex": steps}
    best = minimize(surprise, usual, method="Nelder-Mead", options=options)
    return FusionWeights(*(round(float(weight), 4) for weight in np.exp(best.x)))


def _choose(scores: NDArray[np.float32], pile: _KnownPile, weights: FusionWeights) -> list[tuple[int, int]]:
    """The best assignment of partners, where a partner is better than the end of a page as a solver sees it.

    What a solver would never join must not teach what its joins are worth.
    """
    ink = np.float32(weights.ink)
    margins = weigh_margins(pile.borders, Facing(ink * pile.facing.starts, ink * pile.facing.ends))
    finite = np.where(np.isfinite(scores), scores, np.float32(-1e6))
    rows, columns = linear_sum_assignment(finite, maximize=True)
    page_break = margins.ends[rows] + margins.starts[columns]
    joined = finite[rows, columns] > page_break
    return list(zip(rows[joined].tolist(), columns[joined].tolist(), strict=True))


def _fit_curve(piles: Sequence[_KnownPile], weights: FusionWeights, log_prior: LogPrior) -> Calibration:
    """Logistic regression from leads to truth, on the joins that a solver would choose.

    Those that others beat are counted apart: most are no joins at all, but right beside them on the scale of
    leads nearly all are true, and one curve through both is wrong for each.
    """
    leads, truths = [], []
    for pile in piles:
        scores = _scores(pile.evidence, weights, log_prior)
        ids = tuple(map(str, range(len(scores))))
        compatibility = Compatibility(ids, scores, np.zeros(scores.shape, np.int16))
        true = set(map(tuple, pile.joins.tolist()))
        chosen = _choose(scores, pile, weights)
        leads.append(find_leads(compatibility, chosen))
        truths.append(np.array([pair in true for pair in chosen]))
    lead, truth = np.concatenate(leads), np.concatenate(truths)
    beaten = is_beaten(lead)
    ahead, kept = lead[~beaten], truth[~beaten]

    def surprise(parameters: NDArray[np.float64]) -> float:
        slope, intercept = parameters
        log_odds = slope * ahead + intercept
        loss = np.logaddexp(0, np.where(kept, -log_odds, log_odds)).sum() / max(len(ahead), 1)
        return float(loss + _RIDGE * ((slope - 1) ** 2 + intercept**2))

    best = minimize(surprise, np.array([0.3, 0.0]), method="Nelder-Mead")
    slope, intercept = best.x
    return Calibration(
        round(max(float(slope), 0.01), 4),
        round(float(intercept), 4),
        beaten=round(float(truth[beaten].sum() + 1) / (int(beaten.sum()) + 2), 4),  # one of each before any
    )
