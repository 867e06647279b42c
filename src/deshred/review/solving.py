"""Constraints in, the best order known out, again and again, in a process of its own.

A problem holds the scores. It is posed anew when they change, which is when a shred is turned.

Changes are solved over chains, which proves most of them in a fraction of a second. What chains cannot prove
is solved whole, in slices of time: each slice shows the best order so far. Newer constraints end the work on
older ones after the slice at hand.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection

from deshred.arrangement import (
    ArrangementOptions,
    Atom,
    ChainOptions,
    WarmStart,
    arrange,
    arrange_over_chains,
)
from deshred.compatibility.calibration import rate
from deshred.elements import Arrangement, Compatibility, Constraints
from deshred.errors import DeshredError, InfeasibleError
from deshred.pipeline import Reconstruction

_PRICES = (5.0, 15.0)  # nats
_SLICES = (0.3, 2.0, 10.0)  # seconds
_BASES = 12


@dataclass(frozen=True, eq=False)
class Problem:
    """What stays the same until a shred is turned."""

    compatibility: Compatibility
    arrangement: Arrangement | None  # to start from, where one was found with these very scores
    constraints: Constraints  # under which it was found
    options: ArrangementOptions


@dataclass(frozen=True, eq=False)
class Solved:
    """An order that obeys the constraints."""

    ticket: int
    arrangement: Arrangement
    seconds: float
    over_chains: bool
    is_final: bool


@dataclass(frozen=True)
class Refused:
    """Constraints that no order obeys, and those at odds where they are known."""

    ticket: int
    message: str
    clash: tuple[Atom, ...]


@dataclass(frozen=True)
class Ticket:
    """A request to solve."""

    number: int
    constraints: Constraints


class Resolver:
    """Solves one problem under changing constraints; remembers what it has proven."""

    def __init__(self, problem: Problem, slices: Sequence[float] = _SLICES) -> None:
        self._problem, self._slices = problem, slices
        self._warm = WarmStart()
        start = problem.arrangement
        self._bases = [] if start is None else [(problem.constraints, start)]

    def solve(self, ticket: int, constraints: Constraints) -> Iterator[Solved | Refused]:
        """One answer or several, each better than the one before; stop asking when it no longer matters."""
        start = time.perf_counter()
        try:
            found = self._over_chains(constraints)
            if found is not None:
                yield self._tell(ticket, found, start, over_chains=True, is_final=True)
                return
            for seconds in self._slices:
                options = replace(self._problem.options, time_limit=seconds)
                found = arrange(
                    self._problem.compatibility, constraints, options=options, warm_start=self._warm
                )
                is_final = found.is_optimal or seconds == self._slices[-1]
                self._remember(constraints, found)
                yield self._tell(ticket, found, start, over_chains=False, is_final=is_final)
                if is_final:
                    return
        except InfeasibleError as error:
            clash = tuple(atom for atom in error.clash if isinstance(atom, Atom))
            yield Refused(ticket, str(error), clash)
        except DeshredError as error:
            yield Refused(ticket, str(error), ())

    def _over_chains(self, constraints: Constraints) -> Arrangement | None:
        problem = self._problem
        proven = [before for known, before in self._bases if known == constraints and before.is_optimal]
        if proven:
            return proven[-1]
        within = (base for base in reversed(self._bases) if _is_within(base[0], constraints))
        known, nearest = next(within, (Constraints(), None))
        for price in _PRICES:
            if nearest is None:
                break
            found = arrange_over_chains(
                problem.compatibility,
                constraints,
                nearest,
                known=known,
                options=problem.options,
                chains=ChainOptions(price),
                warm_start=self._warm,
            )
            if found is not None:
                self._remember(constraints, found)
                return found
        return None

    def _remember(self, constraints: Constraints, arrangement: Arrangement) -> None:
        if arrangement.is_optimal:
            self._bases.append((constraints, arrangement))
            del self._bases[1:-_BASES]

    def _tell(
        self, ticket: int, found: Arrangement, start: float, *, over_chains: bool, is_final: bool
    ) -> Solved:
        rated = rate(found, self._problem.compatibility)
        return Solved(ticket, rated, time.perf_counter() - start, over_chains, is_final)


@dataclass(frozen=True)
class Price:
    """By how much an order gets dearer under more constraints, in nats."""

    rise: float
    is_least: bool  # it may be more


def find_price(
    done: Reconstruction,
    before: Arrangement,
    known: Constraints,
    constraints: Constraints,
    warm_start: WarmStart,
) -> Price:
    """What it costs to obey these as well; beyond the dearest chains only that it is more."""
    options = done.settings.arrangement
    for price in _PRICES:
        try:
            found = arrange_over_chains(
                done.compatibility,
                constraints,
                before,
                known=known,
                options=options,
                chains=ChainOptions(price),
                warm_start=warm_start,
            )
        except InfeasibleError:
            return Price(float("inf"), is_least=True)
        if found is not None:
            return Price(max(0.0, found.cost - before.cost), is_least=False)
    return Price(_PRICES[-1], is_least=True)


def _is_within(some: Constraints, all_: Constraints) -> bool:
    """Whether everything that some constraints say is said by the others too."""
    return all(held <= getattr(all_, name) for name, held in vars(some).items())


def work(wire: Connection) -> None:
    """The process: a problem first, then tickets with constraints, or another problem; the newest counts."""
    try:
        resolver = Resolver(wire.recv())
        while True:
            message = wire.recv()
            if isinstance(message, Problem):
                resolver = Resolver(message)
            elif not wire.poll():
                for answer in resolver.solve(message.number, message.constraints):
                    wire.send(answer)
                    if wire.poll():
                        break
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        return


class SolverProcess:
    """The other end of the wire."""

    def __init__(self, problem: Problem) -> None:
        context = multiprocessing.get_context("spawn")
        self._wire, theirs = context.Pipe()
        self._process = context.Process(target=work, args=(theirs,), daemon=True, name="deshred-solver")
        self._process.start()
        theirs.close()
        self.pose(problem)

    def pose(self, problem: Problem) -> None:
        """From now on solve this one."""
        self._wire.send(problem)

    def ask(self, ticket: int, constraints: Constraints) -> None:
        """Begin to solve; answers come from `listen`."""
        self._wire.send(Ticket(ticket, constraints))

    def listen(self) -> Solved | Refused | None:
        """The next answer; None when the process is gone."""
        try:
            answer: Solved | Refused = self._wire.recv()
        except (EOFError, OSError):
            return None
        return answer

    def stop(self) -> None:
        """End the process."""
        self._wire.close()
        self._process.join(0.5)
        if self._process.is_alive():
            self._process.kill()
            self._process.join(2)
