"""The address of a Dask cluster in, an executor on it out: `deshred[cluster]`, see docs/cluster.md.

Dask schedules, retries what a lost worker had begun, and shows its dashboard; nothing of that is done here.
Only what a lost scheduler had begun is given to the next one again: a scheduler forgets.
What travels are importable functions, arrays and frozen values. Nothing is ever unpickled from a case folder.
"""

from __future__ import annotations

import logging
import pickle
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar

from deshred.errors import MismatchError, SettingsError
from deshred.executors import Executor, Item, Result
from deshred.versions import installed_versions

_AHEAD = 4  # tasks per worker that are begun before they are asked for
_RETRIES = 5  # workers that may be lost under one task
_LOCAL = "local:"
_ANSWER = "20s"  # for a scheduler to answer at the start
_RETURN_SECONDS = 300  # for one that was lost to come back
_GO_ON = "Start it again, and run the same command: it continues from what the case folder holds."
_IGNORED = ("machine",)  # results do not depend on it


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

    def stream(self, function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
        """Apply the function to every item; results as they come, in the order of the items."""
        _refuse_local(function)
        coming = iter(items)
        ahead = deque(self._begin(function, item) for item in islice(coming, self._count_ahead()))
        try:
            while ahead:
                result = self._finish(function, ahead)
                ahead.extend(self._begin(function, item) for item in islice(coming, 1))
                yield result
        finally:
            self.client.cancel([begun.future for begun in ahead])

    def _finish(self, function: Callable[[Item], Result], ahead: deque[_Begun]) -> Result:
        """The next result; what a lost scheduler had begun is begun again when there is another."""
        distributed = _import_distributed()
        for _ in range(_RETRIES):
            try:
                result: Result = ahead[0].future.result()
                ahead.popleft()
                return result
            except distributed.client.FutureCancelledError:
                wait_for_workers(self.client)
                begun = list(ahead)
                ahead.clear()
                ahead.extend(self._begin(function, one.item) for one in begun)
        raise SettingsError(f"the scheduler was lost {_RETRIES} times. {_GO_ON}")

    def _begin(self, function: Callable[[Item], Result], item: Item) -> _Begun:
        return _Begun(item, self._submit(function, item))

    def _submit(self, function: Callable[[Item], Result], item: Item) -> Any:
        # not pure: else Dask would hash every array to see whether it was computed before
        return self.client.submit(function, item, pure=False, retries=_RETRIES)

    def _count_ahead(self) -> int:
        threads: dict[str, int] = self.client.nthreads()
        return _AHEAD * max(1, sum(threads.values()))


@contextmanager
def connect(where: str) -> Iterator[ClusterExecutor]:
    """Workers of a cluster: `tcp://host:8786`, or `local:4` for four processes on this machine."""
    distributed = _import_distributed()
    if where.startswith(_LOCAL):
        opened = distributed.LocalCluster(
            n_workers=_parse_count(where),
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",  # nobody else is let in
            silence_logs=logging.ERROR,
        )
    else:
        opened = None
    try:
        client = _open_client(distributed, opened, where)
        try:
            check_workers(client)
            with warnings.catch_warnings():
                # pixels are what is sent, and a graph of them is as large as they are
                warnings.filterwarnings("ignore", message="Sending large graph")
                yield ClusterExecutor(client)
        finally:
            client.close()
    finally:
        if opened is not None:
            opened.close()


def check_workers(client: Any) -> None:
    """Refuse workers that would compute something else: every version must be that of this machine."""
    own = _list_versions()
    found = client.run(_list_versions)
    if not found:
        raise SettingsError("the cluster has no workers. Start some: dask worker ADDRESS")
    for worker, versions in found.items():
        others = [f"{name} {versions.get(name)}" for name in own if versions.get(name) != own[name]]
        if others:
            here = ", ".join(f"{name.split()[0]} {own[name.split()[0]]}" for name in others)
            raise MismatchError(
                f"{worker}: has {', '.join(others)}; this computer has {here}. "
                "Install the same versions everywhere."
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


def _list_versions() -> dict[str, str]:
    return {name: number for name, number in installed_versions().items() if name not in _IGNORED}


def _open_client(distributed: Any, cluster: Any, where: str) -> Any:
    try:
        distributed.Client(cluster or where, timeout=_ANSWER).close()
        # the time that a client waits at the start is also how long it waits for a scheduler that was lost
        return distributed.Client(cluster or where, timeout=_RETURN_SECONDS)
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"{where}: no Dask scheduler answers ({error}). Start one with `dask scheduler`, and give its "
            "address as tcp://host:8786; local:2 needs none."
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
        raise SettingsError(
            "clusters need Dask, which is not installed. Try: pip install 'deshred[cluster]'"
        ) from None
    return distributed
