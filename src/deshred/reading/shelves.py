"""Where readings are kept by content, so that nothing is read twice."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from deshred.elements import Page
from deshred.reading.engines import Reader
from deshred.reading.words import Reading

_FORMAT = 1


class ReadingShelf(Protocol):
    """Readings by key."""

    def take(self, key: str) -> Reading | None:
        """The reading kept under this key, or None."""

    def keep(self, key: str, reading: Reading) -> None:
        """Keep a reading."""


def make_key(page: Page, reader: Reader) -> str:
    """SHA-256 over pixels, resolution and reader: all that changes what is read."""
    digest = hashlib.sha256(f"{_FORMAT} {page.image.shape} {page.dpi:g} {reader.fingerprint}".encode())
    digest.update(np.ascontiguousarray(page.image).data)
    return digest.hexdigest()


@dataclass(frozen=True)
class FolderShelf:
    """One JSON file per reading in a folder. A file that is damaged counts as missing."""

    folder: Path

    def take(self, key: str) -> Reading | None:
        """The reading kept under this key, or None."""
        try:
            return Reading.from_dict(json.loads((self.folder / f"{key}.json").read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError, IndexError):
            return None

    def keep(self, key: str, reading: Reading) -> None:
        """Keep a reading: the file is there whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        beside = self.folder / f".{key}.{os.getpid()}.tmp"
        beside.write_text(json.dumps(reading.to_dict(), ensure_ascii=False), encoding="utf-8")
        beside.replace(self.folder / f"{key}.json")
