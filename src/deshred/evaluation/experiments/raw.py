"""The raw results of an experiment: one JSON that grows by one entry at a time, so a killed run goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deshred.cases import to_json, write_atomically
from deshred.errors import InputError, OutputError
from deshred.versions import installed_versions

Entry = dict[str, Any]


class RawResults:
    """Entries by key. A key and a model name all that an entry depends on: it need not be measured again.

    With `again` only what was kept since then counts: code may have changed, and no key tells.
    """

    def __init__(self, folder: Path, experiment: str, *, again: bool = False) -> None:
        self.file = folder / f"{experiment}.json"
        self.experiment = experiment
        self._state = _look(self.file)
        content = _read(self.file, experiment)
        self._entries: dict[str, Entry] = content["results"]
        self._versions: list[dict[str, str]] = content["versions"]  # entries name theirs by its place
        self._old = set(self._entries) if again else set()

    def has(self, key: str, *, model: str | None = None) -> bool:
        """Whether the entry of this key is there, made with the model of this SHA-256 if there is one."""
        entry = self._entries.get(key)
        if entry is None or key in self._old:
            return False
        return model is None or entry.get("model_sha256") == model

    def keep(self, key: str, entry: Entry, *, model: str | None = None) -> None:
        """Write an entry; what another model gave is replaced."""
        if _look(self.file) != self._state:
            raise OutputError(
                f"{self.file}: another run has changed it in the meantime. "
                "Let one run at a time write into a "
                "folder, then give the same command again."
            )
        made_with = {} if model is None else {"model_sha256": model}
        self._entries[key] = {**entry, **made_with, "versions": self._place_versions()}
        self._old.discard(key)
        content = {"experiment": self.experiment, "versions": self._versions, "results": self._entries}
        write_atomically(self.file, to_json(content).encode())
        self._state = _look(self.file)

    def _place_versions(self) -> int:
        versions = installed_versions()
        if versions not in self._versions:
            self._versions.append(versions)
        return self._versions.index(versions)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())


def _look(file: Path) -> tuple[int, int] | None:
    """When the file was written, and how long it is; None when there is none."""
    if not file.exists():
        return None
    found = file.stat()
    return found.st_mtime_ns, found.st_size


def _read(file: Path, experiment: str) -> dict[str, Any]:
    if not file.exists():
        return {"results": {}, "versions": []}
    remedy = "Move it away to start again, or choose another folder."
    try:
        content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        kind, _, _ = content["experiment"], content["results"], content["versions"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{file}: cannot be read as results of an experiment ({error}). {remedy}") from None
    if kind != experiment:
        raise InputError(f"{file}: holds results of the experiment {kind!r}, not {experiment!r}. {remedy}")
    return content
