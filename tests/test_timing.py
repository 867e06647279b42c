"""Seconds per stage, by a clock that the test winds itself."""

from __future__ import annotations

from contextlib import suppress

import pytest

from deshred.timing import Stopwatch


class Clock:
    """Shows what it was set to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_stopwatch_adds_up(clock: Clock) -> None:
    stopwatch = Stopwatch(clock=clock)
    for spent in (2.0, 3.0):
        with stopwatch.measure("score"):
            clock.now += spent
        clock.now += 100.0  # between two stages
    assert stopwatch.seconds == {"score": 5.0}


def test_a_stage_inside_another_is_not_counted_twice(clock: Clock) -> None:
    stopwatch = Stopwatch(clock=clock)
    with stopwatch.measure("outer"):
        clock.now += 1.0
        for spent in (10.0, 20.0):
            with stopwatch.measure("inner"):
                clock.now += spent
        clock.now += 2.0
    assert stopwatch.seconds == {"outer": 3.0, "inner": 30.0}


def test_a_stage_that_fails_is_counted_and_one_that_was_measured_before_goes_on(clock: Clock) -> None:
    stopwatch = Stopwatch({"read": 7.0}, clock=clock)
    with suppress(ZeroDivisionError), stopwatch.measure("read"):
        clock.now += 4.0
        raise ZeroDivisionError
    assert stopwatch.seconds == {"read": 11.0}


def test_without_a_clock_time_does_not_run_backwards() -> None:
    stopwatch = Stopwatch()
    with stopwatch.measure("any"):
        pass
    assert list(stopwatch.seconds) == ["any"]
    assert stopwatch.seconds["any"] >= 0
