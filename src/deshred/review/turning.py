"""A reconstruction in which the shreds are turned that people have turned.

Pixels are turned at once. Scoring the turned edges takes seconds; what was scored is remembered, so taking a
turn back costs nothing.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import replace

from deshred.cases import Store
from deshred.imaging.turning import turn
from deshred.pipeline import Reconstruction, rescore

_REMEMBERED = 4

Turned = frozenset[str]


class Turner:
    """The same pile with other shreds turned."""

    def __init__(self, opened: Reconstruction, store: Store | None) -> None:
        self._opened, self._store = opened, store
        self._scored: OrderedDict[Turned, Reconstruction] = OrderedDict({opened.constraints.turned: opened})
        self._lock = threading.Lock()

    def differs(self, turned: Turned) -> Turned:
        """The shreds that lie another way up than in the case."""
        return self._opened.constraints.turned ^ turned

    def recall(self, turned: Turned) -> Reconstruction | None:
        """With its scores, where they are known."""
        return self._scored.get(turned)

    def show(self, turned: Turned, scored: Reconstruction) -> Reconstruction:
        """With its pixels turned, and the scores of another until its own are there."""
        pile = turn(self._opened.pile, self.differs(turned))
        return replace(scored, pile=pile, constraints=replace(scored.constraints, turned=turned))

    def score(self, turned: Turned) -> Reconstruction:
        """With its own scores."""
        with self._lock:  # two at once would only wait for each other
            found = self._scored.get(turned)
            if found is None:
                found = self._scored[turned] = rescore(self._opened, turned, store=self._store)
                while len(self._scored) > _REMEMBERED:
                    self._forget()
            return found

    def _forget(self) -> None:
        oldest = next(turned for turned in self._scored if turned != self._opened.constraints.turned)
        del self._scored[oldest]
