from __future__ import annotations

from deshred.timing import Stopwatch


def test_a_stopwatch_adds_up() -> None:
    stopwatch = Stopwatch()
    for _ in range(2):
        with stopwatch.measure("score"):
            sum(range(1000))
    assert list(stopwatch.seconds) == ["score"]
    assert stopwatch.seconds["score"] > 0


def test_a_stage_inside_another_is_not_counted_twice() -> None:
    stopwatch = Stopwatch()
    with stopwatch.measure("outer"), stopwatch.measure("inner"):
        sum(range(200_000))
    assert stopwatch.seconds["outer"] < stopwatch.seconds["inner"]
