"""Another machine, as far as code can tell: nothing gets there but what is pickled, and what a store has."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from deshred.executors import Executor


@dataclass
class Elsewhere(Executor):
    """Does everything at once in this process, from copies; it counts the bytes that travel."""

    has_files: bool = True
    sent: list[int] = field(default_factory=list)
    shares_memory: ClassVar[bool] = False

    def stream(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            packed = pickle.dumps((function, item))
            self.sent.append(len(packed))
            there, copied = pickle.loads(packed)
            yield pickle.loads(pickle.dumps(there(copied)))

    def sees(self, files: Sequence[Path]) -> bool:
        return self.has_files and all(file.exists() for file in files)
