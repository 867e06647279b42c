"""Real schedulers and workers: killed, stopped, started again, or not what they should be."""

from __future__ import annotations

import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

pytest.importorskip("distributed", reason="needs deshred[cluster]")

import dask
import distributed

from deshred.cases import COMPATIBILITY, Folder, FolderStore, open_store
from deshred.cluster import ClusterExecutor, _run, connect
from deshred.compatibility.fusion import FusionScorer
from deshred.compatibility.models import find_model
from deshred.compatibility.scoring import ScoringOptions, score
from deshred.elements import Compatibility, Pile, ShredSet
from deshred.errors import MismatchError, ModelError, OutputError, SettingsError
from deshred.executors import Progress, SerialExecutor
from deshred.imaging.preparation import prepare
from tests.commands import run

pytestmark = pytest.mark.filterwarnings("ignore")  # those of Dask and Tornado are not ours

OPTIONS = ScoringOptions(block=3, dense_limit=0)  # a first look, and three groups
_TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClusterExecutor]:
    with connect("local:2", open_store(str(tmp_path_factory.mktemp("store")))) as executor:
        yield executor


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(Folder(tmp_path / "case"))


@pytest.fixture(scope="module")
def scorer() -> FusionScorer:
    return FusionScorer()


@pytest.fixture(scope="module")
def pile(tiny_pile: ShredSet, scorer: FusionScorer) -> Pile:
    return prepare(tiny_pile, edges=scorer.edge_options)


@pytest.fixture(scope="module")
def alone(pile: Pile, scorer: FusionScorer) -> Compatibility:
    return score(pile, scorer, options=OPTIONS, executor=SerialExecutor())


def assert_same(found: Compatibility, expected: Compatibility) -> None:
    for name in ("scores", "offsets", "row_starts", "columns"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    assert found.margins is not None
    assert expected.margins is not None
    np.testing.assert_array_equal(found.margins.starts, expected.margins.starts)


def _square(number: int) -> int:
    return number * number


def _fail(number: int) -> int:
    raise ModelError(f"number {number}")


def _wait_for_others(task: tuple[str, int, int]) -> int:
    """The first task is done only when all others are."""
    folder, number, count = task
    while number == 0 and sum(1 for _ in Path(folder).iterdir()) < count - 1:
        time.sleep(0.05)
    Path(folder, str(number)).touch()
    return number


def _die(_: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_results_come_in_the_order_of_the_items(cluster: ClusterExecutor) -> None:
    assert cluster.map(_square, range(20)) == [number * number for number in range(20)]


def test_workers_do_not_give_memory_back_at_every_array(cluster: ClusterExecutor) -> None:
    """It takes twice the time."""
    found = cluster.client.run(os.environ.get, "MALLOC_TRIM_THRESHOLD_").values()
    assert set(found) == {os.environ.get("MALLOC_TRIM_THRESHOLD_")}


def test_an_error_in_a_worker_is_raised_here(cluster: ClusterExecutor) -> None:
    with pytest.raises(ModelError, match="number 3"):
        cluster.map(_fail, [3])


def test_a_function_that_cannot_be_imported_is_refused(cluster: ClusterExecutor) -> None:
    with pytest.raises(TypeError, match="imported"):
        cluster.map(lambda number: number, [1])


def test_a_slow_task_keeps_no_other_waiting(cluster: ClusterExecutor, tmp_path: Path) -> None:
    tasks = [(str(tmp_path), number, 40) for number in range(40)]
    assert cluster.map(_wait_for_others, tasks) == list(range(40))


def test_progress_tells_how_many_workers_there_are(cluster: ClusterExecutor) -> None:
    told: list[tuple[str, int, int]] = []
    cluster.map(_square, [1, 2], stage="squaring", progress=lambda *args: told.append(args))
    assert told == [("squaring: 2 workers", 1, 2), ("squaring: 2 workers", 2, 2)]


@pytest.mark.parametrize("limit", [0, 100])
def test_a_pile_scored_on_a_cluster_is_the_same_to_the_last_bit(
    limit: int, cluster: ClusterExecutor, pile: Pile, scorer: FusionScorer, store: FolderStore
) -> None:
    options = ScoringOptions(block=3, dense_limit=limit)
    expected = score(pile, scorer, options=options, executor=SerialExecutor())
    assert_same(score(pile, scorer, options=options, store=store, executor=cluster), expected)


def test_files_that_hold_something_else_for_a_worker_are_not_seen(
    cluster: ClusterExecutor, tmp_path: Path
) -> None:
    file = tmp_path / "scan.png"
    file.write_bytes(b"here")
    assert cluster.sees([file])
    own = Path("/proc/self/environ")  # every process has another
    assert not own.exists() or not cluster.sees([file, own])


# --- losses


def _score_while(
    cluster: ClusterExecutor,
    happens: Callable[[], None],
    pile: Pile,
    scorer: FusionScorer,
    store: FolderStore,
) -> Compatibility:
    """Score on a cluster, and let something happen when the first group was compared."""
    stages: list[str] = []

    def watch(stage: str, _done: int, _total: int) -> None:
        if stage.startswith("scoring") and not any(one.startswith("scoring") for one in stages):
            happens()
        stages.append(stage)

    progress: Progress = watch
    found = score(pile, scorer, options=OPTIONS, store=store, executor=cluster, progress=progress)
    assert sum(stage.startswith("scoring") for stage in stages) == 3  # it happened in the middle
    return found


def test_a_worker_killed_in_the_middle_of_a_run_changes_nothing(
    pile: Pile, scorer: FusionScorer, store: FolderStore, alone: Compatibility
) -> None:
    with connect("local:2", store) as cluster:
        before = set(cluster.client.run(os.getpid).values())
        victim = min(before)
        found = _score_while(cluster, lambda: os.kill(victim, signal.SIGKILL), pile, scorer, store)
        cluster.client.wait_for_workers(2, timeout=60)
        after = set(cluster.client.run(os.getpid).values())
    assert victim not in after
    assert_same(found, alone)


def test_a_worker_that_hangs_is_given_up_and_its_work_done_by_another(
    pile: Pile, scorer: FusionScorer, store: FolderStore, alone: Compatibility
) -> None:
    stopped: list[int] = []

    def stop() -> None:
        stopped.append(max(cluster.client.run(os.getpid).values()))
        os.kill(stopped[0], signal.SIGSTOP)

    with dask.config.set({"distributed.scheduler.worker-ttl": "3s"}), connect("local:2", store) as cluster:
        try:
            found = _score_while(cluster, stop, pile, scorer, store)
        finally:
            for pid in stopped:
                with suppress(ProcessLookupError):  # its nanny was quicker
                    os.kill(pid, signal.SIGKILL)
    assert stopped
    assert_same(found, alone)


def test_a_task_that_kills_every_worker_is_told_with_a_remedy() -> None:
    settings = {"distributed.scheduler.allowed-failures": 0}
    with (
        dask.config.set(settings),
        connect("local:1") as cluster,
        pytest.raises(SettingsError, match=r"1 workers were lost.*memory.*continues"),
    ):
        cluster.map(_die, [1])


@pytest.fixture
def processes() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Processes that are ended with the test."""
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for process in started:
        process.kill()
        process.wait()


def _start(kind: str, *arguments: str, first: str = "", **variables: str) -> subprocess.Popen[bytes]:
    paths = os.pathsep.join([*([first] if first else []), str(_TESTS), *sys.path])
    return subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--no-dashboard", *arguments],
        env={**os.environ, "PYTHONPATH": paths, **variables},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def test_a_run_goes_on_when_the_scheduler_is_killed_and_started_again(
    processes: list[subprocess.Popen[bytes]],
    pile: Pile,
    scorer: FusionScorer,
    store: FolderStore,
    alone: Compatibility,
    tmp_path: Path,
) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    file = tmp_path / "scheduler.json"

    def start() -> None:
        options = ("--host", "127.0.0.1", "--port", port, "--scheduler-file", str(file))
        processes.append(_start("scheduler", *options))
        processes.append(_start("worker", f"tcp://127.0.0.1:{port}", "--nthreads", "1", "--no-nanny"))

    def kill_and_start() -> None:
        scheduler = processes[0]
        scheduler.kill()
        scheduler.wait()
        start()

    start()
    deadline = time.monotonic() + 120
    while True:
        try:
            with connect(str(file), store) as cluster:
                found = _score_while(cluster, kill_and_start, pile, scorer, store)
            break
        except SettingsError:  # the scheduler or its worker is not there yet
            assert time.monotonic() < deadline
            assert len(processes) == 2
            time.sleep(0.5)
    assert len(processes) == 4
    assert_same(found, alone)


# --- workers that are not what they should be


@contextmanager
def _cluster_of(
    processes: list[subprocess.Popen[bytes]], folder: Path, boots: str, **variables: str
) -> Iterator[str]:
    """A scheduler with one worker that runs some lines before everything else."""
    (folder / "sitecustomize.py").write_text(boots)
    with distributed.LocalCluster(n_workers=0, dashboard_address=None, silence_logs=50) as scheduler:
        arguments = (scheduler.scheduler_address, "--nthreads", "1", "--no-nanny")
        processes.append(_start("worker", *arguments, first=str(folder), **variables))
        with distributed.Client(scheduler) as client:
            client.wait_for_workers(1, timeout=120)
        yield scheduler.scheduler_address


@pytest.mark.parametrize(
    ("boots", "told"),
    [
        (
            "import importlib.metadata as m; v = m.version\n"
            "m.version = lambda name: '1.0' if name == 'numpy' else v(name)",
            r"tcp://.*: has numpy 1\.0; this computer has numpy .*same versions",
        ),
        (
            "import sys; sys.modules['deshred'] = None",
            r"cannot run.*deshred.*pip install 'deshred\[cluster\]'",
        ),
    ],
    ids=["version", "missing"],
)
def test_a_worker_with_other_software_is_refused(
    boots: str, told: str, processes: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    with (
        _cluster_of(processes, tmp_path, boots) as address,
        pytest.raises(MismatchError, match=told),
        connect(address),
    ):
        pass


def test_a_worker_of_another_version_that_comes_later_is_refused(cluster: ClusterExecutor) -> None:
    assert cluster.client.submit(_run, 3, function=_square, versions=_own_versions()).result() == 9
    other = {**_own_versions(), "numpy": "1.0"}
    with pytest.raises(MismatchError, match=r"tcp://.*this computer has numpy 1\.0"):
        cluster.client.submit(_run, 3, function=_square, versions=other).result()


def _own_versions() -> dict[str, str]:
    from deshred.cluster import _list_versions

    return _list_versions()


def test_a_model_that_differs_on_a_worker_is_refused(tmp_path: Path) -> None:
    model = tmp_path / "model.onnx"
    model.write_bytes(find_model("towers-default").read_bytes())
    packed = pickle.dumps(FusionScorer(model))
    assert pickle.loads(packed).card == FusionScorer(model).card
    model.write_bytes(find_model("towers-isri").read_bytes())
    with pytest.raises(ModelError, match="differs from the model"):
        pickle.loads(packed)


def test_a_model_that_a_worker_does_not_have_is_told_with_a_remedy(tmp_path: Path) -> None:
    model = tmp_path / "own.onnx"
    model.write_bytes(find_model("towers-default").read_bytes())
    packed = pickle.dumps(FusionScorer(model))
    model.unlink()
    with pytest.raises(ModelError, match=r"own\.onnx: .*Copy the model"):
        pickle.loads(packed)


_HIDING = """
import errno, os, sys
hidden = os.environ["HIDDEN"]
def hook(event, arguments):
    if event == "open" and str(arguments[0]).startswith(hidden):
        raise FileNotFoundError(errno.ENOENT, "not on this machine", str(arguments[0]))
sys.addaudithook(hook)
"""


@pytest.fixture
def sheets(tiny_pile: ShredSet, tmp_path: Path) -> Path:
    """All shreds of the tiny pile on two sheets."""
    folder = tmp_path / "scans"
    folder.mkdir()
    for number in range(2):
        image = np.full((1800, 1300, 3), (255, 153, 51), np.uint8)
        for at, shred in enumerate(list(tiny_pile)[4 * number : 4 * number + 4]):
            height, width = shred.mask.shape
            view = image[60 : 60 + height, 80 + 300 * at : 80 + 300 * at + width]
            view[shred.mask] = shred.image[shred.mask]
        cv2.imwrite(str(folder / f"sheet{number}.png"), cv2.cvtColor(image, cv2.COLOR_RGB2BGR))
    return folder


def test_workers_need_no_common_disk_and_give_the_same_case(
    processes: list[subprocess.Popen[bytes]], sheets: Path, tmp_path: Path
) -> None:
    """The worker cannot open the scans nor the case: both reach the store alone, through fsspec."""
    hidden, where = tmp_path / "hidden", f"local://{tmp_path}/far"
    hidden.mkdir()
    sheets = sheets.rename(hidden / "scans")
    settings = tmp_path / "settings.toml"
    settings.write_text("[scoring]\nblock = 3\ndense_limit = 0\n")
    flags = ("--settings", settings, "-q", "--jobs", 1)
    expected = run("reconstruct", sheets, "-o", hidden / "alone", *flags)
    assert expected.exit_code == 0, expected.stderr
    with _cluster_of(processes, tmp_path, _HIDING, HIDDEN=str(hidden)) as address:
        seen = run("reconstruct", sheets, "-o", hidden / "near", *flags, "--cluster", address)
        assert seen.exit_code == SettingsError.exit_code
        assert "with --store" in seen.stderr
        config = tmp_path / "dask.yaml"
        config.write_text(f"scheduler-address: {address}\n")
        flags = (*flags, "--cluster", config, "--store", where)
        together = run("reconstruct", sheets, "-o", hidden / "together", *flags)
        assert together.exit_code == 0, together.stderr
    _assert_same_case(hidden / "together", hidden / "alone")
    kept = sum(file.stat().st_size for file in (tmp_path / "far").rglob("*.npz"))
    assert kept > sum(file.stat().st_size for file in sheets.iterdir())  # the scans are among it


def _assert_same_case(one: Path, other: Path) -> None:
    assert (one / COMPATIBILITY).read_bytes() == (other / COMPATIBILITY).read_bytes()
    pages = [{file.name: file.read_bytes() for file in (case / "pages").iterdir()} for case in (one, other)]
    assert pages[0] == pages[1]
    answers: list[dict[str, Any]] = [
        json.loads((case / "arrangement.json").read_text()) for case in (one, other)
    ]
    for answer in answers:
        del answer["settings"], answer["seconds"]
    assert answers[0] == answers[1]


def test_sheets_that_workers_see_are_not_copied_and_are_cut_by_them(
    cluster: ClusterExecutor, sheets: Path, store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    from deshred.imaging.intakes import cut_ahead, load_intake

    expected = load_intake([sheets])
    cut_ahead([sheets], store=store, executor=cluster)
    scans = sum(file.stat().st_size for file in sheets.iterdir())
    assert 0 < sum(file.stat().st_size for file in store.folder.path.rglob("*.npz")) < scans
    monkeypatch.setattr("deshred.imaging.sheets.keeping.segment", None)  # must not be needed
    assert load_intake([sheets], store=store).shreds.fingerprint == expected.shreds.fingerprint


# --- addresses and stores


@pytest.mark.parametrize("where", ["local:0", "local:many"])
def test_a_number_of_workers_that_is_none_is_refused(where: str) -> None:
    with pytest.raises(SettingsError, match="number of workers"), connect(where):
        pass


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("none.json", None, "there is no such file"),
        ("bad.json", "{", "not JSON"),
        ("empty.json", "[]", "holds no address"),
        ("none.yaml", None, "there is no such file"),
        ("bad.yaml", "a: [", "not YAML"),
        ("list.yaml", "- a", "not a Dask configuration"),
        ("other.yml", "distributed: {}", "does not name scheduler-address"),
        ("program.yaml", "!!python/object/apply:os.getpid []", "not YAML"),
        ("host", None, r"not the address of a cluster.*local:4"),
    ],
)
def test_what_names_no_scheduler_is_refused_with_a_remedy(
    name: str, content: str | None, told: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(SettingsError, match=told), connect(str(tmp_path / name)):
        pass


def test_a_scheduler_that_does_not_answer_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = distributed.Client
    monkeypatch.setattr(distributed, "Client", lambda *a, **k: plain(*a, **{**k, "timeout": "1s"}))
    with pytest.raises(SettingsError, match="no Dask scheduler answers"), connect("tcp://127.0.0.1:9"):
        pass


def test_dask_settings_of_a_file_hold_while_the_cluster_is_used(
    cluster: ClusterExecutor, tmp_path: Path
) -> None:
    file = tmp_path / "dask.yaml"
    address = cluster.client.scheduler.address
    file.write_text(f"scheduler-address: {address}\ndistributed: {{comm: {{compression: lz4}}}}\n")
    with connect(str(file)) as other:
        assert other.map(_square, [3]) == [9]
        assert dask.config.get("distributed.comm.compression") == "lz4"
        assert dask.config.get("distributed.comm.timeouts.connect")  # the others are as they were
    assert dask.config.get("distributed.comm.compression") != "lz4"


def test_a_store_that_workers_do_not_reach_is_refused(cluster: ClusterExecutor) -> None:
    address = cluster.client.scheduler.address
    with (
        pytest.raises(SettingsError, match=r"tcp://.*does not find what is put into memory://.*--store"),
        connect(address, open_store("memory://only-here/case")),
    ):
        pass


def test_a_store_that_cannot_be_written_is_an_output_error(cluster: ClusterExecutor, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    address = cluster.client.scheduler.address
    with pytest.raises(OutputError), connect(address, open_store(str(tmp_path / "file"))):
        pass
