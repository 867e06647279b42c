"""A Reconstruction and a journal in; pages, questions and history out, while people say what they know.

The one place where a review changes. Whatever is said is in the journal before anybody is told that it
counts. The order that people see obeys them at once; the proven one follows when the solver has it.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol

from deshred.arrangement import Atom, WarmStart, check_constraints, paper_width
from deshred.cases import Entry, Store
from deshred.elements import Arrangement, Constraints, Slot
from deshred.errors import DeshredError, InfeasibleError, InputError, MismatchError
from deshred.pipeline import Reconstruction
from deshred.questions import Outlook, Question, QuestionOptions, look_ahead
from deshred.review.answers import CANNOT_TELL, answer, believe
from deshred.review.claims import Claims
from deshred.review.layout import Placer, Sheet, obey
from deshred.review.lessons import ANSWER, CONTROL
from deshred.review.merging import MERGED, Dispute, open_disputes
from deshred.review.protests import KEPT, SOLVED, Protest, read_protests
from deshred.review.queue import find_checks, find_options, find_questions, merge_checks
from deshred.review.session import EVENT, Event, Standing, fold, next_redo, next_undo, read_events
from deshred.review.solving import Price, Problem, Refused, Solved, SolverProcess, find_price
from deshred.review.statements import Statement
from deshred.review.turning import Turned, Turner

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


@dataclass(frozen=True, eq=False)
class Offer:
    """A better order that would change pages nobody has spoken of; it waits until a person takes it."""

    found: Solved
    pages: int  # that would change


class Board:
    """One review of one case; a store spares some of the work when a shred is turned."""

    def __init__(self, reconstruction: Reconstruction, log: Log, store: Store | None = None) -> None:
        self.opened = reconstruction  # as the case has it
        self.reconstruction = reconstruction  # with those shreds turned that people have turned
        self._turner = Turner(reconstruction, store)
        self._scored: Turned = reconstruction.constraints.turned
        self._scoring: threading.Thread | None = None
        self._log = log
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._known = {*reconstruction.shreds.ids, *reconstruction.blank.ids}
        self._inked = set(reconstruction.shreds.ids)
        self._placer = Placer(reconstruction, reconstruction)
        entries = log.read()
        self.head = entries[-1].digest if entries else ""
        self.events: list[Event] = self._still_known(read_events(entries))
        self._ids = {event.id for event in self.events}
        self.standing = fold(self.events, reconstruction.constraints)
        self._merges = [entry for entry in entries if entry.event == MERGED]
        arrangement = reconstruction.arrangement
        self._arrangement = arrangement
        self._joins = {(join.left, join.right): join for join in arrangement.joins}
        self._pages = _ids(arrangement)
        self.proof = _proof_of(arrangement)
        self.protests = read_protests(entries, self.events, self.standing.undone)
        self.offer: Offer | None = None
        self._beliefs = WarmStart()  # what prices start from
        self.refusal: tuple[Atom, ...] = ()
        self._claims = Claims()
        self._asked_at: tuple[int, tuple[Question, ...]] = (-1, ())  # the queue of a version
        self._about: set[str] = set()  # shreds that were spoken of since the last order was shown
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
                self._turn()
                self._obey()
                self._request(None)

    def stop(self) -> None:
        """End the solver."""
        if self._solver is not None:
            self._solver.stop()

    def _listen(self) -> None:
        solver = self._solver
        while solver is not None and (found := solver.listen()) is not None:
            self.receive(found)

    def receive(self, found: Solved | Refused) -> None:
        """Take what the solver found, unless something was said since."""
        with self._lock:
            if found.ticket == self._ticket:
                self._take(found)

    def _take(self, found: Solved | Refused) -> None:
        if isinstance(found, Refused):
            self.proof = replace(self.proof, state="refused", message=found.message)
            self.refusal = found.clash
        else:
            elsewhere = 0 if found.arrangement.is_optimal else self._count_elsewhere(found)
            if elsewhere:
                self.offer = Offer(found, elsewhere) if found.is_final else None
            else:
                self._show(found)
            self.proof = replace(
                _proof_of(found.arrangement), seconds=found.seconds, over_chains=found.over_chains
            )
            if found.is_final:
                self._conclude(found)
            else:
                self.proof = replace(self.proof, state="solving")
        self._tell()

    def _show(self, found: Solved) -> None:
        self._arrangement, self.offer = found.arrangement, None
        self._joins = {(join.left, join.right): join for join in found.arrangement.joins}
        self._pages = _in_old_order(_ids(found.arrangement), self._pages)
        self._about.clear()

    def _count_elsewhere(self, found: Solved) -> int:
        """The pages on the board that an order would change although nothing was said about them."""
        new = {tuple(page) for page in _ids(found.arrangement)}
        return sum(tuple(page) not in new and not self._about & set(page) for page in self._pages)

    def take_offer(self) -> None:
        """Show the better order that was offered."""
        with self._lock:
            if self.offer is not None:
                self._show(self.offer.found)
                self._tell()

    def _tell(self) -> None:
        self.version += 1
        self._changed.notify_all()

    # -- shreds that are turned

    def _turn(self) -> None:
        """Let the pile lie as people say; what its new edges say is found out beside."""
        wanted = self.standing.constraints.turned
        if wanted == self.reconstruction.constraints.turned:
            return
        known = self._turner.recall(wanted)
        if known is not None:
            self._lay(known)
            self._pose(known)
            return
        self._lay(self._turner.show(wanted, self.reconstruction))
        if self._scoring is None:
            self._scoring = threading.Thread(target=self._score, daemon=True, name="deshred-scorer")
            self._scoring.start()

    def _lay(self, done: Reconstruction) -> None:
        self.reconstruction = done
        self._placer = Placer(self.opened, done, self._turner.differs(done.constraints.turned))

    def _pose(self, done: Reconstruction) -> None:
        self._scored = done.constraints.turned
        if self._solver is not None:
            start = done.arrangement if done is self.opened else None
            options = done.settings.arrangement
            self._solver.pose(Problem(done.compatibility, start, done.constraints, options))

    def _score(self) -> None:
        """Score the pile as it lies now, again if it was turned meanwhile."""
        while True:
            with self._lock:
                wanted = self.standing.constraints.turned
                if wanted == self._scored:
                    self._scoring = None
                    self._request(None)
                    return
            try:
                found = self._turner.score(wanted)
            except DeshredError as error:
                with self._lock:
                    self._scoring = None
                    self._request(None)
                    self.proof = replace(self.proof, message=f"turned edges were not scored: {error}")
                    self._tell()
                return
            with self._lock:
                if self.standing.constraints.turned == wanted:
                    self._lay(found)
                    self._pose(found)
                    self._scoring = None
                    self._request(None)
                    self._tell()
                    return

    def scored(self) -> Reconstruction:
        """The reconstruction with its own scores, however long that takes."""
        return self._turner.score(self.standing.constraints.turned)

    def _conclude(self, found: Solved) -> None:
        event, rise = self._asked_by, found.arrangement.cost - self._cost_before
        is_dear = event is not None and event.action == ANSWER and rise > _PROTEST
        if event is not None and is_dear:
            self.protests[event.id] = Protest(event, rise)
        self._cost_before, self._asked_by = found.arrangement.cost, None
        entry = self._log.append(
            SOLVED,
            protest=event.id if event is not None and is_dear else "",
            rise=f"{rise:.3f}",
            constraints=_digest(self.standing.constraints),
            order=_digest(found.arrangement.order),
            cost=f"{found.arrangement.cost:.6f}",
            gap=f"{found.arrangement.gap:.6f}",
            over_chains=found.over_chains,
        )
        self.head = entry.digest

    def _request(self, event: Event | None) -> None:
        self._ticket += 1
        self._asked_by = event if self._asked_by is None else None  # who of two made it dearer is not known
        self.proof = replace(self.proof, state="solving", message="")
        self.refusal, self.offer = (), None
        if self._solver is not None and self._scoring is None:  # who scores asks afterwards
            self._solver.ask(self._ticket, self.standing.constraints)

    def _obey(self) -> None:
        self._pages = obey(self._pages, self.standing.constraints)
        self._tell()

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
            standing = fold([*self.events, event], self.opened.constraints)
            self._check_clash(standing, event)
            entry = self._log.append(EVENT, **event.to_fields())
            event = replace(event, time=entry.time, number=entry.number)
            self.head = entry.digest
            self.events.append(event)
            self._ids.add(event.id)
            self._about |= {id_ for one in (*event.say, *event.unsay) for id_ in one.shreds}
            self._about |= self._shreds_of(event.of)
            self.standing = fold(self.events, self.opened.constraints)  # now with its time and number
            self._turn()
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
            check = next((one for one in self._checks() if one.key == key), None)
            if check is not None:
                return self._check_again(id_, actor, check, choice, ms)
            question = next((one for one in self.questions() if one.key == key), None)
            if question is None:
                raise MismatchError("this question is no longer open: the page has changed. Look again.")
            if ms < _FASTEST_MS and choice != "cannot-tell":
                raise InputError(f"answered after {ms} ms: too quick for a real look. Try again.")
            shown = [option.partner or "end" for option in question.options]
            cause = {"question": key, "choice": choice, "shown": shown, "now": question.now, "ms": ms}
            cause |= {"doubt": f"{question.doubt:.4f}", "last": question.last}
            cause |= {"belief": f"{believe(question, choice):.6f}"}
            return self.say(Event(id_, ANSWER, answer(question, choice), actor=actor, cause=cause))

    def _checks(self) -> tuple[Question, ...]:
        options = find_options(self.reconstruction.compatibility, self.standing, self.events)
        return find_checks(self.events, self.standing, self._pages, options)

    def _check_again(self, id_: str, actor: str, check: Question, choice: str, ms: int) -> Event:
        before = next(one for one in self.events if one.id == check.again)
        is_same = choice == CANNOT_TELL or set(answer(check, choice)) == set(before.say)
        if not is_same:
            self.protests[before.id] = Protest(before, 0.0)
        cause = {"control": before.id, "same": is_same, "choice": choice, "ms": ms}
        return self.say(Event(id_, CONTROL, actor=actor, cause=cause))

    def keep(self, id_: str, actor: str, of: str) -> Event | None:
        """A person has looked again and stands by an answer."""
        with self._lock:
            known = self.protests.pop(of, None)
            if known is None:
                return None
            return self.say(Event(id_, KEPT, known.event.say, actor=actor, cause={"kept": of}))

    def settle(self, id_: str, actor: str, number: int, choice: str) -> Event:
        """Say which of two people is right."""
        with self._lock:
            dispute = next((one for one in self.disputes() if one.number == number), None)
            if dispute is None or choice not in ("mine", "theirs"):
                raise MismatchError("this question is settled, or there is no such answer. Look again.")
            right = dispute.mine if choice == "mine" else dispute.theirs
            return self.say(Event(id_, "settle", (right,), actor=actor, cause={"settles": number}))

    def disputes(self) -> tuple[Dispute, ...]:
        """Where merged reviews contradict each other and nobody has said who is right."""
        with self._lock:
            return open_disputes(self._merges, self.events, self.standing.undone)

    def _still_known(self, events: Iterable[Event]) -> list[Event]:
        """What speaks of shreds that a newer run no longer has is history, and counts no more."""
        return [replace(event, say=tuple(filter(self._names_known, event.say))) for event in events]

    def _names_known(self, statement: Statement) -> bool:
        return self._known.issuperset(statement.shreds)

    def _shreds_of(self, event_id: str) -> set[str]:
        event = next((one for one in self.events if one.id == event_id), None)
        return set() if event is None else {id_ for one in (*event.say, *event.unsay) for id_ in one.shreds}

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

    def questions_for(self, tab: str) -> tuple[Question, ...]:
        """Those on pages that no other tab is busy with; the first one's page is claimed by this tab."""
        queue = self.questions()
        with self._lock:
            own = tuple(one for one in queue if self._claims.is_free(one.shred, tab))
            own = merge_checks(own, self._checks(), self.events)
            if own:
                page = next(page for page in self._pages if own[0].shred in page)
                self._claims.claim(page, tab)
        return own

    def questions(self) -> tuple[Question, ...]:
        """All that are worth asking now, by value, those of one page together."""
        with self._lock:
            if self._asked_at[0] == self.version:
                return self._asked_at[1]
            version, done = self.version, self.reconstruction
            arrangement, standing, events = self._shown_arrangement(), self.standing, tuple(self.events)
        queue = find_questions(done.compatibility, arrangement, standing, events, self.paper_width_mm)
        with self._lock:
            self._asked_at = (version, queue)
        return queue

    def questions_known(self) -> tuple[Question, ...]:
        """The same without a wait: while the order is being solved, those of before that are not answered."""
        with self._lock:
            version, queue = self._asked_at
            if self.proof.state != "solving" or version < 0:
                return self.questions()
            answered = {str(event.cause.get("question", "")) for event in self.events}
            return tuple(one for one in queue if one.key not in answered)

    @property
    def paper_width_mm(self) -> float | None:
        """How wide the paper is, where that is known."""
        settings = self.reconstruction.settings.arrangement
        return settings.page_width_mm or paper_width(self.reconstruction.compatibility.margins)

    def outlook(self) -> Outlook:
        """What is left to do."""
        with self._lock:
            checks = [one for one in self._checks() if one.value >= QuestionOptions().least_value]
        return look_ahead((*self.questions_known(), *checks))

    def _shown_arrangement(self) -> Arrangement:
        """The pages on the board with what the solver knows of their joins."""
        pages = tuple(tuple(Slot(id_, 0) for id_ in page) for page in self._pages)
        pairs = [pair for page in self._pages for pair in pairwise(page)]
        joins = tuple(self._joins[pair] for pair in pairs if pair in self._joins)
        return replace(self._arrangement, pages=pages, joins=joins)

    def price_of(self, left: str, right: str) -> Price | None:
        """What this join would add to the cost of the order; None where the present one is not proven."""
        with self._lock:
            wanted = Event("?", "preview", (Statement("join", (left, right)),))
            constraints = fold([*self.events, wanted], self.opened.constraints).constraints
            done, before, known = self.reconstruction, self._arrangement, self.standing.constraints
            is_known = before.is_optimal and self.proof.state == "proven"
        return find_price(done, before, known, constraints, self._beliefs) if is_known else None

    def step(self, left: str, right: str) -> tuple[int, int]:
        """Where the right of two shreds lies, seen from the left."""
        found = self._placer.step(left, right)
        return found.x, found.y


def _ids(arrangement: Arrangement) -> list[list[str]]:
    return [[slot.shred_id for slot in page] for page in arrangement.pages]


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
