"""Artefacts by key: named arrays in, the same arrays out, in memory or in a folder.

A key is a hash of content and of everything that changes the result, so whatever lies under it is right or
damaged, and what is damaged is computed again. Losing a store costs time, never information.
"""

from __future__ import annotations

import hashlib
import io
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from deshred.arrayfiles import parse_npz
from deshred.cases.folders import Folder
from deshred.errors import InputError, OutputError

Arrays = Mapping[str, NDArray[Any]]

_LARGEST_RATIO = 2  # what we keep is not compressed: a few bytes that claim to be many are not ours


def make_key(*parts: str) -> str:
    """The key of what these parts determine."""
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode("utf-8", "backslashreplace")
        digest.update(f"{len(encoded)}:".encode())  # so that ("ab", "c") is not ("a", "bc")
        digest.update(encoded)
    return digest.hexdigest()


class Store(Protocol):
    """Where artefacts lie."""

    def load(self, key: str) -> Arrays | None:
        """What lies under a key; None when nothing does, or it is damaged."""

    def save(self, key: str, arrays: Arrays) -> None:
        """Keep arrays under a key."""


@runtime_checkable
class SharedStore(Store, Protocol):
    """A store that other processes reach as well; it travels to them as its address."""

    @property
    def address(self) -> str:
        """Where it is, for people."""


@dataclass
class MemoryStore:
    """Artefacts in memory, for as long as the process lasts."""

    kept: dict[str, Arrays] = field(default_factory=dict)

    def load(self, key: str) -> Arrays | None:
        return self.kept.get(key)

    def save(self, key: str, arrays: Arrays) -> None:
        self.kept[key] = dict(arrays)


@dataclass(frozen=True)
class ReadOnlyStore:
    """Another store that is looked at and left as it is: a case that is only read may lie on any disk."""

    store: Store

    def load(self, key: str) -> Arrays | None:
        return self.store.load(key)

    def save(self, key: str, arrays: Arrays) -> None:
        pass


@dataclass(frozen=True)
class LayeredStore:
    """Another store that is looked at and left as it is; what is new is kept in memory."""

    below: Store
    above: MemoryStore = field(default_factory=MemoryStore)

    def load(self, key: str) -> Arrays | None:
        found = self.above.load(key)
        return self.below.load(key) if found is None else found

    def save(self, key: str, arrays: Arrays) -> None:
        self.above.save(key, arrays)


@dataclass(frozen=True)
class FolderStore:
    """Artefacts as files of a folder, named by their keys."""

    folder: Folder
    below: str = "store"

    @property
    def address(self) -> str:
        return str(self.folder.path / self.below)

    def load(self, key: str) -> Arrays | None:
        try:
            return unpack_arrays(self.folder.read_bytes(name_artefact(key, self.below)))
        except (InputError, OutputError):
            return None

    def save(self, key: str, arrays: Arrays) -> None:
        # not synced: a torn file is noticed by its checksums and made again
        self.folder.write_bytes(name_artefact(key, self.below), pack_arrays(arrays), durable=False)


class PricedStore:
    """Another store that remembers what each artefact cost, and adds up the price of those it had.

    So a pile whose parts were computed for another pile can be timed: by what they took then.
    """

    def __init__(self, store: Store, clock: Callable[[], float] = time.process_time) -> None:
        self._store = store
        self._clock = clock
        self._since = clock()
        self._seen: set[str] = set()
        self.spared: float | None = 0.0  # seconds; None when something has no price

    def load(self, key: str) -> Arrays | None:
        found = self._store.load(key)
        if found is not None and key not in self._seen and self.spared is not None:
            price = self._store.load(_price_key(key))
            self.spared = None if price is None else self.spared + float(price["seconds"])
            self._seen.add(key)
        self._since = self._clock()
        return found

    def save(self, key: str, arrays: Arrays) -> None:
        """Its price is the time since the store was last asked for anything."""
        seconds = self._clock() - self._since
        self._store.save(key, arrays)
        self._store.save(_price_key(key), {"seconds": np.array(seconds)})
        self._seen.add(key)
        self._since = self._clock()


def _price_key(key: str) -> str:
    return make_key("price", key)


def name_artefact(key: str, below: str) -> str:
    """The file that an artefact is kept in."""
    return f"{below}/{key[:2]}/{key}.npz"


def pack_arrays(arrays: Arrays) -> bytes:
    """Named arrays as the bytes of an `.npz` file."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def unpack_arrays(content: bytes) -> Arrays | None:
    """The arrays again; None when that is not what `pack_arrays` made."""
    try:
        return parse_npz(content, None, "artefact", most_bytes=_LARGEST_RATIO * len(content))
    except InputError:
        return None
