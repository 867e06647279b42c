"""Seconds of wall time per stage."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Stopwatch:
    """Seconds per stage, in the order they ran; a stage inside another is not counted twice."""

    seconds: dict[str, float] = field(default_factory=dict)
    clock: Callable[[], float] = field(default=time.perf_counter, repr=False)
    _inner: list[float] = field(default_factory=list, repr=False)

    @contextmanager
    def measure(self, stage: str) -> Iterator[None]:
        """Add the time spent inside to a stage."""
        self.seconds.setdefault(stage, 0.0)
        self._inner.append(0.0)
        start = self.clock()
        try:
            yield
        finally:
            spent = self.clock() - start
            self.seconds[stage] += spent - self._inner.pop()
            if self._inner:
                self._inner[-1] += spent
