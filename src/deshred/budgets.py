"""How much memory and time a run may take: options, and a gate that lets through what there is room for."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from deshred.errors import SettingsError
from deshred.options import option

_SHARE = 0.5  # of the machine's memory: others live there as well
_USUAL_MACHINE = 8 << 30  # where the system does not say
_CGROUP_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


@dataclass(frozen=True)
class Budget:
    """What a run may cost."""

    memory_gb: float | None = option(
        None, "Memory to work with, in GB.", flag="--memory", shown="half of the machine's"
    )
    seconds: float = 8.0  # of a processor for one picture of a risky kind, such as a page of a PDF

    def __post_init__(self) -> None:
        if self.memory_gb is not None and not 0.25 <= self.memory_gb < math.inf:
            raise SettingsError(f"memory_gb must be at least 0.25, got {self.memory_gb:g}.")
        if not 1 <= self.seconds < math.inf:
            raise SettingsError(f"seconds must be at least 1, got {self.seconds:g}.")

    @property
    def memory_bytes(self) -> int:
        """The budget in bytes; a case from a stranger may ask for more than there is."""
        if self.memory_gb is None:
            return int(_SHARE * measure_memory())
        return int(min(self.memory_gb * 1e9, measure_memory()))


@cache
def measure_memory() -> int:
    """The bytes of memory that this machine has, or that its container may use."""
    limits = [_USUAL_MACHINE]
    with suppress(ValueError, OSError, AttributeError):  # there is no sysconf on Windows
        limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for file in _CGROUP_LIMITS:
        with suppress(ValueError, OSError):  # "max" is no number: no limit
            limits.append(int(file.read_text(encoding="ascii")))
    return min(limits)


class MemoryGate:
    """Lets threads go ahead while what they need together stays within a limit; others wait their turn."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._held = 0
        self._change = threading.Condition()

    @contextmanager
    def hold(self, size: int) -> Iterator[None]:
        """Wait until there is room for so many bytes, and keep them; more than the limit goes alone."""
        with self._change:
            self._change.wait_for(lambda: self._held == 0 or self._held + size <= self.limit)
            self._held += size
        try:
            yield
        finally:
            with self._change:
                self._held -= size
                self._change.notify_all()

    def __reduce__(self) -> tuple[type[MemoryGate], tuple[int]]:
        return MemoryGate, (self.limit,)  # another process counts for itself
