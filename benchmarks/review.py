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
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from deshred.arrangement import ArrangementOptions, arrange, paper_width
from deshred.cases import load_compatibility, save_compatibility
from deshred.compatibility.calibration import rate
from deshred.compatibility.contract import AnyScorer
from deshred.compatibility.scorers import load_scorer
from deshred.compatibility.scoring import score
from deshred.elements import Arrangement, Compatibility, Constraints, Margins
from deshred.evaluation.collections import open_collection, read_document
from deshred.evaluation.experiments import strategies
from deshred.evaluation.metrics import measure_accuracy, measure_pages
from deshred.imaging.binarization import BlankOptions
from deshred.imaging.preparation import prepare
from deshred.questions import Question, QuestionOptions
from deshred.review.answers import answer, believe
from deshred.review.lessons import ANSWER, CONTROL
from deshred.review.protests import KEPT
from deshred.review.queue import find_checks, find_options, find_questions, merge_checks
from deshred.review.session import Event, find_undone, fold
from deshred.review.solving import Problem, Resolver, Solved
from deshred.review.statements import Statement
from deshred.simulation.truth import Place, Truth
from review_times import run_times

MODELS = {"s-marques": "towers-cdip", "s-isri-ocr": "towers-cdip", "s-cdip": "towers-isri"}
PAGE_CHOICES = {  # by whether the page goes on at the left and at the right
    (False, False): "whole",
    (True, False): "left",
    (False, True): "right",
    (True, True): "both",
}


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
    joins: int
    accuracy: float
    whole: int
    documents: int
    precision: float
    recall: float

    @property
    def share_asked(self) -> float:
        return self.questions / self.joins


class Person:
    """Sees the right answer, and slips now and then."""

    def __init__(self, truth: Truth, slips: float, rng: np.random.Generator, *, path: bool) -> None:
        self._slips, self._rng, self._truth, self._path = slips, rng, truth, path
        self._right = dict(truth.joins)
        self._left = {right: left for left, right in truth.joins}

    def choose(self, question: Question) -> str:
        """The number of an option, `end`, or `none`."""
        right = self._right_answer(question)
        if self._rng.random() >= self._slips:
            return right
        options = [str(k) for k in range(len(question.options))]
        choices = PAGE_CHOICES.values() if question.side == "page" else [*options, "none"]
        return str(self._rng.choice([choice for choice in choices if choice != right]))

    def _right_answer(self, question: Question) -> str:
        if question.side == "page":
            return PAGE_CHOICES[question.shred in self._left, question.last in self._right]
        true = (self._right if question.side == "right" else self._left).get(question.shred)
        partners = [option.partner for option in question.options]
        if self._path and true not in partners and question.now in partners and self._is_seam(question):
            true = question.now  # two documents meet: right by the published measure
        return str(partners.index(true)) if true in partners else "none"

    def stands_by(self, question: Question, said: Collection[Statement]) -> bool:
        """Looks once more at an answer: keeps it, or takes it back."""
        right = self._right_answer(question)
        is_right = set(answer(question, right)) == set(said)
        return is_right ^ bool(self._rng.random() < self._slips)

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
        len(pile.compatibility) - 1,
        measure_accuracy(arrangement.order, pile.truth),
        pages.perfect,
        pages.documents,
        pages.precision,
        pages.recall,
    )


class Solver:
    """Solves again and again, as the board does; a path is solved whole."""

    def __init__(self, pile: Known, options: ArrangementOptions) -> None:
        start = arrange(pile.compatibility, options=options)
        problem = Problem(pile.compatibility, start, Constraints(), options)
        self._resolver = Resolver(problem, slices=(options.time_limit or 20.0,))
        self.start = rate(start, pile.compatibility)

    def solve(self, constraints: Constraints) -> Arrangement | None:
        """None where no order obeys."""
        *_, last = self._resolver.solve(0, constraints)
        return last.arrangement if isinstance(last, Solved) else None


class Review:
    """A person at the board: answers, and looks twice where the evidence or the queue protests."""

    def __init__(self, pile: Known, person: Person, solver: Solver, *, is_path: bool, teach: bool) -> None:
        self._pile, self._person, self._solver, self._teach = pile, person, solver, teach
        self._is_path = is_path
        self._scored = replace(pile.compatibility, margins=None) if is_path else pile.compatibility
        self._paper = None if is_path else paper_width(pile.compatibility.margins)
        self.arrangement = solver.start
        self.events: list[Event] = []
        self.asked, self.seconds = 0, 0.0

    def run(self, most: int, *, every: int, second_look: float | None) -> Iterator[Step]:
        """Until the queue is empty or the person has enough; a limit in nats makes answers asked twice."""
        yield self.judge()
        while self.asked < most:
            queue = self._queue(checks=second_look is not None)[: min(every, most - self.asked)]
            if not queue:
                return
            for question in queue:
                if question.again:
                    self._check(question)
                else:
                    self._answer(question, second_look)
            if second_look is None:
                self._solve(self.events[-len(queue) :])
            yield self.judge()

    def _queue(self, *, checks: bool) -> tuple[Question, ...]:
        standing = fold(self.events)
        options = find_options(self._scored, standing, self.events if self._teach else ())
        if self._is_path:
            options = replace(options, least_value=1e-9, seconds_more=0.0)  # published: questions count
        queue = find_questions(self._scored, self.arrangement, standing, self.events, self._paper, options)
        if not checks:
            return queue
        pages = [[slot.shred_id for slot in page] for page in self.arrangement.pages]
        return merge_checks(queue, find_checks(self.events, standing, pages, options), self.events, options)

    def _count(self, seconds: float) -> None:
        self.asked, self.seconds = self.asked + 1, self.seconds + seconds

    def _say(self, action: str, say: tuple[Statement, ...] = (), of: str = "", **cause: object) -> Event:
        event = Event(f"e{len(self.events)}", action, say, of=of, cause=cause)
        self.events.append(event)
        return event

    def _answer(self, question: Question, second_look: float | None) -> None:
        choice = self._person.choose(question)
        self._count(question.seconds)
        shown = [option.partner or "end" for option in question.options]
        event = self._say(
            ANSWER,
            answer(question, choice),
            question=question.key,
            choice=choice,
            shown=shown,
            now=question.now,
            last=question.last,
            doubt=f"{question.doubt:.4f}",
            belief=f"{believe(question, choice):.6f}",
        )
        if second_look is None:
            return
        before = self.arrangement.cost
        if not self._solve([event]) or self.arrangement.cost > before + second_look:
            self._look_again(question, event)

    def _check(self, question: Question) -> None:
        """The same question again; another answer makes the person look at the first one."""
        choice = self._person.choose(question)
        self._count(question.seconds)
        before = next(one for one in self.events if one.id == question.again)
        is_same = set(answer(question, choice)) == set(before.say)
        self._say(CONTROL, control=before.id, same=is_same, choice=choice)
        if not is_same:
            self._look_again(question, before)

    def _look_again(self, question: Question, event: Event) -> None:
        """Keep it, or take it back: then the question comes again."""
        if event.id in find_undone(self.events):
            return  # no order obeys it: refused, and said so
        self._count(QuestionOptions().seconds)
        if self._person.stands_by(question, event.say):
            self._say(KEPT, event.say, kept=event.id)
        else:
            self._say("undo", of=event.id)
            self._solve([])

    def _solve(self, newest: Sequence[Event]) -> bool:
        """The order under all answers; whether the newest ones can be obeyed. They are dropped if not."""
        found = self._solver.solve(fold(self.events).constraints)
        for event in [] if found is not None else reversed(newest):
            self._say("undo", of=event.id)
            found = self._solver.solve(fold(self.events).constraints)
            if found is not None:
                self.arrangement = found
                return False
        self.arrangement = found or self.arrangement
        return True

    def judge(self) -> Step:
        return judge(self._pile, self.arrangement, self.asked, self.seconds)


def ask_suspicious(pile: Known, solver: Solver) -> Iterator[Step]:
    """The published strategy `opt-l`, one round: is this join right? Documents that meet are right."""
    start = solver.start
    yield judge(pile, start, 0, 0.0)
    index = {id_: i for i, id_ in enumerate(pile.compatibility.ids)}
    pairs = np.array([[index[a], index[b]] for a, b in pairwise(start.order)], np.int64)
    scores = pile.compatibility.scores.astype(np.float64)
    costs = np.where(np.isfinite(scores), scores[np.isfinite(scores)].max() - scores, np.inf)
    rng = np.random.default_rng(0)
    question = strategies.Question(costs, pairs, start.joins, costs, frozenset(), rng)
    chosen = strategies.STRATEGIES["opt-l"](question)
    for share in (0.1, 0.25):
        count = int(share * len(pairs))
        asked = [(start.order[k], start.order[k + 1]) for k in chosen[:count]]
        right = frozenset(pair for pair in asked if pile.truth.matches(*pair))
        found = solver.solve(Constraints(required=right, forbidden=frozenset(asked) - right))
        yield judge(pile, found or start, count, count * QuestionOptions().seconds)


def run(arguments: argparse.Namespace) -> None:
    """What the results do not hold yet."""
    known: dict[str, object] = {}
    if arguments.out and arguments.out.is_file():
        known = json.loads(arguments.out.read_text(encoding="utf-8"))
    is_path = arguments.protocol == "path"
    for folder in arguments.collections:
        names = {
            seed: " ".join(
                [
                    folder.name,
                    arguments.protocol,
                    arguments.scorer,
                    arguments.strategy,
                    arguments.person,
                    str(seed),
                ]
            )
            for seed in range(arguments.seeds)
        }
        missing = [seed for seed, name in names.items() if name not in known]
        if not missing:
            continue
        scorer = load_scorer(arguments.scorer, arguments.model or MODELS.get(folder.name))
        pile = read_pile(folder, scorer, arguments.cache)
        for seed in missing:
            rng = np.random.default_rng(seed)
            mixed = shuffle(pile, rng)
            solver = Solver(
                mixed,
                ArrangementOptions(
                    pages=1 if is_path else "auto", free_ends=is_path, time_limit=arguments.time_limit
                ),
            )
            most = int(arguments.load * (len(mixed.compatibility) - 1))
            if arguments.strategy == "opt-l":
                steps = list(ask_suspicious(mixed, solver))
            else:
                slips = 0.0 if arguments.person == "perfect" else float(arguments.person.partition(":")[2])
                person = Person(pile.truth, slips, rng, path=is_path)
                review = Review(mixed, person, solver, is_path=is_path, teach=not arguments.unteachable)
                every = arguments.every or (10 if is_path else 1)
                look = None if is_path else arguments.second_look
                steps = list(review.run(most, every=every, second_look=look))
            known[names[seed]] = tabulate(steps)
            show(folder.name, seed, steps, is_path)
            if arguments.out:
                write(arguments.out, known)


def tabulate(steps: Sequence[Step]) -> dict[str, object]:
    """One list per column; documents and joins never change."""
    columns = ("questions", "seconds", "accuracy", "whole", "precision", "recall")
    table: dict[str, object] = {"documents": steps[0].documents, "joins": steps[0].joins}
    return table | {name: [round(getattr(step, name), 6) for step in steps] for name in columns}


def write(path: Path, known: dict[str, object]) -> None:
    """One line per run."""
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(known[name])}" for name in sorted(known))
    path.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


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
    parser.add_argument("--strategy", choices=("queue", "opt-l"), default="queue", help="opt-l: as published")
    parser.add_argument("--every", type=int, help="questions between two solves; 1, or 10 on a path")
    parser.add_argument("--load", type=float, default=0.25, help="at most this share of the joins is asked")
    parser.add_argument("--second-look", type=float, default=4.0, help="nats of rise that are asked about")
    parser.add_argument("--unteachable", action="store_true", help="a queue that learns nothing from answers")
    parser.add_argument("--time-limit", type=float, default=20.0, help="seconds per solve")
    parser.add_argument("--cache", type=Path, help="a folder to keep scores in")
    parser.add_argument("--out", type=Path, help="a JSON file for all steps; runs it holds are not repeated")
    parser.add_argument("--times", type=int, nargs="+", help="measure the board on made piles of these sizes")
    parser.add_argument("--rows", type=int, default=3300, help="height of made shreds, px")
    parser.add_argument("--folder", type=Path, default=Path("made"), help="where made cases are kept")
    arguments = parser.parse_args()
    if arguments.times:
        run_times(arguments.times, arguments.folder, arguments.rows, arguments.out)
        return
    run(arguments)


if __name__ == "__main__":
    main()
