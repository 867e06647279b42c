"""A picture in, words and symbols with their columns out: the face to an OCR engine that this rival needs.

It asks for more than reading a page does: the confidence of single symbols, and whether a word stands in the
engine's dictionary.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from deshred.elements import Image
from deshred.errors import MissingDependencyError

_SYSTEM_DATA = ("/usr/share/tesseract-ocr/5/tessdata", "/usr/share/tessdata", "/opt/homebrew/share/tessdata")
_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
# the authors' settings; the newer engine takes the blanks out with the letters that are not listed
_LEGACY_SETTINGS = {
    "tessedit_char_whitelist": _LETTERS,
    "language_model_penalty_non_freq_dict_word": "5",
    "language_model_penalty_non_dict_word": "1",
}


@dataclass(frozen=True)
class Sighting:
    """A word or a symbol, and the columns of its box."""

    text: str
    left: int
    right: int
    confidence: float  # 0 to 100
    is_known: bool = False  # stands in the dictionary; words only


@dataclass(frozen=True)
class Sightings:
    """All that was read in a picture."""

    words: tuple[Sighting, ...]
    symbols: tuple[Sighting, ...]


class WordReader(Protocol):
    """Picture in, sightings out."""

    @property
    def fingerprint(self) -> str:
        """Everything that changes what is read."""

    def read(self, image: Image) -> Sightings:
        """The words of an image, (H, W, 3) RGB."""


@dataclass(frozen=True)
class TesseractWords:
    """Tesseract through tesserocr. The authors used its legacy engine; few data files still hold it."""

    language: str = "eng"
    legacy: bool = False
    _engines: threading.local = field(default_factory=threading.local, repr=False, compare=False)

    @property
    def fingerprint(self) -> str:
        data = find_data(self.language) / f"{self.language}.traineddata"
        return (
            f"{_import().tesseract_version().split()[1]} {self!r} {_hash_file(data, data.stat().st_mtime_ns)}"
        )

    def read(self, image: Image) -> Sightings:
        tesserocr, engine = _import(), self._engine()
        height, width = image.shape[:2]
        # handed over as blue, green, red, as the authors do
        engine.SetImageBytes(np.ascontiguousarray(image[:, :, ::-1]).tobytes(), width, height, 3, 3 * width)
        try:
            if not engine.Recognize():
                return Sightings((), ())
            return Sightings(
                _collect(engine, tesserocr, tesserocr.RIL.WORD),
                _collect(engine, tesserocr, tesserocr.RIL.SYMBOL),
            )
        finally:
            engine.Clear()

    def _engine(self) -> Any:
        """One engine for each thread: an engine reads one picture at a time."""
        if not hasattr(self._engines, "one"):
            tesserocr = _import()
            mode = tesserocr.OEM.TESSERACT_ONLY if self.legacy else tesserocr.OEM.LSTM_ONLY
            engine = tesserocr.PyTessBaseAPI(
                path=str(find_data(self.language)),
                lang=self.language,
                psm=tesserocr.PSM.SINGLE_BLOCK,
                oem=mode,
            )
            for name, value in _LEGACY_SETTINGS.items() if self.legacy else ():
                engine.SetVariable(name, value)
            self._engines.one = engine
        return self._engines.one


class KeepingReader:
    """A reader that keeps what it has read in a folder: a killed run goes on.

    Each reading knows what it cost, so who finds it can be timed all the same.
    """

    def __init__(
        self, reader: WordReader, folder: Path, clock: Callable[[], float] = time.thread_time
    ) -> None:
        self.reader = reader
        self.folder = folder
        self.spared = 0.0  # processor seconds that the readings found here had cost
        self._clock = clock
        self._adding = threading.Lock()

    @property
    def fingerprint(self) -> str:
        return self.reader.fingerprint

    def read(self, image: Image) -> Sightings:
        digest = hashlib.sha256(f"{self.fingerprint} {image.shape}".encode())
        digest.update(np.ascontiguousarray(image).data)
        file = self.folder / f"{digest.hexdigest()}.json"
        if file.exists():
            content = json.loads(file.read_text(encoding="utf-8"))
            with self._adding:
                self.spared += content["seconds"]
            return _unpack(content)
        since = self._clock()
        found = self.reader.read(image)
        content = {**asdict(found), "seconds": self._clock() - since}
        self.folder.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{threading.get_ident()}.part")
        part.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
        part.replace(file)
        return found


@lru_cache(maxsize=8)
def _hash_file(file: Path, _changed: int) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()[:16]


def find_data(language: str) -> Path:
    """The folder with the data of a language."""
    prefix = os.environ.get("TESSDATA_PREFIX")
    named = [Path(prefix)] if prefix else []
    folders = [*named, Path(sys.prefix) / "share" / "tessdata", *map(Path, _SYSTEM_DATA)]
    for folder in folders:
        if (folder / f"{language}.traineddata").is_file():
            return folder
    raise MissingDependencyError(
        f"the language data {language}.traineddata of Tesseract are not installed. Try: pip install "
        f"'deshred[ocr]' for eng, or on Debian: apt install tesseract-ocr-{language}"
    )


def _import() -> Any:
    try:
        import tesserocr
    except ImportError:
        raise MissingDependencyError(
            "the scorer words reads with Tesseract, and tesserocr is not installed. "
            "Try: pip install 'deshred[ocr]'"
        ) from None
    return tesserocr


def _collect(engine: Any, tesserocr: Any, level: Any) -> tuple[Sighting, ...]:
    found = []
    for at in tesserocr.iterate_level(engine.GetIterator(), level):
        corners = None if at.Empty(level) else at.BoundingBox(level)
        if corners is not None:
            text = (at.GetUTF8Text(level) or "").strip()
            is_known = level == tesserocr.RIL.WORD and bool(at.WordIsFromDictionary())
            found.append(Sighting(text, corners[0], corners[2], float(at.Confidence(level)), is_known))
    return tuple(found)


def _unpack(content: Mapping[str, Any]) -> Sightings:
    return Sightings(
        tuple(Sighting(**word) for word in content["words"]),
        tuple(Sighting(**symbol) for symbol in content["symbols"]),
    )
