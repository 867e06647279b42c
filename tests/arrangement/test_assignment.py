"""The assignment of large piles: rounds over candidates, of which the clock may allow only the first."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from brute_force import pile

from deshred.arrangement import ArrangementOptions, arrange, assignment


def test_an_assignment_out_of_time_stops_after_its_first_round(monkeypatch):
    scores = np.round(np.random.default_rng(0).random((80, 80)), 1).astype(np.float32)
    best = arrange(pile(scores), options=ArrangementOptions(pages=1))
    monkeypatch.setattr(assignment, "_DENSE_LIMIT", 0)
    monkeypatch.setattr(assignment, "_CANDIDATES", 1)  # one round is not enough then
    rounds = []
    match = assignment._match
    monkeypatch.setattr(assignment, "_match", lambda *given: rounds.append(given) or match(*given))
    arrange(pile(scores), options=ArrangementOptions(pages=1))
    assert len(rounds) > 1
    rounds.clear()
    monkeypatch.setattr(assignment, "time", SimpleNamespace(monotonic=lambda: np.inf))
    hurried = arrange(pile(scores), options=ArrangementOptions(pages=1, time_limit=60.0))
    assert len(rounds) == 1
    assert hurried.is_optimal  # all the same: the rest of the solver had its time
    assert abs(hurried.cost - best.cost) < 1e-6
