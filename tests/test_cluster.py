from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("distributed", reason="needs deshred[cluster]")

from deshred.cluster import ClusterExecutor, check_workers, connect
from deshred.compatibility.fusion import FusionScorer
from deshred.compatibility.models import find_model
from deshred.compatibility.scoring import ScoringOptions, score
from deshred.elements import ShredSet
from deshred.errors import MismatchError, ModelError, SettingsError
from deshred.executors import SerialExecutor
from deshred.imaging.preparation import prepare

pytestmark = pytest.mark.filterwarnings("ignore")  # those of Dask and Tornado are not ours


@pytest.fixture(scope="module")
def cluster() -> Iterator[ClusterExecutor]:
    with connect("local:2") as executor:
        yield executor


def _square(number: int) -> int:
    return number * number


def _die_once(folder: str) -> int:
    """Kills the worker it runs on, the first time."""
    marker = Path(folder, "died")
    if not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def _fail(number: int) -> int:
    raise ModelError(f"number {number}")


def test_results_come_in_the_order_of_the_items(cluster: ClusterExecutor) -> None:
    assert cluster.map(_square, range(20)) == [number * number for number in range(20)]


def test_an_error_in_a_worker_is_raised_here(cluster: ClusterExecutor) -> None:
    with pytest.raises(ModelError, match="number 3"):
        cluster.map(_fail, [3])


def test_a_function_that_cannot_be_imported_is_refused(cluster: ClusterExecutor) -> None:
    with pytest.raises(TypeError, match="imported"):
        cluster.map(lambda number: number, [1])


def test_a_pile_scored_on_a_cluster_is_the_same_to_the_last_bit(
    cluster: ClusterExecutor, tiny_pile: ShredSet
) -> None:
    scorer = FusionScorer()
    found = []
    for executor in (SerialExecutor(), cluster):
        pile = prepare(tiny_pile, edges=scorer.edge_options, executor=executor)
        for limit in (0, 100):
            options = ScoringOptions(block=3, dense_limit=limit)
            found.append(score(pile, scorer, options=options, executor=executor))
    for alone, together in zip(found[:2], found[2:], strict=True):
        np.testing.assert_array_equal(alone.scores, together.scores)
        np.testing.assert_array_equal(alone.offsets, together.offsets)
        assert alone.margins is not None
        assert together.margins is not None
        np.testing.assert_array_equal(alone.margins.starts, together.margins.starts)


def test_a_worker_that_is_killed_is_replaced_and_its_work_done(tmp_path: Path) -> None:
    with connect("local:1") as cluster:
        (before,) = cluster.client.run(os.getpid).values()
        (after,) = cluster.map(_die_once, [str(tmp_path)])
    assert after != before


def test_workers_of_another_version_are_refused() -> None:
    class Client:
        """Dask's own face, with a worker from last year."""

        def run(self, function: Any) -> dict[str, dict[str, str]]:
            return {"tcp://old:1": {**function(), "numpy": "1.0"}}

    with pytest.raises(MismatchError, match=r"tcp://old:1: has numpy 1\.0"):
        check_workers(Client())


def test_a_model_that_differs_on_a_worker_is_refused(tmp_path: Path) -> None:
    model = tmp_path / "model.onnx"
    model.write_bytes(find_model("towers-default").read_bytes())
    packed = pickle.dumps(FusionScorer(model))
    assert pickle.loads(packed).card == FusionScorer(model).card
    model.write_bytes(find_model("towers-isri").read_bytes())
    with pytest.raises(ModelError, match="differs from the model"):
        pickle.loads(packed)


@pytest.mark.parametrize("where", ["local:0", "local:many"])
def test_a_number_of_workers_that_is_none_is_refused(where: str) -> None:
    with pytest.raises(SettingsError, match="number of workers"), connect(where):
        pass


def test_a_scheduler_that_does_not_answer_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import distributed

    plain = distributed.Client
    monkeypatch.setattr(distributed, "Client", lambda *a, **k: plain(*a, **{**k, "timeout": "1s"}))
    with pytest.raises(SettingsError, match="no Dask scheduler answers"), connect("tcp://127.0.0.1:9"):
        pass


def _square_slowly(number: int) -> int:
    time.sleep(0.2)
    return number * number


@pytest.fixture
def processes() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Processes that are ended with the test."""
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for process in started:
        process.kill()
        process.wait()


def test_a_run_goes_on_when_the_scheduler_is_killed_and_started_again(
    processes: list[subprocess.Popen[bytes]],
) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"

    def start(kind: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--no-dashboard", *arguments]
        paths = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
        processes.append(
            subprocess.Popen(
                command,
                env={**os.environ, "PYTHONPATH": paths},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )
        return processes[-1]

    def start_both() -> subprocess.Popen[bytes]:
        scheduler = start("scheduler", "--host", "127.0.0.1", "--port", str(port))
        start("worker", address, "--nthreads", "1", "--no-nanny")
        return scheduler

    scheduler = start_both()
    deadline = time.monotonic() + 60
    while True:
        try:
            with connect(address) as cluster:
                squares = cluster.stream(_square_slowly, range(12))
                found = [next(squares) for _ in range(3)]
                scheduler.kill()
                scheduler.wait()
                start_both()
                found += squares
            break
        except SettingsError:  # the scheduler or its worker is not there yet
            assert time.monotonic() < deadline
            time.sleep(0.5)
    assert found == [number * number for number in range(12)]
