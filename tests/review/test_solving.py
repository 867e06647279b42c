"""Solving again and again: the same answers as from scratch, the newest question first, no lost process."""

from __future__ import annotations

import threading
from itertools import pairwise
from multiprocessing import Pipe

import numpy as np
import pytest

from deshred.arrangement import ArrangementOptions, arrange
from deshred.elements import Constraints
from deshred.review.solving import Problem, Refused, Resolver, Solved, SolverProcess, Ticket, work
from tests.arrangement.brute_force import obeys, pile, random_constraints

OPTIONS = ArrangementOptions(pages=2)


def problem_of(seed: int, n: int = 9) -> Problem:
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, n)).astype(np.float32)
    scores[np.arange(n - 1), np.arange(1, n)] += 2
    compatibility = pile(scores)
    return Problem(compatibility, arrange(compatibility, options=OPTIONS), Constraints(), OPTIONS)


def pages_of(solved: Solved) -> list[list[str]]:
    return [[slot.shred_id for slot in page] for page in solved.arrangement.pages]


def forbid(problem: Problem, count: int) -> Constraints:
    pairs = [pair for page in problem.arrangement.pages for pair in pairwise(s.shred_id for s in page)]
    return Constraints(forbidden=frozenset(pairs[:count]))


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_asked_the_last_answer_costs_what_a_fresh_start_costs(seed: int) -> None:
    problem, rng = problem_of(seed), np.random.default_rng(seed)
    resolver = Resolver(problem)
    kinds = set()
    for ticket in range(12):
        constraints = random_constraints(rng, problem.compatibility.ids, groups=True)
        *_, last = resolver.solve(ticket, constraints)
        kinds.add(type(last))
        assert last.ticket == ticket
        if isinstance(last, Solved):
            assert last.is_final
            assert obeys(pages_of(last), constraints)
            fresh = arrange(problem.compatibility, constraints, options=OPTIONS)
            assert last.arrangement.cost == pytest.approx(fresh.cost, abs=1e-5)
    assert Solved in kinds


def test_what_was_proven_before_is_told_again_without_solving() -> None:
    problem = problem_of(1)
    resolver = Resolver(problem)
    constraints = forbid(problem, 2)
    (*_, first), (again,) = resolver.solve(1, constraints), resolver.solve(2, constraints)
    assert isinstance(again, Solved)
    assert again.over_chains
    assert again.arrangement == first.arrangement


def test_without_any_word_the_start_is_the_answer() -> None:
    problem = problem_of(2)
    (only,) = Resolver(problem).solve(7, Constraints())
    assert isinstance(only, Solved)
    assert only.arrangement.order == problem.arrangement.order


def test_a_contradiction_is_refused_with_those_at_odds() -> None:
    problem = problem_of(3)
    a, b, c = problem.compatibility.ids[:3]
    (told,) = Resolver(problem).solve(4, Constraints(required=frozenset({(a, b), (b, c), (c, a)})))
    assert isinstance(told, Refused)
    assert told.ticket == 4
    assert {atom.ids for atom in told.clash} == {(a, b), (b, c), (c, a)}


def test_shreds_of_another_pile_are_refused_with_no_clash() -> None:
    (told,) = Resolver(problem_of(3)).solve(4, Constraints(first=frozenset({"nobody"})))
    assert isinstance(told, Refused)
    assert told.clash == ()
    assert "nobody" in told.message


def test_only_the_newest_of_waiting_questions_is_answered_and_a_cut_wire_ends_it() -> None:
    problem = problem_of(5)
    ours, theirs = Pipe()
    ours.send(problem)
    for ticket, count in ((1, 1), (2, 2), (3, 3)):
        ours.send(Ticket(ticket, forbid(problem, count)))
    worker = threading.Thread(target=work, args=(theirs,))
    worker.start()
    assert ours.poll(60)
    answer = ours.recv()
    assert (answer.ticket, answer.is_final) == (3, True)
    ours.close()
    worker.join(10)
    assert not worker.is_alive()


def test_a_process_that_was_stopped_says_nothing_more() -> None:
    problem = problem_of(6)
    process = SolverProcess(problem)
    process.ask(1, forbid(problem, 1))
    answer = process.listen()
    assert isinstance(answer, Solved)
    assert answer.ticket == 1
    process.stop()
    assert process.listen() is None
    assert not process._process.is_alive()
