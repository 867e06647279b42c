from __future__ import annotations

import pickle
import threading
import time

import pytest

from deshred.budgets import Budget, MemoryGate, measure_memory
from deshred.errors import SettingsError
from deshred.executors import ThreadExecutor


def test_a_budget_is_a_share_of_the_machine_unless_it_is_given() -> None:
    assert 0 < Budget().memory_bytes < measure_memory()
    assert Budget(memory_gb=0.5).memory_bytes == 500_000_000


@pytest.mark.parametrize("asked", [1e6, 1e300])
def test_no_budget_is_larger_than_the_machine(asked: float) -> None:
    assert Budget(memory_gb=asked).memory_bytes == measure_memory()


@pytest.mark.parametrize("options", [{"memory_gb": 0.1}, {"memory_gb": float("nan")}, {"seconds": 0}])
def test_a_budget_that_makes_no_sense_is_refused(options: dict[str, float]) -> None:
    with pytest.raises(SettingsError, match="at least"):
        Budget(**options)


def test_the_gate_lets_through_no_more_than_its_limit() -> None:
    gate, lock = MemoryGate(100), threading.Lock()
    held, most = 0, 0

    def work(size: int) -> None:
        nonlocal held, most
        with gate.hold(size):
            with lock:
                held += size
                most = max(most, held)
            time.sleep(0.002)
            with lock:
                held -= size

    ThreadExecutor(8).map(work, [30, 40, 50, 10, 60, 100, 20] * 5)
    assert (held, most <= 100) == (0, True)


def test_what_is_larger_than_the_gate_goes_alone() -> None:
    gate = MemoryGate(10)
    with gate.hold(50):
        pass
    with pytest.raises(ZeroDivisionError), gate.hold(5):
        raise ZeroDivisionError
    with gate.hold(10):
        pass


def test_a_gate_in_another_process_has_the_same_limit() -> None:
    assert pickle.loads(pickle.dumps(MemoryGate(7))).limit == 7
