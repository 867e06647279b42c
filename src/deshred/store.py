"""A run folder: everything a run writes, each file complete or not there; resume, and the audit log.

A marker file says that the folder is ours. A folder without it is never written to, a finished run only
with `force`, and even then files that deshred did not write stay. Also the `.npz` form of Compatibility, and
the TOML form of Constraints.
"""

from __future__ import annotations

import errno
import glob
import io
import json
import os
import tomllib
import weakref
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deshred.elements import Compatibility, Constraints, Margins
from deshred.errors import DeshredError, InputError, MismatchError, OutputError, SettingsError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

MARKER = "deshred-run.json"
ARRANGEMENT = "arrangement.json"
REPORT = "report.html"
COMPATIBILITY = "compatibility.npz"
LOG = "log.jsonl"
PAGES = "pages"
BLOCKS = "blocks"
FORMAT = 1

# all that reading a damaged `.npz` is known to raise
DAMAGED = (
    OSError,
    ValueError,
    KeyError,
    EOFError,
    TypeError,
    AttributeError,
    RuntimeError,
    MemoryError,
    zipfile.BadZipFile,
    zlib.error,
)

_TEMPORARY = ".tmp"
_NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NOT_ALLOWED = {errno.EACCES, errno.EPERM, errno.EROFS}


@dataclass(frozen=True)
class RunFolder:
    """The folder of one run: `open` looks whether it may be used, `begin` makes it, `finish` seals it."""

    path: Path
    command: str
    resumes: bool  # an interrupted run of the same command
    _lock: _Lock = field(default_factory=lambda: _Lock(), repr=False, compare=False)

    @classmethod
    def open(cls, path: str | Path, *, command: str = "reconstruct", force: bool = False) -> RunFolder:
        """A new folder or one of ours: an interrupted run goes on, a finished one needs `force`."""
        path = Path(path)
        found = _read_marker(path)
        if found.state == "foreign":
            raise OutputError(
                f"{path}: the folder holds files that deshred did not write; nothing was touched. "
                "Choose a new folder with -o."
            )
        resumes = found.state == "running" and found.command == command
        if found.state != "new" and not resumes and not force:
            raise OutputError(
                f"{path}: the folder already holds the results of deshred {found.command}; nothing was "
                "touched. Choose a new folder with -o, or replace them with --force."
            )
        return cls(path, command, resumes)

    def keep_apart(self, inputs: Iterable[str | Path]) -> None:
        """Refuse inputs that lie in this very folder: making room for results would delete them."""
        own = self.path.resolve()
        for path in map(Path, inputs):
            if path.resolve() == own or own in path.resolve().parents:
                raise OutputError(
                    f"{path}: lies in the folder to be written, {self.path}; nothing was touched. "
                    "Choose another folder with -o."
                )

    def begin(self) -> None:
        """Make the folder and mark it as ours; what earlier runs showed goes, their scores stay."""
        self._mark("running")
        with writing(self.path / LOG):
            self._lock.take(self.path / LOG)
        self._remove_results()
        self.log("resumed" if self.resumes else "started", command=self.command)

    def _mark(self, state: str) -> None:
        marker = {"format": FORMAT, "command": self.command, "state": state}
        write_atomically(self.path / MARKER, to_json(marker).encode())

    def _remove_results(self) -> None:
        """Delete what the audit log says was written, so that nothing is taken for this run's."""
        own = self.path.resolve()
        with writing(self.path):
            for name in self._written() - {COMPATIBILITY}:
                file = (self.path / name).resolve()
                if file.is_file() and file.is_relative_to(
                    own
                ):  # a folder that was sent here may say anything
                    file.unlink()
                _remove_leftovers(file)
            _remove_leftovers(self.path / MARKER)

    def _written(self) -> set[str]:
        """The names in the audit log; a line that was cut off by a kill is passed over."""
        names: set[str] = set()
        try:
            lines = (self.path / LOG).read_text(encoding="utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            return names
        for line in lines:
            try:
                names.add(str(json.loads(line)["write"]))
            except (ValueError, KeyError, TypeError):
                continue
        return names - {""}

    def write_bytes(self, name: str, content: bytes) -> Path:
        """Write a file of the run completely or not at all."""
        path = self.path / name
        self.log("write", write=name)
        write_atomically(path, content)
        return path

    def write_text(self, name: str, text: str) -> Path:
        """Write a UTF-8 file of the run completely or not at all; bytes that are no text stay escapes."""
        return self.write_bytes(name, text.encode("utf-8", "backslashreplace"))

    def write_json(self, name: str, content: Mapping[str, Any]) -> Path:
        """Write a JSON file of the run completely or not at all."""
        return self.write_text(name, to_json(content))

    def write_page(self, number: int, png: bytes) -> Path:
        """Write the image of a page; pages are numbered from 1."""
        return self.write_bytes(page_name(number), png)

    def save_compatibility(self, compatibility: Compatibility, key: str) -> Path:
        """Keep the scores for a run that resumes; `key` names everything they depend on."""
        return self.write_bytes(COMPATIBILITY, _pack(compatibility, key))

    def load_compatibility(self, key: str) -> Compatibility | None:
        """The scores kept under this key, or None: there are none, they are others, or they are damaged."""
        try:
            kept = _unpack((self.path / COMPATIBILITY).read_bytes(), self.path / COMPATIBILITY)
        except (OSError, InputError):
            return None
        return kept.compatibility if kept.key == key else None

    def save_block(self, name: str, key: str, **arrays: NDArray[Any]) -> None:
        """Keep a part of the scores until all of them are there."""
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, key=np.array(key), **arrays)
        write_atomically(self.path / BLOCKS / f"{name}.npz", buffer.getvalue())

    def load_block(self, name: str, key: str) -> dict[str, NDArray[Any]] | None:
        """The part kept under this name, or None: there is none, it is another's, or it is damaged."""
        try:
            with np.load(self.path / BLOCKS / f"{name}.npz", allow_pickle=False) as arrays:
                return dict(arrays) if str(arrays["key"]) == key else None
        except DAMAGED:
            return None

    def remove_blocks(self) -> None:
        """Delete the parts once the whole is saved."""
        blocks = self.path / BLOCKS
        with writing(blocks):
            if blocks.is_dir():
                for block in [*blocks.glob("*.npz"), *blocks.glob(f".*.npz.*{_TEMPORARY}")]:
                    block.unlink()
                blocks.rmdir()

    def log(self, event: str, **fields: Any) -> None:
        """Append one line to the audit log."""
        entry = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event, **fields}
        with writing(self.path / LOG), (self.path / LOG).open("a", encoding="utf-8") as log:
            log.write(json.dumps(entry, ensure_ascii=False, default=str) + "\n")

    def finish(self) -> None:
        """Mark the run as finished."""
        self.log("finished")
        self._mark("finished")
        self.leave()

    def leave(self) -> None:
        """Let others have the folder, finished or not; the end of the process does it too."""
        self._lock.give_back()


class _Lock:
    """What keeps a second process out of a run folder while the first is at work; for Linux and macOS."""

    def __init__(self) -> None:
        self._close: weakref.finalize[Any, Any] | None = None

    def take(self, path: Path) -> None:
        """Lock the file, which is made if need be; one that another has is an OutputError."""
        if fcntl is None or self._close is not None:
            return
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        self._close = weakref.finalize(self, os.close, descriptor)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.give_back()
            raise OutputError(
                f"{path.parent}: another deshred is writing into the folder; nothing was touched. "
                "Wait for it, or choose another folder with -o."
            ) from None
        except OSError:  # a file system without locks
            pass

    def give_back(self) -> None:
        """Unlock it."""
        if self._close is not None:
            self._close()
            self._close = None


def _remove_leftovers(file: Path) -> None:
    """Delete what runs that were killed have left of writing this file."""
    for leftover in file.parent.glob(f".{glob.escape(file.name)}.*{_TEMPORARY}"):
        if leftover.name.split(".")[-2].isdecimal():
            leftover.unlink()


def page_name(number: int) -> str:
    """Where the image of a page lies in the run folder; pages are numbered from 1."""
    return f"{PAGES}/page-{number:03d}.png"


def read_arrangement(path: str | Path) -> dict[str, Any]:
    """The `arrangement.json` of a finished run folder."""
    file = Path(path) / ARRANGEMENT
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except OSError:
        raise InputError(
            f"{path}: this is not the folder of a finished run. Give the folder that reconstruct wrote."
        ) from None
    except ValueError as error:
        raise InputError(f"{file}: the file is damaged ({error}). Run reconstruct --force again.") from None
    if not isinstance(content, dict):
        raise InputError(f"{file}: the file is damaged. Run reconstruct --force again.")
    return content


def to_json(content: Mapping[str, Any]) -> str:
    """Readable JSON; numbers that JSON does not know become null."""
    return json.dumps(_plain(content), indent=2, ensure_ascii=False, allow_nan=False, default=str) + "\n"


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file beside its final name, then rename it: readers see the old file or all of the new one."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}{_TEMPORARY}")
        try:
            with temporary.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what the system says about a failed write into an OutputError with a remedy."""
    try:
        yield
    except OSError as error:
        raise describe_write_failure(error, path) from error


def describe_write_failure(error: OSError, path: Path) -> OutputError:
    """What could not be written, why, and what to try."""
    if error.errno in _NO_SPACE:
        remedy = "Free some space or choose another place with -o; a run goes on where it stopped."
    elif error.errno in _NOT_ALLOWED:
        remedy = "Choose a place you may write to with -o, or change its permissions."
    elif error.errno in (errno.ENOTDIR, errno.EEXIST):
        remedy = "A file of that name is in the way; choose another name with -o."
    else:
        remedy = "Choose another place with -o."
    return OutputError(f"{path}: cannot be written ({error.strerror or error}). {remedy}")


def read_toml(path: Path, wrong: type[DeshredError]) -> dict[str, Any]:
    """What a TOML file holds; one that cannot be read is the given kind of error."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise wrong(f"{path}: cannot be read ({error.strerror}). Check the name.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise wrong(f"{path}: this is not a TOML file ({error}).") from None


def load_constraints(path: str | Path) -> Constraints:
    """Read what is known for sure from a TOML file: lists of joins, of shreds, or of groups of shreds."""
    content = read_toml(Path(path), InputError)
    known = [entry.name for entry in fields(Constraints)]
    for key, value in content.items():
        if key not in known:
            raise InputError(f"{path}: there is no constraint {key!r}. Known are: {', '.join(known)}.")
        if not _holds_ids(value, nested=key not in ("first", "last")):
            form = '["a", "b"]' if key in ("first", "last") else '[["a", "b"], ["c", "d"]]'
            raise InputError(f"{path}: {key} must look like {form}, got {value!r}.")
    try:
        return Constraints(**content)
    except SettingsError as error:
        raise InputError(f"{path}: {error}") from None


def _holds_ids(value: Any, *, nested: bool) -> bool:
    if not isinstance(value, list):
        return False
    return all(_holds_ids(item, nested=False) if nested else isinstance(item, str) for item in value)


def save_compatibility(compatibility: Compatibility, path: str | Path) -> None:
    """Write scores and offsets as `.npz`, the form `deshred arrange` reads."""
    write_atomically(Path(path), _pack(compatibility, ""))


def load_compatibility(path: str | Path) -> Compatibility:
    """Read scores and offsets from `.npz`."""
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}). Check the name.") from None
    return _unpack(content, path).compatibility


@dataclass(frozen=True)
class _Kept:
    compatibility: Compatibility
    key: str


def _pack(compatibility: Compatibility, key: str) -> bytes:
    arrays: dict[str, NDArray[Any]] = {
        "ids": np.array(compatibility.ids, dtype=np.str_),
        "scores": compatibility.scores,
        "offsets": compatibility.offsets,
        "fingerprint": np.array(compatibility.fingerprint),
        "key": np.array(key),
    }
    if compatibility.row_starts is not None and compatibility.columns is not None:
        arrays |= {"row_starts": compatibility.row_starts, "columns": compatibility.columns}
    if compatibility.margins is not None:
        margins = compatibility.margins
        arrays |= {"starts": margins.starts, "ends": margins.ends, "widths_mm": margins.widths_mm}
        if margins.heights_mm is not None:
            arrays["heights_mm"] = margins.heights_mm
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def _unpack(content: bytes, path: Path) -> _Kept:
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            held = {name: arrays[name] for name in arrays.files}
        margins = None
        if "starts" in held:
            starts, ends, widths = (np.asarray(held[k], np.float32) for k in ("starts", "ends", "widths_mm"))
            heights = np.asarray(held["heights_mm"], np.float32) if "heights_mm" in held else None
            margins = Margins(starts, ends, widths, heights)
        scores = np.asarray(held["scores"], np.float32)
        ids = held.get("ids", np.arange(len(scores)))
        compatibility = Compatibility(
            ids=tuple(map(str, _flat(ids).tolist())),
            scores=scores,
            offsets=_whole(held.get("offsets", np.zeros(scores.shape, np.int16)), np.int16),
            fingerprint=str(held.get("fingerprint", "")),
            row_starts=_whole(_flat(held["row_starts"]), np.int64) if "columns" in held else None,
            columns=_whole(_flat(held["columns"]), np.int32) if "columns" in held else None,
            margins=margins,
        )
    except (MismatchError, InputError) as error:
        raise InputError(f"{path}: {error}") from None
    except DAMAGED:
        raise InputError(
            f"{path}: this is no complete file of scores. Give the compatibility.npz of a run."
        ) from None
    return _Kept(compatibility, str(held.get("key", "")))


def _flat(array: NDArray[Any]) -> NDArray[Any]:
    if array.ndim != 1:
        raise ValueError("a list is needed")
    return array


def _whole(array: NDArray[Any], kind: type[np.signedinteger[Any]]) -> NDArray[Any]:
    """Whole numbers, all of which fit into the kind."""
    if array.dtype.kind not in "iu" or not np.array_equal(array.astype(kind), array):
        raise ValueError("whole numbers are needed")
    return array.astype(kind)


@dataclass(frozen=True)
class _Found:
    state: str  # new, running, finished, or foreign
    command: str = ""


def _read_marker(path: Path) -> _Found:
    with writing(path):
        if not path.exists():
            return _Found("new")
        if not path.is_dir():
            raise OutputError(f"{path}: a file of that name is in the way. Choose another name with -o.")
        if not any(path.iterdir()):
            return _Found("new")
    try:
        marker = json.loads((path / MARKER).read_text(encoding="utf-8"))
        return _Found("running" if marker["state"] == "running" else "finished", str(marker["command"]))
    except (OSError, ValueError, KeyError, TypeError):
        return _Found("foreign")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(inner) for inner in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
