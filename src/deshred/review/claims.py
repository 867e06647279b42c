"""Who is busy with which shreds, so that two people are not asked the same question at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

_SECONDS = 600.0


@dataclass(frozen=True)
class _Claim:
    tab: str
    until: float


class Claims:
    """Shreds and the tab that is busy with them; a claim ends by itself."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._held: dict[str, _Claim] = {}

    def claim(self, shreds: Iterable[str], tab: str) -> None:
        """A tab is busy with these now, and with nothing else."""
        now = self._clock()
        self._held = {
            shred: held for shred, held in self._held.items() if held.tab != tab and held.until > now
        }
        self._held |= dict.fromkeys(shreds, _Claim(tab, now + _SECONDS))

    def is_free(self, shred: str, tab: str) -> bool:
        """Whether no other tab is busy with it."""
        held = self._held.get(shred)
        return held is None or held.tab == tab or held.until <= self._clock()
