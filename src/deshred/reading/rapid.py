"""RapidOCR: the second engine, for Chinese and Japanese, and where only wheels may be installed.

Its models come with the wheel, so nothing is fetched. They read Chinese, Japanese and Latin letters at
once: the language asked for is recorded and changes nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from deshred.elements import Image
from deshred.errors import MissingDependencyError
from deshred.reading.engines import EngineFound, ReadingOptions
from deshred.reading.words import Box, Line, Reading, Word
from deshred.versions import find_version

_LANGUAGES = ("ch", "en", "japan")
_DESCENT = 0.22  # of the height of a line lies below its baseline; RapidOCR does not tell


@dataclass(frozen=True)
class RapidReader:
    """Reads with the models that ship with RapidOCR."""

    language: str
    version: str
    data_sha256: str

    @classmethod
    def open(cls, options: ReadingOptions) -> RapidReader:
        """The reader of these options."""
        return cls(options.language, _version(), _hash_models())

    @property
    def fingerprint(self) -> str:
        """Engine, version and models."""
        return f"rapidocr {self.version} {self.language} {self.data_sha256}"

    def read_image(self, image: Image, dpi: float) -> Reading:  # noqa: ARG002 - it finds its own scale
        """The words of an image, (H, W, 3) RGB."""
        found = _open_engine()(np.ascontiguousarray(image[:, :, ::-1]), return_word_box=True)
        rows = () if found.boxes is None else found.word_results  # a placeholder where nothing is found
        lines = tuple(line for number, words in enumerate(rows) for line in _to_lines(words, number))
        return Reading(lines, f"rapidocr {self.version}", self.language, self.data_sha256)


def find() -> EngineFound:
    """The version and the languages of its models."""
    return EngineFound("rapidocr", _version(), _LANGUAGES, "")


def _version() -> str:
    version = find_version("rapidocr")
    if version is None:
        raise MissingDependencyError(
            "this engine needs rapidocr, which is not installed. Get it with: pip install 'deshred[rapidocr]'"
        )
    return version


@lru_cache(maxsize=1)
def _open_engine() -> Any:
    from rapidocr import RapidOCR

    return RapidOCR(params={"Global.log_level": "error"})  # else it tells every file it opens


def _hash_models() -> str:
    spec = find_spec("rapidocr")
    home = Path((spec.submodule_search_locations or ["."])[0]) if spec else Path()
    digest = hashlib.sha256()
    for file in sorted(home.glob("models/*.onnx")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _to_lines(found: Sequence[Any], block: int) -> list[Line]:
    words = [
        Word(text.strip(), _box(corners), round(float(score), 4))
        for text, score, corners in found
        if text.strip()
    ]
    if not words:
        return []
    box = Box.around([word.box for word in words])
    baseline = box.bottom - _DESCENT * box.height
    return [Line(tuple(words), block, (baseline, baseline))]


def _box(corners: Sequence[Sequence[float]]) -> Box:
    xs, ys = ([round(float(point[axis])) for point in corners] for axis in (0, 1))
    return Box(min(xs), min(ys), max(xs), max(ys))
