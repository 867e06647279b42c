"""When to stop: a point in time, and the clock that it is read from."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

Clock = Callable[[], float]


@dataclass(frozen=True)
class Deadline:
    """A point on a clock; without one there is always time."""

    at: float = math.inf
    clock: Clock = time.monotonic

    @classmethod
    def after(cls, seconds: float | None, clock: Clock = time.monotonic) -> Deadline:
        """So many seconds from now; None is never."""
        return cls(math.inf if seconds is None else clock() + seconds, clock)

    @property
    def is_never(self) -> bool:
        return self.at == math.inf

    @property
    def left(self) -> float:
        """Seconds until then; below 0 when it is past."""
        return self.at - self.clock()

    @property
    def is_past(self) -> bool:
        return self.left < 0

    def share(self, part: float) -> Deadline:
        """An earlier one, when so much of the time that is left has gone."""
        return self if self.is_never else replace(self, at=self.clock() + part * self.left)

    def extend(self, seconds: float) -> Deadline:
        """Another one, so many seconds from now."""
        return Deadline.after(seconds, self.clock)


NEVER = Deadline()
