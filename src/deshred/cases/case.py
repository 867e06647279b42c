"""A case: the folder's layout, its one writer, and results that change all at once or not at all.

    case.json         that the folder is ours, its format, and the results it holds with their SHA-256
    inputs.json       the scans that were read: names and SHA-256, never copies
    journal.jsonl     who did what when, each line chained to the one before
    store/            artefacts by key; deleting it costs time, never information
    pages/, report.html, arrangement.json, compatibility.npz, ...     what people look at

New results are written to `.new/` and take the place of the old ones when they are complete. A writer that is
killed before that leaves the old results as they were, and one that is killed in the middle of it is
completed by whoever opens the folder next.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal

from deshred.cases.folders import Folder
from deshred.cases.journal import Journal
from deshred.cases.locks import lock
from deshred.cases.store import FolderStore
from deshred.cases.writing import is_leftover, sync_file, sync_folder, to_json, writing
from deshred.errors import InputError, OutputError
from deshred.textfiles import parse_json

CASE = "case.json"
INPUTS = "inputs.json"
JOURNAL = "journal.jsonl"
STORE = "store"
ARRANGEMENT = "arrangement.json"
REPORT = "report.html"
COMPATIBILITY = "compatibility.npz"
PAGES = "pages"
REVIEWS = "review"  # what people took away from a review stays theirs: no later run removes it
FORMAT = 2
RUN_AGAIN = "run the same command again"
_NEW = ".new"
_COMPLETE = f"{_NEW}/complete.json"
_MOST_JSON = 256 << 20  # bytes: a case of 100,000 shreds
_NOT_OURS_BUT_HARMLESS = {".DS_Store", "Thumbs.db", "desktop.ini"}

State = Literal["new", "begun", "finished"]


@dataclass(frozen=True)
class _Marker:
    """What `case.json` says."""

    state: State
    command: str = ""
    results: Mapping[str, str] = field(default_factory=dict)  # name: SHA-256


@dataclass(frozen=True, eq=False)
class Case:
    """A case folder as one command sees it; `working_on` gives one to write, `open_case` one to read."""

    folder: Folder
    command: str
    state: State
    results: Mapping[str, str]  # what the folder held when it was opened: name, SHA-256
    _staged: dict[str, str] | None = field(default=None, repr=False)

    @property
    def path(self) -> Path:
        return self.folder.path

    @property
    def journal(self) -> Journal:
        return Journal(self.folder, JOURNAL)

    @property
    def store(self) -> FolderStore:
        return FolderStore(self.folder, STORE)

    def read_bytes(self, name: str) -> bytes:
        """The content of a file of the case."""
        return self.folder.read_bytes(name)

    def read_json(self, name: str) -> dict[str, Any]:
        """The content of a JSON file of the case."""
        path = self.path / name
        try:
            content = parse_json(self.folder.read_bytes(name, most_bytes=_MOST_JSON), path)
        except InputError as error:
            raise InputError(f"{error} {_AGAIN}") from None
        if not isinstance(content, dict):
            raise InputError(f"{path}: the file is damaged. {_AGAIN}")
        return content

    def write_bytes(self, name: str, content: bytes, *, sha256: str = "") -> Path:
        """Write a file of the case: with all other results of this command, or at once in an open case.

        The SHA-256 need not be found again where it is known.
        """
        return self._write(name, content, sha256 or hashlib.sha256(content).hexdigest())

    def write_stream(self, name: str, stream: BinaryIO) -> Path:
        """The same for a file that may not fit into memory."""
        stream.seek(0)
        digest = hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type] # any file will do
        return self._write(name, stream, digest)

    def _write(self, name: str, content: bytes | BinaryIO, digest: str) -> Path:
        if self._staged is None:
            with _locked(self.folder):
                place = self.folder.write_bytes(name, content)
                self.journal.append("wrote", files={name: digest})
                marker = _read_marker(self.folder)
                _write_marker(self.folder, marker.command, {**marker.results, name: digest})
            return place
        self.folder.locate(name)  # a link in the way is noticed now, not when all is done
        self.folder.write_bytes(f"{_NEW}/{name}", content, durable=False)
        self._staged[name] = digest
        return self.path / name

    def write_text(self, name: str, text: str) -> Path:
        """Write a UTF-8 file of the case; bytes that are no text stay escapes."""
        return self.write_bytes(name, text.encode("utf-8", "backslashreplace"))

    def write_json(self, name: str, content: Mapping[str, Any]) -> Path:
        """Write a JSON file of the case."""
        return self.write_text(name, to_json(content))

    def relate(self, path: Path) -> str:
        """A path as the case records it: relative to its folder, or absolute where that cannot be."""
        try:
            return Path(os.path.relpath(path.absolute(), self.path.absolute())).as_posix()
        except ValueError:  # another drive
            return str(path.absolute())

    def resolve(self, recorded: str) -> Path:
        """The path behind one that the case has recorded."""
        return Path(os.path.normpath(self.path.absolute() / recorded))


def page_name(number: int) -> str:
    """Where the image of a page lies in the case; pages are numbered from 1."""
    return f"{PAGES}/page-{number:03d}.png"


def open_case(path: str | Path) -> Case:
    """A finished case, to read or to add to."""
    if Path(path).exists() and not Path(path).is_dir():
        raise InputError(f"{path}: is no folder. Give the folder that reconstruct wrote.")
    case = find_case(path, command="", force=True)
    if case.state != "finished":
        raise InputError(
            f"{path}: this is not the folder of a finished run. Give the folder that reconstruct wrote."
        )
    return case


def find_case(path: str | Path, *, command: str, force: bool = False, add: bool = False) -> Case:
    """Look whether a folder may be written by a command, without touching anything.

    A new folder and an interrupted run of the same command may; a finished case only with `force` or `add`.
    """
    folder = Folder(Path(path))
    marker = _read_marker(folder)
    is_same = marker.command == command
    if marker.state == "finished" and not force and not (add and is_same):
        adding = ", add to it with --add" if is_same and command == "reconstruct" else ""
        raise OutputError(
            f"{path}: the folder already holds the results of deshred {marker.command}; nothing was "
            f"touched. Choose a new folder with -o{adding}, or replace them with --force."
        )
    if marker.state == "begun" and not is_same and not force:
        raise OutputError(
            f"{path}: deshred {marker.command} has begun to work in the folder; nothing was touched. "
            "Choose a new folder with -o, or take it over with --force."
        )
    return Case(folder, command or marker.command, marker.state, marker.results)


@contextmanager
def working_on(
    path: str | Path,
    *,
    command: str,
    force: bool = False,
    add: bool = False,
    inputs: Iterable[str | Path] = (),
) -> Iterator[Case]:
    """Be the one writer of a case; when all went well, what was written takes the place of the old results.

    The folder is made at once, so that a place that cannot be written to is noticed before the work. It is
    taken away again if the command fails before there is anything to keep.
    """
    _keep_apart(Path(path), inputs)
    found = find_case(path, command=command, force=force, add=add)
    with writing(found.path):
        found.path.mkdir(parents=True, exist_ok=True)
    with _locked(found.folder):
        # a second process may have finished since the first look
        found = find_case(path, command=command, force=force, add=add)
        case = Case(found.folder, command, found.state, found.results, {})
        try:
            _begin(case)
            yield case
            _publish(case)
        except BaseException as error:
            if case.folder.exists(_COMPLETE):  # the next who opens the folder carries out what is planned
                raise
            _discard(case.folder)
            if case.state == "new" and not (case.path / STORE).exists():
                _remove_all(case.folder)
                error.add_note(RUN_AGAIN)  # there is nothing to go on from
            raise


def _begin(case: Case) -> None:
    if case.state == "new":
        _write_marker(case.folder, case.command, None)
    else:
        _complete(case.folder)
        case.journal.mend()
    _discard(case.folder)
    case.journal.append("began" if case.state == "new" else "went on", command=case.command)


def _publish(case: Case) -> None:
    """Put the new results in the place of the old ones; from `complete.json` on, nothing can stop it."""
    staged = case._staged or {}
    with writing(case.path):
        for name in staged:
            sync_file(case.folder.locate(f"{_NEW}/{name}"))
    old = _read_marker(case.folder).results
    kept = {name: digest for name, digest in old.items() if name.startswith(f"{REVIEWS}/")}
    plan = {"command": case.command, "results": {**kept, **staged}, "old": dict(old)}
    case.folder.write_bytes(_COMPLETE, to_json(plan).encode())
    case.journal.append("finished", command=case.command, files=staged)
    _complete(case.folder)


def _complete(folder: Folder) -> None:
    """Carry out a plan that was made; a writer that was killed may have carried out some of it."""
    if not folder.exists(_COMPLETE):
        return
    try:
        plan = parse_json(folder.read_bytes(_COMPLETE, most_bytes=_MOST_JSON), _COMPLETE)
        command = str(plan["command"])
        results, old = _read_digests(plan["results"]), _read_digests(plan["old"])
    except (InputError, KeyError, TypeError, AttributeError):
        return  # not ours: such a file is written whole
    for name in results:
        staged, place = folder.locate(f"{_NEW}/{name}"), folder.locate(name)
        with writing(place):
            if staged.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                staged.replace(place)
                sync_folder(place.parent)
    for name in old.keys() - results.keys():
        if _is_unchanged(folder, name, old[name]):
            folder.remove(name)
    _write_marker(folder, command, results)
    _discard(folder)


def _is_unchanged(folder: Folder, name: str, digest: str) -> bool:
    """Whether a file is still what was written; what a person has changed is theirs."""
    return folder.exists(name) and folder.hash_file(name) == digest


def _discard(folder: Folder) -> None:
    """Take away results that were not completed, and what killed writers left of single files."""
    new = folder.path / _NEW
    with writing(new):
        if new.is_dir() and not new.is_symlink():
            shutil.rmtree(new)
        for entry in os.scandir(folder.path):
            if is_leftover(entry.name) and entry.is_file(follow_symlinks=False):
                Path(entry.path).unlink()


def _remove_all(folder: Folder) -> None:
    """Take away a folder in which nothing was done yet."""
    with suppress(OSError):
        for name in (CASE, JOURNAL):
            (folder.path / name).unlink(missing_ok=True)
        folder.path.rmdir()  # fails, as it should, when somebody has put something there


def _keep_apart(folder: Path, inputs: Iterable[str | Path]) -> None:
    """Refuse inputs that lie in the very folder to be written: results could take their place."""
    own = Path(os.path.realpath(folder))  # which, unlike `resolve`, takes links that lead in a circle
    for path in map(Path, inputs):
        place = Path(os.path.realpath(path))
        if place == own or own in place.parents:
            raise OutputError(
                f"{path}: is inside the folder to be written, {folder}; nothing was touched. "
                "Choose another folder with -o."
            )


@contextmanager
def _locked(folder: Folder) -> Iterator[None]:
    """Keep a second process out while this one is at work."""
    path = folder.locate(JOURNAL)
    with writing(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
    refusal = (
        f"{folder.path}: another deshred is writing into the folder; nothing was touched. "
        "Wait for it, or choose another folder with -o."
    )
    try:
        with lock(descriptor, refusal):
            yield
    finally:
        os.close(descriptor)


def _write_marker(folder: Folder, command: str, results: Mapping[str, str] | None) -> None:
    state = "begun" if results is None else "finished"
    content = {"format": FORMAT, "command": command, "state": state, "results": results or {}}
    folder.write_bytes(CASE, to_json(content).encode())


def _read_digests(content: Any) -> dict[str, str]:
    return {str(name): str(digest) for name, digest in content.items()}


def _read_marker(folder: Folder) -> _Marker:
    path = folder.path
    with writing(path):
        if not path.exists():
            return _Marker("new")
        if not path.is_dir():
            raise OutputError(f"{path}: a file of that name is in the way. Choose another name with -o.")
        names = {entry.name for entry in os.scandir(path)}
    if CASE not in names:
        return _judge_unmarked(folder, names)
    try:
        content = parse_json(folder.read_bytes(CASE, most_bytes=_MOST_JSON), CASE)
        state: State = "finished" if content["state"] == "finished" else "begun"
        return _Marker(state, str(content["command"]), _read_digests(content["results"]))
    except (InputError, KeyError, TypeError, AttributeError):
        raise OutputError(
            f"{path / CASE}: the file is damaged, so it is unclear whose folder this is; nothing was "
            "touched. Choose a new folder with -o."
        ) from None


def _judge_unmarked(folder: Folder, names: set[str]) -> _Marker:
    """A folder without a mark is new when all that lies in it is harmless, or left by a kill at the start."""
    others = {name for name in names - _NOT_OURS_BUT_HARMLESS if not is_leftover(name)}
    if not others or (others == {JOURNAL} and not folder.path.joinpath(JOURNAL).lstat().st_size):
        return _Marker("new")
    raise OutputError(
        f"{folder.path}: the folder holds files that deshred did not write; nothing was touched. "
        "Choose a new folder with -o."
    )


_AGAIN = "Run reconstruct --force again."
