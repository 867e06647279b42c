"""Simulated people answer the questions of the review board; what is right afterwards, and what it took.

    python benchmarks/review.py ../shared/data/s-cdip --protocol pages --person wrong:0.05 --seeds 3
    python benchmarks/review.py ../shared/data/s-cdip --protocol path --scorer towers
    python benchmarks/review.py --times 700 2300 --folder /tmp/made

`pages`: pages are found by the solver; whole documents, precision and recall of joins against questions.
`path`: one path with free ends and the published accuracy, a share of the joins asked (PRL 2022).
A person is `perfect`, or `wrong:p`: with chance p another option is chosen than the right one.
Seconds are those that the questions are assumed to take, not those of people.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from deshred.arrangement import ArrangementOptions, WarmStart, arrange, paper_width
from deshred.cases import load_compatibility, save_compatibility
from deshred.compatibility.calibration import rate
from deshred.compatibility.contract import AnyScorer
from deshred.compatibility.scorers import load_scorer
from deshred.compatibility.scoring import score
from deshred.elements import Arrangement, Compatibility, Margins
from deshred.errors import InfeasibleError
from deshred.evaluation.collections import open_collection, read_document
from deshred.evaluation.metrics import measure_accuracy, measure_pages
from deshred.imaging.binarization import BlankOptions
from deshred.imaging.preparation import prepare
from deshred.questions import Question, QuestionOptions, ask
from deshred.review.answers import answer
from deshred.review.lessons import learn, read_answers
from deshred.review.session import Event, fold
from deshred.simulation.truth import Place, Truth
from review_times import run_times

MODELS = {"s-marques": "towers-cdip", "s-isri-ocr": "towers-cdip", "s-cdip": "towers-isri"}
PUBLISHED = {"s-marques": 94.4, "s-isri-ocr": 97.9, "s-cdip": 92.4}  # at 10 %, complete collections


@dataclass(frozen=True, eq=False)
class Known:
    """A scored pile and where everything belongs."""

    name: str
    compatibility: Compatibility
    truth: Truth


@dataclass(frozen=True)
class Step:
    """What is right after so many questions."""

    questions: int
    seconds: float
    share_asked: float
    accuracy: float
    whole: int
    documents: int
    precision: float
    recall: float


class Person:
    """Sees the right answer, and slips now and then."""

    def __init__(self, truth: Truth, slips: float, rng: np.random.Generator, *, path: bool) -> None:
        self._slips, self._rng, self._truth, self._path = slips, rng, truth, path
        self._right = dict(truth.joins)
        self._left = {right: left for left, right in truth.joins}

    def choose(self, question: Question) -> str:
        """The number of an option, `end`, or `none`."""
        if question.side == "page":
            return self._judge_page(question)
        own = self._right if question.side == "right" else self._left
        true = own.get(question.shred)
        choices = [str(k) for k, option in enumerate(question.options)] + ["none"]
        right = next((str(k) for k, o in enumerate(question.options) if o.partner == true), "none")
        if self._path and right == "none" and self._is_seam(question):
            return "cannot-tell"  # two documents meet: right by the published measure, and no join
        if self._rng.random() < self._slips:
            return str(self._rng.choice([choice for choice in choices if choice != right]))
        return right

    def _judge_page(self, question: Question) -> str:
        goes_on = (question.shred in self._left, question.last in self._right)
        choices = {
            (False, False): "whole",
            (True, False): "left",
            (False, True): "right",
            (True, True): "both",
        }
        right = choices[goes_on]
        if self._rng.random() < self._slips:
            return str(self._rng.choice([choice for choice in choices.values() if choice != right]))
        return right

    def _is_seam(self, question: Question) -> bool:
        assert question.now is not None
        pair = (question.shred, question.now)
        return self._truth.matches(*(pair if question.side == "right" else pair[::-1]))


def read_pile(folder: Path, scorer: AnyScorer, cache: Path | None) -> Known:
    """A collection as one pile; what a cache has is not read and scored again."""
    scores = cache and cache / f"{folder.name}-{scorer.card.name}.npz"
    truths = cache and cache / f"{folder.name}-{scorer.card.name}.json"
    if scores and truths and scores.is_file() and truths.is_file():
        known = json.loads(truths.read_text(encoding="utf-8"))
        truth = Truth({id_: Place(*place) for id_, place in known.items()})
        return Known(folder.name, load_compatibility(scores), truth)
    shreds, places = [], {}
    for document in open_collection(folder):
        known = read_document(document)
        shreds += list(known.shreds)
        places |= known.truth.places
    pile = prepare(shreds, blank=BlankOptions(rule="paper"), edges=scorer.edge_options)
    compatibility = score(pile, scorer)
    truth = Truth(places).restrict(compatibility.ids)
    if scores and truths:
        save_compatibility(compatibility, scores)
        named = {id_: [place.document, place.position] for id_, place in truth.places.items()}
        truths.write_text(json.dumps(named), encoding="utf-8")
    return Known(folder.name, compatibility, truth)


def shuffle(pile: Known, rng: np.random.Generator) -> Known:
    order = rng.permutation(len(pile.compatibility))
    old, grid = pile.compatibility, np.ix_(order, order)
    margins = old.margins
    if margins is not None:
        parts = [getattr(margins, name) for name in ("starts", "ends", "widths_mm", "heights_mm")]
        margins = Margins(*(part[order] for part in parts))
    ids = tuple(old.ids[i] for i in order)
    return replace(
        pile,
        compatibility=Compatibility(
            ids, old.scores[grid], old.offsets[grid], margins=margins, calibration=old.calibration
        ),
    )


def judge(pile: Known, arrangement: Arrangement, questions: int, seconds: float) -> Step:
    pages = measure_pages(arrangement, pile.truth)
    return Step(
        questions,
        round(seconds, 1),
        questions / (len(pile.compatibility) - 1),
        measure_accuracy(arrangement.order, pile.truth),
        pages.perfect,
        pages.documents,
        pages.precision,
        pages.recall,
    )


def review(
    pile: Known,
    person: Person,
    solver: ArrangementOptions,
    *,
    every: int,
    most: int,
    second_look: float | None,
    teach: bool,
) -> Iterator[Step]:
    """Ask, answer, solve again after some answers, until the queue is empty or the person has enough."""
    warm = WarmStart()
    arrangement = arrange(pile.compatibility, options=solver, warm_start=warm)
    width = None if solver.pages == 1 else paper_width(pile.compatibility.margins)
    scored = replace(pile.compatibility, margins=None) if solver.pages == 1 else pile.compatibility
    calibration = pile.compatibility.calibration
    slope = calibration.slope if calibration else 1.0
    options = QuestionOptions(slope=slope, least_value=1e-9 if solver.pages == 1 else 1 / 600)
    events: list[Event] = []
    skip: set[str] = set()
    asked, seconds = 0, 0.0
    yield judge(pile, arrangement, asked, seconds)
    while asked < most:
        constraints = fold(events).constraints
        rated = rate(arrangement, pile.compatibility)
        taught = learn(read_answers(events), options) if teach else options
        queue = ask(rated, scored, constraints, paper_width_mm=width, skip=skip, options=taught)
        if not queue:
            return
        for question in queue[: min(every, most - asked)]:
            choice = person.choose(question)
            if choice == "cannot-tell":
                skip |= {question.key, question.join_key}
            asked, seconds = asked + 1, seconds + question.seconds
            event = note(asked, question, choice)
            if second_look is not None and rises(
                pile, arrangement, [*events, event], solver, warm, second_look
            ):
                asked, seconds = asked + 1, seconds + question.seconds
                event = note(asked, question, person.choose(question))
            events.append(event)
        arrangement = solve(pile, events, solver, warm, arrangement)
        yield judge(pile, arrangement, asked, seconds)


def note(number: int, question: Question, choice: str) -> Event:
    """An answer as the board notes it."""
    shown = [option.partner or "end" for option in question.options]
    cause = {"question": question.key, "choice": choice, "shown": shown, "now": question.now}
    cause["doubt"] = f"{question.doubt:.4f}"
    return Event(f"e{number}", "answer", answer(question, choice), cause=cause)


def rises(
    pile: Known,
    arrangement: Arrangement,
    events: list[Event],
    solver: ArrangementOptions,
    warm: WarmStart,
    limit: float,
) -> bool:
    """Whether the answer makes the order dearer than the evidence likes."""
    try:
        after = arrange(pile.compatibility, fold(events).constraints, options=solver, warm_start=warm)
    except InfeasibleError:
        return True
    return after.cost > arrangement.cost + limit


def solve(
    pile: Known, events: list[Event], solver: ArrangementOptions, warm: WarmStart, before: Arrangement
) -> Arrangement:
    """The order under all answers; answers that no order obeys are dropped, the latest first."""
    while events:
        try:
            return arrange(pile.compatibility, fold(events).constraints, options=solver, warm_start=warm)
        except InfeasibleError:
            events.pop()
    return before


def run(arguments: argparse.Namespace) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for folder in arguments.collections:
        scorer = load_scorer(arguments.scorer, arguments.model or MODELS.get(folder.name))
        pile = read_pile(folder, scorer, arguments.cache)
        for seed in range(arguments.seeds):
            rng = np.random.default_rng(seed)
            is_path = arguments.protocol == "path"
            slips = 0.0 if arguments.person == "perfect" else float(arguments.person.partition(":")[2])
            mixed = shuffle(pile, rng)
            person = Person(pile.truth, slips, rng, path=is_path)
            solver = ArrangementOptions(
                pages=1 if is_path else "auto", free_ends=is_path, time_limit=arguments.time_limit
            )
            most = int(arguments.load * (len(mixed.compatibility) - 1))
            steps = list(
                review(
                    mixed,
                    person,
                    solver,
                    every=arguments.every,
                    most=most,
                    second_look=None if is_path else arguments.second_look,
                    teach=not is_path and not arguments.unteachable,
                )
            )
            rows.append(
                {
                    "collection": folder.name,
                    "protocol": arguments.protocol,
                    "scorer": arguments.scorer,
                    "person": arguments.person,
                    "seed": seed,
                    "steps": [asdict(step) for step in steps],
                }
            )
            show(folder.name, seed, steps, is_path)
    return rows


def show(name: str, seed: int, steps: list[Step], is_path: bool) -> None:
    first, last = steps[0], steps[-1]
    if is_path:
        at = {
            share: next((s for s in steps if s.share_asked >= share - 0.003), last) for share in (0.1, 0.25)
        }
        shown = ", ".join(f"{share:.0%} asked {100 * step.accuracy:.2f}" for share, step in at.items())
        print(f"{name} seed {seed}: accuracy {100 * first.accuracy:.2f}, {shown}", flush=True)
        return
    print(
        f"{name} seed {seed}: whole {first.whole} -> {last.whole} of {last.documents}, precision "
        f"{first.precision:.4f} -> {last.precision:.4f}, recall {first.recall:.4f} -> {last.recall:.4f}, "
        f"{last.questions} questions ({last.share_asked:.1%} of the joins), {last.seconds / 60:.1f} min; "
        f"all whole {_tell_whole(steps)}",
        flush=True,
    )


def _tell_whole(steps: list[Step]) -> str:
    """From which question on every document is whole."""
    broken = [k for k, step in enumerate(steps) if step.whole < step.documents]
    if broken and broken[-1] == len(steps) - 1:
        return "never"
    first = steps[broken[-1] + 1 if broken else 0]
    return f"after {first.questions} ({first.share_asked:.1%})"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("collections", nargs="*", type=Path)
    parser.add_argument("--protocol", choices=("pages", "path"), default="pages")
    parser.add_argument("--person", default="perfect", help="perfect or wrong:0.05")
    parser.add_argument("--scorer", default="default")
    parser.add_argument("--model", help="instead of the one that never saw the collection")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--every", type=int, default=3, help="questions between two solves")
    parser.add_argument("--load", type=float, default=0.25, help="at most this share of the joins is asked")
    parser.add_argument("--second-look", type=float, help="nats of rise from which an answer is asked again")
    parser.add_argument("--unteachable", action="store_true", help="a queue that learns nothing from answers")
    parser.add_argument("--time-limit", type=float, default=20.0, help="seconds per solve")
    parser.add_argument("--cache", type=Path, help="a folder to keep scores in")
    parser.add_argument("--out", type=Path, help="a JSON file for all steps")
    parser.add_argument("--times", type=int, nargs="+", help="measure the board on made piles of these sizes")
    parser.add_argument("--rows", type=int, default=3300, help="height of made shreds, px")
    parser.add_argument("--folder", type=Path, default=Path("made"), help="where made cases are kept")
    arguments = parser.parse_args()
    if arguments.times:
        run_times(arguments.times, arguments.folder, arguments.rows, arguments.out)
        return
    start = time.perf_counter()
    rows = run(arguments)
    print(f"{time.perf_counter() - start:.0f} s", flush=True)
    if arguments.out:
        arguments.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
