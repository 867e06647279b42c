"""What the queue of questions learns from people's answers; no network is trained.

How far the machine's probabilities hold on this pile, how far its page ends do, how long people look, and how
often they answer alike when they are asked twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit

from deshred.questions import QuestionOptions
from deshred.review.answers import CANNOT_TELL, END, NONE, WHOLE
from deshred.review.session import Event

ANSWER = "answer"
CONTROL = "control"
_WORTH = 50.0  # answers that the shipped curve counts like
_SPREAD = 2.0  # nats that page ends may be off by, as far as is known before
_ENOUGH = 5  # answers of a kind before their times count
_SECONDS = (0.5, 60.0)
_SLIPS = 0.03  # of the answers, as far as is known before ...
_CHECKS = 20.0  # ... which counts like so many that were checked

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Answered:
    """A question that was answered, and whether what the board had there was right."""

    side: str
    is_end: bool  # about a page end that the board had there
    trust: float  # that the board had in it
    held: bool
    options: int
    seconds: float


@dataclass(frozen=True)
class Consistency:
    """Questions that were asked twice."""

    asked: int
    alike: int


def read_answers(events: Iterable[Event], undone: Collection[str] = ()) -> list[Answered]:
    """All answers that count; who cannot tell teaches nothing."""
    counted = [event for event in events if event.action == ANSWER and event.id not in undone]
    return [found for event in counted if (found := _read(event)) is not None]


def _read(event: Event) -> Answered | None:
    cause, choice = event.cause, str(event.cause.get("choice", CANNOT_TELL))
    shown, now = list(cause.get("shown", [])), cause.get("now")
    side = str(cause.get("question", "")).partition(" of ")[0]
    if choice == CANNOT_TELL or "doubt" not in cause or side not in ("left", "right", "page"):
        return None
    if side == "page":
        held = choice == WHOLE
    elif choice in (NONE, END):
        held = choice == END and now is None
    else:
        held = choice.isdigit() and int(choice) < len(shown) and shown[int(choice)] == (now or END)
    trust = 1 - float(cause["doubt"])
    return Answered(side, side != "page" and now is None, trust, held, len(shown), cause.get("ms", 0) / 1000)


def learn(answers: Sequence[Answered], options: QuestionOptions) -> QuestionOptions:
    """The options of a queue that has heard these answers."""
    joins = [one for one in answers if one.side != "page" and not one.is_end]
    ends = [one for one in answers if one.is_end]
    slope, intercept = _fit_curve(joins)
    return replace(
        options,
        trust_slope=slope,
        trust_intercept=intercept,
        end_nats=_fit_ends(ends),
        seconds=_typical([one.seconds for one in joins if one.options == 1], options.seconds),
        seconds_page=_typical([one.seconds for one in answers if one.side == "page"], options.seconds_page),
    )


def _fit_curve(answers: Sequence[Answered]) -> tuple[float, float]:
    """The curve of the probabilities refitted, the shipped one counting like many answers of its own."""
    if not answers:
        return 1.0, 0.0
    odds, held = _log_odds(answers)
    given = expit(odds)

    def loss(curve: Floats) -> float:
        told = curve[0] * odds + curve[1]
        cross = np.logaddexp(0, told)
        return float((cross - held * told).sum() + _WORTH * (cross - given * told).mean())

    found = minimize(loss, np.array([1.0, 0.0]), method="L-BFGS-B", bounds=[(0.1, 10.0), (-5.0, 5.0)])
    return float(found.x[0]), float(found.x[1])


def _fit_ends(answers: Sequence[Answered]) -> float:
    """One number for all page ends, 0 where nothing speaks for another."""
    if not answers:
        return 0.0
    odds, held = _log_odds(answers)

    def loss(nats: Floats) -> float:
        told = odds + nats[0]
        return float((np.logaddexp(0, told) - held * told).sum() + 0.5 * (nats[0] / _SPREAD) ** 2)

    return float(minimize(loss, np.array([0.0]), method="L-BFGS-B", bounds=[(-8.0, 8.0)]).x[0])


def _log_odds(answers: Sequence[Answered]) -> tuple[Floats, Floats]:
    trust = np.clip([one.trust for one in answers], 1e-4, 1 - 1e-4)
    return logit(trust), np.array([one.held for one in answers], np.float64)


def _typical(seconds: Sequence[float], assumed: float) -> float:
    known = [one for one in seconds if one > 0]
    return float(np.clip(median(known), *_SECONDS)) if len(known) >= _ENOUGH else assumed


def measure_consistency(events: Iterable[Event]) -> Consistency:
    """How often an answer was given again when its question came again."""
    controls = [bool(event.cause.get("same")) for event in events if event.action == CONTROL]
    return Consistency(len(controls), sum(controls))


def measure_slips(events: Iterable[Event]) -> float:
    """The share of answers that are slips, as far as questions that came twice tell."""
    found = measure_consistency(events)
    return (_SLIPS * _CHECKS + (found.asked - found.alike) / 2) / (_CHECKS + found.asked)
