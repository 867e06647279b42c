"""The address of a Dask cluster in, an executor on it out: `deshred[cluster]`, see docs/cluster.md.

Dask schedules, moves work from slow workers to idle ones, gives what a lost worker had begun to another, and
shows its dashboard; nothing of that is done here. Only what a lost scheduler had begun is given to the next
one again: a scheduler forgets. What travels are importable functions, names and frozen values; arrays lie in
a store that all machines reach, and nothing is ever unpickled from there.
"""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import pickle
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from deshred.cases import SharedStore
from deshred.cases.store import make_key
from deshred.errors import DeshredError, MismatchError, MissingDependencyError, SettingsError
from deshred.executors import Executor, Item, Progress, Result
from deshred.textfiles import read_json, read_text_file
from deshred.versions import installed_versions

_AHEAD = 4  # tasks per thread of a worker that are begun and not done: some to work on, some to move
_RETRIES = 2  # of a task that fails: a store may not answer for a moment
_SCHEDULERS = 5  # that may be lost in a stage
_LOCAL = "local:"
_ANSWER = "20s"  # for a scheduler to answer at the start
_RETURN_SECONDS = 300  # for a scheduler, or for the last worker, to come back
_LOOK_SECONDS = 5  # between looks whether there are workers at all
_GO_ON = "Start it again, and run the same command: it continues from what the store holds."
_IGNORED = ("machine",)  # results do not depend on it
_TOKEN = make_key("token 1")

Versions = dict[str, str]


@dataclass(frozen=True, eq=False)
class _Begun:
    """A task that was given to the cluster."""

    item: Any
    future: Any  # distributed.Future


@dataclass(frozen=True)
class ClusterExecutor(Executor):
    """The workers of a Dask cluster."""

    client: Any  # distributed.Client
    shares_memory: ClassVar[bool] = False

    def stream(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Apply the function to every item; results as they come, in the order of the items.

        A slow worker keeps no other from going on: those that are done wait for it, not those to be done.
        """
        _refuse_local(function)
        task = partial(_run, function=function, versions=_list_versions())
        coming, room = iter(items), self._count_room()
        begun: deque[_Begun] = deque()
        lost = 0
        try:
            while True:
                open_tasks = sum(not one.future.done() for one in begun)
                begun.extend(self._begin(task, item) for item in islice(coming, max(room - open_tasks, 0)))
                if not begun:
                    return
                try:
                    if not begun[0].future.done():
                        self._wait([one.future for one in begun if not one.future.done()])
                        continue
                    result = begun[0].future.result()
                except _import_distributed().client.CancelledError:
                    lost += 1
                    self._begin_again(task, begun, lost)
                else:
                    begun.popleft()
                    yield result
        except _import_distributed().KilledWorker as error:
            raise SettingsError(
                f"{error.allowed_failures + 1} workers were lost one after the other with the same task. "
                "Most often they have too little memory: give them more, or fewer threads each, and run the "
                "same command: it continues."
            ) from None
        finally:
            self.client.cancel([one.future for one in begun])

    def sees(self, files: Sequence[Path]) -> bool:
        """Whether every worker can open these files, and finds in them what they hold here."""
        names = [str(file) for file in files]
        own = _hash_files(names)
        return all(found == own for found in self.client.run(_hash_files, names).values())

    def tell(self, stage: str) -> str:
        """The stage, and how many workers there are just now."""
        try:
            count = self.client.scheduler_info(n_workers=0)["n_workers"]
        except OSError:  # the scheduler is lost, which is said elsewhere
            return stage
        return f"{stage}: {count} worker{'s' * (count != 1)}"

    def _begin(self, task: Callable[[Any], Any], item: Any) -> _Begun:
        # not pure: else Dask would hash every argument to see whether it was computed before
        return _Begun(item, self.client.submit(task, item, pure=False, retries=_RETRIES))

    def _begin_again(self, task: Callable[[Any], Any], begun: deque[_Begun], lost: int) -> None:
        """Give what a lost scheduler had begun to the next one."""
        if lost > _SCHEDULERS:
            raise SettingsError(f"the scheduler was lost {lost} times. {_GO_ON}")
        wait_for_workers(self.client)
        again = [self._begin(task, one.item) for one in begun]
        begun.clear()
        begun.extend(again)

    def _wait(self, futures: list[Any]) -> None:
        """Wait until any task is done, so that the next can be begun."""
        deadline = time.monotonic() + _RETURN_SECONDS
        while True:
            try:
                _import_distributed().wait(futures, timeout=_LOOK_SECONDS, return_when="FIRST_COMPLETED")
                return
            except TimeoutError:
                if self.client.nthreads():
                    deadline = time.monotonic() + _RETURN_SECONDS
                elif time.monotonic() > deadline:
                    raise SettingsError(
                        f"all workers were lost, and none came back within {_RETURN_SECONDS} s. Start some: "
                        "dask worker ADDRESS; then run the same command: it continues."
                    ) from None

    def _count_room(self) -> int:
        threads: dict[str, int] = self.client.nthreads()
        return _AHEAD * max(1, sum(threads.values()))


@contextmanager
def connect(
    where: str, store: SharedStore | None = None, *, progress: Progress | None = None
) -> Iterator[ClusterExecutor]:
    """Workers of a cluster, who must reach the store.

    `where` is `local:4` for four processes on this machine, the address of a scheduler (`tcp://host:8786`),
    the file that it wrote (`scheduler.json`), or a Dask configuration that names it (`dask.yaml`).
    """
    distributed = _import_distributed()
    with _read_configuration(where), _start_local(where, distributed) as local:
        client = _open_client(distributed, local, where)
        try:
            check_workers(client)
            if store is not None:
                check_store(client, store)
            if progress is not None:
                _tell_workers(client, progress)
            yield ClusterExecutor(client)
        finally:
            client.close()


def check_workers(client: Any) -> None:
    """Refuse workers that would compute something else: every version must be that of this machine."""
    found = _ask_workers(client, _list_versions)
    if not found:
        raise SettingsError("the cluster has no workers. Start some: dask worker ADDRESS")
    for worker, versions in found.items():
        _compare_versions(worker, versions, _list_versions())


def check_store(client: Any, store: SharedStore) -> None:
    """Refuse workers that do not find what is put into the store."""
    token = np.frombuffer(uuid.uuid4().bytes, np.uint8)
    store.save(_TOKEN, {"token": token})
    for worker, found in _ask_workers(client, partial(_read_token, store=store)).items():
        if found != token.tobytes():
            raise SettingsError(
                f"{worker}: does not find what is put into {store.address}. Workers need a store that all "
                "reach: name a shared folder or a URL such as s3://bucket/folder with --store."
            )


def wait_for_workers(client: Any) -> None:
    """Wait until a scheduler that was lost is back with workers, which must be of our versions."""
    deadline = time.monotonic() + _RETURN_SECONDS
    while True:
        try:
            return check_workers(client)
        except (OSError, SettingsError):
            if time.monotonic() > deadline or client.status == "closed":
                raise SettingsError(
                    f"the scheduler was lost and did not come back within {_RETURN_SECONDS} s. {_GO_ON}"
                ) from None
            time.sleep(1)


# --- what runs on workers


def _run(item: Item, *, function: Callable[[Item], Result], versions: Versions) -> Result:
    """A task; the worker may have come after the others were checked."""
    if _list_versions() != versions:
        _compare_versions(_import_distributed().get_worker().address, _list_versions(), versions)
    return function(item)


@cache
def _list_versions() -> Versions:
    return {name: number for name, number in installed_versions().items() if name not in _IGNORED}


def _read_token(store: SharedStore) -> bytes:
    kept = store.load(_TOKEN) or {}
    return kept["token"].tobytes() if "token" in kept else b""


def _hash_files(names: Sequence[str]) -> list[str | None]:
    return [_hash_file(name) for name in names]


def _hash_file(name: str) -> str | None:
    try:
        with Path(name).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


# --- what runs here


def _ask_workers(client: Any, function: Callable[[], Any]) -> dict[str, Any]:
    try:
        answers: dict[str, Any] = client.run(function)
    except (DeshredError, OSError):
        raise
    except Exception as error:  # of whatever class: what a worker could not even read
        raise MismatchError(
            f"a worker cannot run what this computer has ({' '.join(str(error).split())[:200]}). Install the "
            "same deshred on every machine: pip install 'deshred[cluster]'"
        ) from None
    return answers


def _compare_versions(worker: str, versions: Versions, own: Versions) -> None:
    others = [name for name in own if versions.get(name) != own[name]]
    if others:
        there = ", ".join(f"{name} {versions.get(name, 'missing')}" for name in others)
        here = ", ".join(f"{name} {own[name]}" for name in others)
        raise MismatchError(
            f"{worker}: has {there}; this computer has {here}. Install the same versions everywhere."
        )


def _tell_workers(client: Any, progress: Progress) -> None:
    """Say how many workers there are, and where Dask shows what they do."""
    link = client.dashboard_link if importlib.util.find_spec("bokeh") else ""
    count = len(client.nthreads())
    progress(f"workers: dashboard at {link}" if link else "workers", count, count)


@contextmanager
def _start_local(where: str, distributed: Any) -> Iterator[Any]:
    """A cluster of this machine's own, or None where there is one."""
    if not where.startswith(_LOCAL):
        yield None
        return
    import dask.config

    # Dask makes glibc ask the system for every large array anew, which doubles the time of images
    variables = {**dask.config.get("distributed.nanny.pre-spawn-environ")}
    variables.pop("MALLOC_TRIM_THRESHOLD_", None)
    with (
        dask.config.set({"distributed.nanny.pre-spawn-environ": variables}),
        distributed.LocalCluster(
            n_workers=_parse_count(where),
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",  # nobody else is let in
            silence_logs=logging.CRITICAL,
        ) as started,
    ):
        yield started


def _read_configuration(where: str) -> AbstractContextManager[Any]:
    """Dask's own settings while the cluster is used, from a YAML file of them."""
    if not where.endswith((".yaml", ".yml")):
        return nullcontext()
    import dask.config
    import yaml

    try:
        content = yaml.safe_load(read_text_file(where, wrong=SettingsError))
    except (yaml.YAMLError, RecursionError) as error:
        raise SettingsError(f"{where}: this is not YAML ({' '.join(str(error).split())[:200]}).") from None
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        raise SettingsError(f"{where}: this is not a Dask configuration. It must name scheduler-address.")
    used: AbstractContextManager[Any] = dask.config.set(dask.config.merge(dask.config.config, content))
    return used


def _find_address(where: str) -> str:
    """The address of the scheduler that is meant."""
    if where.endswith(".json"):
        content = read_json(where, wrong=SettingsError)
        address = content.get("address") if isinstance(content, dict) else None
        missing = "it holds no address; `dask scheduler --scheduler-file` writes such files"
    elif where.endswith((".yaml", ".yml")):
        import dask.config

        address = dask.config.get("scheduler-address", None)
        missing = "it does not name scheduler-address, such as tcp://host:8786"
    else:
        address = where if "://" in where else None
        missing = "not the address of a cluster. Give local:4, tcp://host:8786, scheduler.json or dask.yaml"
    if not isinstance(address, str) or not address:
        raise SettingsError(f"{where}: {missing}.")
    return address


def _open_client(distributed: Any, local: Any, where: str) -> Any:
    there = local if local is not None else _find_address(where)
    try:
        distributed.Client(there, timeout=_ANSWER).close()
        # the time that a client waits at the start is also how long it waits for a scheduler that was lost
        return distributed.Client(there, timeout=_RETURN_SECONDS)
    except (OSError, ValueError, TypeError) as error:  # TLS without certificates is a TypeError
        raise SettingsError(
            f"{where}: no Dask scheduler answers ({' '.join(str(error).split())[:200]}). Start one with "
            "`dask scheduler`, and give its address as tcp://host:8786; local:2 needs none."
        ) from None


def _parse_count(where: str) -> int:
    count = where.removeprefix(_LOCAL)
    if not count.isdecimal() or not int(count):
        raise SettingsError(f"{where}: local: must be followed by the number of workers, such as local:4.")
    return int(count)


def _refuse_local(function: Callable[..., Any]) -> None:
    """A function that cannot be imported would be copied with all it refers to, and change the copy."""
    try:
        pickle.dumps(function)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(f"{function}: only functions that can be imported run on a cluster.") from error


def _import_distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise MissingDependencyError(
            "clusters need Dask, which is not installed. Try: pip install 'deshred[cluster]'"
        ) from None
    return distributed
