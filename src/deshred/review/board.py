"""A Reconstruction and a journal in; pages, questions and history out, while people say what they know.

The one place where a review changes. Whatever is said is in the journal before anybody is told that it
counts. The order that people see obeys them at once; the proven one follows when the solver has it.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol

from deshred.arrangement import Atom, check_constraints, paper_width
from deshred.cases import Entry
from deshred.elements import Arrangement, Constraints, Join, Slot
from deshred.errors import InfeasibleError, InputError, MismatchError
from deshred.pipeline import Reconstruction
from deshred.questions import Outlook, Question, QuestionOptions, ask, look_ahead, with_page_first
from deshred.review.answers import answer
from deshred.review.layout import Placer, Sheet, obey
from deshred.review.session import EVENT, Event, Standing, fold, next_redo, next_undo, read_events
from deshred.review.solving import Problem, Refused, Solved, SolverProcess
from deshred.review.statements import Statement

SOLVED = "review-solved"
_PROTEST = 4.0  # nats by which an answer makes the order dearer before it is asked again
_FASTEST_MS = 400  # nobody has seen a question in less


class Log(Protocol):
    """What a board needs of a journal."""

    def append(self, event: str, **fields: object) -> Entry: ...
    def read(self) -> tuple[Entry, ...]: ...


class Clash(InfeasibleError):
    """What was said contradicts what stands; nothing was changed."""


@dataclass(frozen=True)
class Proof:
    """What is known about the order on the board."""

    state: str  # solving, proven, best known, refused
    cost: float
    gap: float
    seconds: float = 0.0
    over_chains: bool = False
    message: str = ""


@dataclass(frozen=True)
class Protest:
    """An answer that the evidence speaks against."""

    event: Event
    rise: float


class Board:
    """One review of one case."""

    def __init__(self, reconstruction: Reconstruction, log: Log) -> None:
        self.reconstruction = reconstruction
        self._log = log
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._known = {*reconstruction.shreds.ids, *reconstruction.blank.ids}
        self._inked = set(reconstruction.shreds.ids)
        self._placer = Placer(reconstruction)
        entries = log.read()
        self.head = entries[-1].digest if entries else ""
        self.events: list[Event] = list(read_events(entries))
        self._ids = {event.id for event in self.events}
        self.standing = fold(self.events, reconstruction.constraints)
        arrangement = reconstruction.arrangement
        self._arrangement = arrangement
        self._joins = {(join.left, join.right): join for join in arrangement.joins}
        self._pages = [[slot.shred_id for slot in page] for page in arrangement.pages]
        self.proof = _proof_of(arrangement)
        self.protests: dict[str, Protest] = {}
        self.version = 0
        self._ticket = 0
        self._cost_before = arrangement.cost
        self._asked_by: Event | None = None
        self._solver: SolverProcess | None = None
        self._listener: threading.Thread | None = None

    # -- the solver

    def start(self) -> None:
        """Begin to solve; a review that was interrupted goes on from its statements."""
        done = self.reconstruction
        problem = Problem(done.compatibility, done.arrangement, done.constraints, done.settings.arrangement)
        self._solver = SolverProcess(problem)
        self._listener = threading.Thread(target=self._listen, daemon=True, name="deshred-listener")
        self._listener.start()
        if self.standing.constraints != done.constraints:
            with self._lock:
                self._obey()
                self._request(None)

    def stop(self) -> None:
        """End the solver."""
        if self._solver is not None:
            self._solver.stop()

    def _listen(self) -> None:
        solver = self._solver
        while solver is not None and (found := solver.listen()) is not None:
            with self._lock:
                if found.ticket == self._ticket:
                    self._take(found)

    def _take(self, found: Solved | Refused) -> None:
        if isinstance(found, Refused):
            self.proof = replace(self.proof, state="refused", message=found.message)
        else:
            self._arrangement = found.arrangement
            self._joins = {(join.left, join.right): join for join in found.arrangement.joins}
            pages = [[slot.shred_id for slot in page] for page in found.arrangement.pages]
            self._pages = _in_old_order(pages, self._pages)
            self.proof = replace(
                _proof_of(found.arrangement), seconds=found.seconds, over_chains=found.over_chains
            )
            if found.is_final:
                self._conclude(found)
            else:
                self.proof = replace(self.proof, state="solving")
        self.version += 1
        self._changed.notify_all()

    def _conclude(self, found: Solved) -> None:
        entry = self._log.append(
            SOLVED,
            constraints=_digest(self.standing.constraints),
            order=_digest(found.arrangement.order),
            cost=f"{found.arrangement.cost:.6f}",
            gap=f"{found.arrangement.gap:.6f}",
            over_chains=found.over_chains,
        )
        self.head = entry.digest
        event, rise = self._asked_by, found.arrangement.cost - self._cost_before
        if event is not None and event.action == "answer" and rise > _PROTEST:
            self.protests[event.id] = Protest(event, rise)
        self._cost_before, self._asked_by = found.arrangement.cost, None

    def _request(self, event: Event | None) -> None:
        self._ticket += 1
        self._asked_by = event if self._asked_by is None else None  # who of two made it dearer is not known
        self.proof = replace(self.proof, state="solving", message="")
        if self._solver is not None:
            self._solver.ask(self._ticket, self.standing.constraints)

    def _obey(self) -> None:
        self._pages = obey(self._pages, self.standing.constraints)
        self.version += 1
        self._changed.notify_all()

    def wait(self, version: int, seconds: float) -> bool:
        """Wait until the board differs from this version."""
        with self._changed:
            return self._changed.wait_for(lambda: self.version != version, seconds)

    # -- what people say

    def say(self, event: Event) -> Event:
        """Make an event count; the same id again changes nothing."""
        with self._lock:
            if event.id in self._ids:
                return next(known for known in self.events if known.id == event.id)
            self._check(event)
            before = self.standing.constraints
            standing = fold([*self.events, event], self.reconstruction.constraints)
            self._check_clash(standing, event)
            entry = self._log.append(EVENT, **event.to_fields())
            event = replace(event, time=entry.time, number=entry.number)
            self.head = entry.digest
            self.events.append(event)
            self._ids.add(event.id)
            self.standing = standing
            self._obey()
            if standing.constraints != before:
                self._request(event)
            return event

    def undo(self, id_: str, actor: str, of: str = "") -> Event | None:
        """Take back an event, or one's own last; None when there is nothing to take back."""
        with self._lock:
            about = of or getattr(next_undo(self.events, actor), "id", "")
            return self.say(Event(id_, "undo", of=about, actor=actor)) if about else None

    def redo(self, id_: str, actor: str) -> Event | None:
        """Let one's own last undone event count again."""
        with self._lock:
            about = next_redo(self.events, actor)
            return None if about is None else self.say(Event(id_, "redo", of=about.id, actor=actor))

    def answer(self, id_: str, actor: str, key: str, choice: str, ms: int) -> Event:
        """Answer a question that is still open."""
        with self._lock:
            if id_ in self._ids:
                return next(known for known in self.events if known.id == id_)
            question = next((one for one in self.questions() if one.key == key), None)
            if question is None:
                raise MismatchError("this question is no longer open: the page has changed. Look again.")
            if ms < _FASTEST_MS and choice != "cannot-tell":
                raise InputError(f"answered after {ms} ms: too quick to have been looked at. Try again.")
            shown = [option.partner or "end" for option in question.options]
            cause = {"question": key, "choice": choice, "shown": shown, "now": question.now, "ms": ms}
            cause["doubt"] = f"{question.doubt:.4f}"
            return self.say(Event(id_, "answer", answer(question, choice), actor=actor, cause=cause))

    def keep(self, event_id: str) -> None:
        """A person has looked again and stands by an answer."""
        with self._lock:
            self.protests.pop(event_id, None)

    def _check(self, event: Event) -> None:
        for statement in (*event.say, *event.unsay):
            for position, shred in enumerate(statement.shreds):
                is_blank = statement.kind == "blank" and position == 0
                pile = self._known - self._inked if is_blank else self._known
                if shred not in pile or (not is_blank and self._needs_ink(statement, shred)):
                    raise MismatchError(f"there is no shred {shred[:80]!r} of that kind in this pile.")
        if event.of and event.of not in self._ids:
            raise MismatchError(f"there is no event {event.of[:80]!r} in this review.")

    def _needs_ink(self, statement: Statement, shred: str) -> bool:
        return statement.kind not in ("note", "blank") and shred not in self._inked

    def _check_clash(self, standing: Standing, event: Event) -> None:
        try:
            check_constraints(self.reconstruction.compatibility.ids, standing.constraints)
        except InfeasibleError as error:
            self._log.append("review-refused", id=event.id, actor=event.actor, why=str(error))
            raise Clash(str(error), tuple(a for a in error.clash if isinstance(a, Atom))) from None

    @property
    def pause(self) -> threading.RLock:
        """Held while something else writes into the journal: lines must not cross."""
        return self._lock

    # -- what people see

    def sheets(self) -> list[Sheet]:
        """All pages as they are drawn."""
        with self._lock:
            pages, joins = [list(page) for page in self._pages], dict(self._joins)
            offsets = {
                (one.statement.shreds[0], one.statement.shreds[1]): int(one.statement.value)
                for one in self.standing.of_kind("offset")
            }
        return [self._placer.lay_out(page, joins, offsets) for page in pages]

    def pages(self) -> list[list[str]]:
        """The ids on every page."""
        with self._lock:
            return [list(page) for page in self._pages]

    def join_of(self, left: str, right: str) -> Join | None:
        """What the solver knows of a join that is on the board."""
        with self._lock:
            return self._joins.get((left, right))

    def questions(self) -> tuple[Question, ...]:
        """All that are worth asking now, by value, those of one page together."""
        with self._lock:
            arrangement, constraints = self._shown_arrangement(), self.standing.constraints
            doubts = {
                f"{side} of {shred}"
                for one in self.standing.of_kind("cannot-tell")
                for shred in one.statement.shreds
                for side in ("left", "right", "page")
            }
        done = self.reconstruction
        slope = done.compatibility.calibration.slope if done.compatibility.calibration else 1.0
        return with_page_first(
            ask(
                arrangement,
                done.compatibility,
                constraints,
                paper_width_mm=self.paper_width_mm,
                skip=doubts,
                options=QuestionOptions(slope=slope),
            )
        )

    @property
    def paper_width_mm(self) -> float | None:
        """How wide the paper is, where that is known."""
        settings = self.reconstruction.settings.arrangement
        return settings.page_width_mm or paper_width(self.reconstruction.compatibility.margins)

    def outlook(self) -> Outlook:
        """What is left to do."""
        return look_ahead(self.questions())

    def _shown_arrangement(self) -> Arrangement:
        """The pages on the board with what the solver knows of their joins."""
        pages = tuple(tuple(Slot(id_, 0) for id_ in page) for page in self._pages)
        pairs = [pair for page in self._pages for pair in pairwise(page)]
        joins = tuple(self._joins[pair] for pair in pairs if pair in self._joins)
        return replace(self._arrangement, pages=pages, joins=joins)

    def step(self, left: str, right: str) -> tuple[int, int]:
        """Where the right of two shreds lies, seen from the left."""
        found = self._placer.step(left, right)
        return found.x, found.y


def _proof_of(arrangement: Arrangement) -> Proof:
    state = "proven" if arrangement.is_optimal else "best known"
    return Proof(state, arrangement.cost, arrangement.gap)


def _in_old_order(pages: Sequence[list[str]], before: Sequence[Sequence[str]]) -> list[list[str]]:
    """Pages stay where they were on the board, as far as they can be recognized by what they hold."""
    place = {id_: k for k, page in enumerate(before) for id_ in page}
    return sorted(pages, key=lambda page: (min(place.get(id_, len(place)) for id_ in page), page[0]))


def _digest(value: object) -> str:
    if isinstance(value, Constraints):
        value = {name: sorted(map(str, map(_plain, held))) for name, held in vars(value).items()}
    return hashlib.sha256(repr(value).encode()).hexdigest()


def _plain(item: object) -> object:
    return sorted(item) if isinstance(item, frozenset) else item
