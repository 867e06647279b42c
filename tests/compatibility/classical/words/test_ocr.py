import os
import sys
from pathlib import Path

import numpy as np
import pytest

from deshred.compatibility.classical.words import KeepingReader, Sighting, Sightings, TesseractWords
from deshred.compatibility.classical.words.ocr import find_data
from deshred.errors import MissingDependencyError
from deshred.simulation.drawing import draw_page


class OnceReader:
    """Refuses to read anything twice."""

    fingerprint = "once"

    def __init__(self) -> None:
        self.seen: set[bytes] = set()

    def read(self, image: np.ndarray) -> Sightings:
        assert image.tobytes() not in self.seen
        self.seen.add(image.tobytes())
        word = Sighting("Ação", 1, 5, 77.5, True)
        return Sightings((word,), (word, word))


def test_what_was_read_is_not_read_again(tmp_path: Path) -> None:
    image = np.zeros((4, 6, 3), np.uint8)
    inner = OnceReader()
    first = KeepingReader(inner, tmp_path).read(image)
    assert KeepingReader(inner, tmp_path).read(image) == first
    KeepingReader(inner, tmp_path).read(image + 1)
    assert len(inner.seen) == 2


def test_readings_that_were_kept_count_with_what_they_had_cost(tmp_path: Path) -> None:
    image = np.zeros((4, 6, 3), np.uint8)
    ticks = iter([1.0, 3.5, 10.0, 10.25])
    first = KeepingReader(OnceReader(), tmp_path, clock=lambda: next(ticks))
    first.read(image)
    first.read(image + 1)
    assert first.spared == 0.0
    second = KeepingReader(OnceReader(), tmp_path, clock=lambda: next(ticks))
    second.read(image + 1)
    assert second.spared == 0.25
    second.read(image)
    assert second.spared == 2.75


def test_other_language_data_are_read_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tesserocr", reason="tesserocr is not installed")
    monkeypatch.setenv("TESSDATA_PREFIX", str(tmp_path))
    data = tmp_path / "xyz.traineddata"
    data.write_bytes(b"one")
    os.utime(data, ns=(1, 1))
    before = TesseractWords("xyz").fingerprint
    assert TesseractWords("xyz").fingerprint == before
    data.write_bytes(b"two")
    os.utime(data, ns=(2, 2))
    assert TesseractWords("xyz").fingerprint != before


def test_a_missing_engine_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tesserocr", None)
    with pytest.raises(MissingDependencyError, match=r"deshred\[ocr\]"):
        TesseractWords().read(np.zeros((4, 6, 3), np.uint8))


def test_a_missing_language_is_named_with_its_remedy() -> None:
    with pytest.raises(MissingDependencyError, match="tesseract-ocr-xyz"):
        find_data("xyz")


def test_tesseract_reads_words_of_a_drawn_page_and_knows_some() -> None:
    pytest.importorskip("tesserocr", reason="tesserocr is not installed")
    try:
        find_data("eng")
    except MissingDependencyError as missing:
        pytest.skip(str(missing))
    page = draw_page("text", np.random.default_rng(0))
    image = np.ascontiguousarray(np.asarray(page)[:600])
    found = TesseractWords("eng").read(image)
    assert len(found.words) > 10
    assert any(word.is_known for word in found.words)
    assert len(found.symbols) > len(found.words)
