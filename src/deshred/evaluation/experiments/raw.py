"""The raw results of an experiment: one JSON that grows by one entry at a time, so a killed run goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from deshred.cases import to_json, write_atomically
from deshred.errors import InputError
from deshred.versions import installed_versions

Entry = dict[str, Any]


class RawResults:
    """Entries by key. A key names all that an entry depends on; what is there is never computed again."""

    def __init__(self, folder: Path, experiment: str) -> None:
        self.file = folder / f"{experiment}.json"
        self.experiment = experiment
        self._entries: dict[str, Entry] = _read(self.file, experiment)

    def recall(self, key: str, compute: Callable[[], Entry]) -> Entry:
        """The entry of this key; computed and kept when it is not there."""
        if key not in self._entries:
            self._entries[key] = {**compute(), "versions": installed_versions()}
            content = {"experiment": self.experiment, "results": self._entries}
            write_atomically(self.file, to_json(content).encode())
        return self._entries[key]

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())


def _read(file: Path, experiment: str) -> dict[str, Entry]:
    if not file.exists():
        return {}
    remedy = "Move it away to start anew, or choose another folder."
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        found: dict[str, Entry] = content["results"]
        kind = content["experiment"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{file}: cannot be read as results of an experiment ({error}). {remedy}") from None
    if kind != experiment:
        raise InputError(f"{file}: holds results of the experiment {kind!r}, not {experiment!r}. {remedy}")
    return found
