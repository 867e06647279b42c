"""Things that are made when they are asked for, and read like any other sequence."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar, overload

Item = TypeVar("Item", covariant=True)


class LazySequence(Sequence[Item]):
    """A base: who inherits says how many there are, and makes one of them."""

    @abstractmethod
    def make(self, index: int) -> Item:
        """Make the item at an index that is not negative."""

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        places = range(len(self))[index]
        return self.make(places) if isinstance(places, int) else [self.make(i) for i in places]
