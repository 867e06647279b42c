"""The address of a store in, the store out: a folder, or any place that fsspec reaches, such as `s3://`.

What lies there may come from a stranger: it is read as arrays and never as programs. Passwords belong into
the environment, where the package of the protocol looks for them: an address is recorded with the results.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from deshred.budgets import Budget
from deshred.cases.folders import Folder
from deshred.cases.store import Arrays, FolderStore, SharedStore, name_artefact, pack_arrays, unpack_arrays
from deshred.errors import MissingDependencyError, OutputError, SettingsError

_SEPARATOR = "://"
_FILE = f"file{_SEPARATOR}"
_PROTOCOL = re.compile(r"[a-z][a-z0-9+.-]*")
_LONGEST_REASON = 200


@dataclass(frozen=True)
class RemoteStore:
    """Artefacts as objects below an address, named by their keys."""

    address: str

    def load(self, key: str) -> Arrays | None:
        """What lies under a key; that a store cannot be reached is an error, and not the same as nothing."""
        place = self._find(key)
        try:
            size = place.files.size(place.path)
            if size is None or size > Budget().memory_bytes:
                return None
            return unpack_arrays(place.files.cat_file(place.path))
        except FileNotFoundError:
            return None
        except Exception as error:  # every protocol has its own
            raise self._explain("cannot be read", error) from error

    def save(self, key: str, arrays: Arrays) -> None:
        place = self._find(key)
        content = pack_arrays(arrays)
        try:
            try:
                place.files.pipe_file(place.path, content)
            except FileNotFoundError:  # buckets have no folders; elsewhere they are made when they are missed
                place.files.makedirs(place.path.rpartition("/")[0], exist_ok=True)
                place.files.pipe_file(place.path, content)
        except Exception as error:
            raise self._explain("cannot be written", error) from error

    def _find(self, key: str) -> _Place:
        root = _open(self.address)
        return _Place(root.files, name_artefact(key, root.path.rstrip("/")))

    def _explain(self, what: str, error: Exception) -> OutputError:
        return OutputError(
            f"{self.address}: the store {what} ({_shorten(error)}). Check the address, the network, your "
            "rights, and that there is room; then run the same command: it continues."
        )


@dataclass(frozen=True)
class _Place:
    files: Any  # fsspec.AbstractFileSystem
    path: str


def open_store(where: str) -> SharedStore:
    """The store at an address: a folder, or a URL that fsspec knows."""
    if _SEPARATOR not in where or where.startswith(_FILE):
        return FolderStore(Folder(Path(where.removeprefix(_FILE)).absolute()))
    if not _PROTOCOL.fullmatch(where.partition(_SEPARATOR)[0]):
        raise _refuse(where, "it does not begin with a protocol")
    try:
        password = urlsplit(where).password
    except ValueError as error:
        raise _refuse(where, _shorten(error)) from None
    if password is not None:
        raise SettingsError(
            "the address of a store holds a password, and addresses are recorded. Put it where the package "
            "of the protocol looks for it, such as AWS_SECRET_ACCESS_KEY, and give the address without it."
        )
    _open(where)
    return RemoteStore(where)


@cache
def _open(address: str) -> _Place:
    try:
        import fsspec
    except ImportError:
        raise MissingDependencyError(
            f"{address}: such stores need fsspec, which is not installed. Try: pip install 'deshred[cluster]'"
        ) from None
    try:
        return _Place(*fsspec.core.url_to_fs(address, use_listings_cache=False))  # others write there
    except ImportError as error:
        raise MissingDependencyError(
            f"{address}: {str(error).rstrip('.')}. Try, on every machine: pip install "
            f"{_name_package(address)}"
        ) from None
    except OSError as error:
        raise OutputError(
            f"{address}: the store cannot be reached ({_shorten(error)}). Check the address and the network."
        ) from None
    except Exception as error:  # a protocol that nobody knows, or an address that it cannot use
        raise _refuse(address, _shorten(error)) from None


def _refuse(address: str, reason: str) -> SettingsError:
    return SettingsError(
        f"{address}: not the address of a store ({reason}). Give a folder, or a URL such as "
        "s3://bucket/folder."
    )


def _shorten(error: Exception) -> str:
    return (" ".join(str(error).split()) or type(error).__name__)[:_LONGEST_REASON]


def _name_package(address: str) -> str:
    """What to install for a protocol: fsspec knows the module of each, and says of its own what they need."""
    from fsspec.registry import known_implementations

    protocol = address.partition(_SEPARATOR)[0]
    module = str(known_implementations.get(protocol, {}).get("class", "")).partition(".")[0]
    return f"'fsspec[{protocol}]'" if module in ("fsspec", "") else module
