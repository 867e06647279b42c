from __future__ import annotations

import pytest

from deshred.lazy import LazySequence


class Squares(LazySequence[int]):
    def __init__(self) -> None:
        self.made: list[int] = []

    def make(self, index: int) -> int:
        self.made.append(index)
        return index * index

    def __len__(self) -> int:
        return 5


def test_only_what_is_asked_for_is_made() -> None:
    squares = Squares()
    assert squares[2] == 4
    assert squares[-1] == 16
    assert squares.made == [2, 4]


def test_it_reads_like_a_list() -> None:
    plain = [0, 1, 4, 9, 16]
    assert list(Squares()) == plain
    for part in (slice(1, 3), slice(None, None, -1), slice(-2, None), slice(9, 20)):
        assert Squares()[part] == plain[part]
    with pytest.raises(IndexError):
        Squares()[5]
