from __future__ import annotations

import os
import threading

import pytest

from deshred.errors import InputError, SettingsError
from deshred.executors import (
    Executor,
    ProcessExecutor,
    SerialExecutor,
    ThreadExecutor,
    default_executor,
    usable_cpus,
)

ALL = [SerialExecutor(), ThreadExecutor(3), ProcessExecutor(2)]


def square(number: int) -> int:
    return number * number


def refuse_seven(number: int) -> int:
    if number == 7:
        raise InputError("seven.png: unreadable.")
    return number


def where(_: int) -> tuple[int, int]:
    return os.getpid(), threading.get_ident()


@pytest.mark.parametrize("executor", ALL, ids=repr)
def test_results_come_in_the_order_of_the_items(executor: Executor) -> None:
    assert executor.map(square, range(50)) == [number * number for number in range(50)]


@pytest.mark.parametrize("executor", ALL, ids=repr)
def test_the_first_error_is_raised_as_it_is(executor: Executor) -> None:
    with pytest.raises(InputError, match="seven"):
        executor.map(refuse_seven, range(20))


@pytest.mark.parametrize("executor", ALL, ids=repr)
def test_progress_counts_every_item_once(executor: Executor) -> None:
    seen: list[tuple[str, int, int]] = []
    executor.map(square, range(9), stage="squaring", progress=lambda *told: seen.append(told))
    assert seen == [("squaring", done, 9) for done in range(1, 10)]


@pytest.mark.parametrize("executor", ALL, ids=repr)
def test_no_items_give_no_results(executor: Executor) -> None:
    assert executor.map(square, []) == []


def test_work_runs_where_the_name_says() -> None:
    here = (os.getpid(), threading.get_ident())
    assert set(SerialExecutor().map(where, range(4))) == {here}
    threads = ThreadExecutor(2).map(where, range(4))
    assert {pid for pid, _ in threads} == {here[0]}
    assert here not in threads
    assert here[0] not in {pid for pid, _ in ProcessExecutor(1).map(where, range(2))}


def test_the_default_uses_the_processors_there_are() -> None:
    assert default_executor(1) == SerialExecutor()
    assert default_executor(3) == ThreadExecutor(3)
    expected = SerialExecutor() if usable_cpus() == 1 else ThreadExecutor(usable_cpus())
    assert default_executor() == expected


@pytest.mark.parametrize("make", [ThreadExecutor, ProcessExecutor, default_executor])
def test_fewer_than_one_job_is_refused(make: type) -> None:
    with pytest.raises(SettingsError, match="at least 1, got 0"):
        make(0)


@pytest.mark.parametrize("executor", [SerialExecutor(), ThreadExecutor(2)], ids=repr)
def test_results_are_made_as_they_are_asked_for(executor: Executor) -> None:
    made: list[int] = []
    stream = executor.stream(made.append, range(100))
    for _ in range(3):
        next(stream)
    assert 3 <= len(made) < 20
