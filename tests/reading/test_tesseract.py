"""Tesseract: which language data are used, and what stands for them in a fingerprint."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("tesserocr", reason="Tesseract is not installed: pip install 'deshred[ocr]'")

from deshred.errors import MissingDependencyError
from deshred.reading import ReadingOptions, open_reader
from deshred.reading.tesseract import TesseractReader, find
from tests.reading.engines import needs_tesseract


def give(folder: Path, **languages: bytes) -> Path:
    """A folder of language data."""
    folder.mkdir()
    for name, content in languages.items():
        (folder / f"{name}.traineddata").write_bytes(content)
    return folder


def open_with(folder: Path | None, language: str) -> TesseractReader:
    return TesseractReader.open(ReadingOptions(language=language, tessdata=folder))


def test_a_folder_that_is_named_comes_before_that_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named, other = give(tmp_path / "named", tlh=b"1"), give(tmp_path / "other", tlh=b"2")
    monkeypatch.setenv("TESSDATA_PREFIX", str(other))
    assert open_with(named, "tlh").folder == named
    assert open_with(None, "tlh").folder == other
    assert "tlh" in find().languages


def test_the_fingerprint_tells_data_and_their_order_apart(tmp_path: Path) -> None:
    folder = give(tmp_path / "a", tlh=b"1", qya=b"2")
    reader = open_with(folder, "tlh+qya")
    assert reader.data_sha256 == hashlib.sha256(b"12").hexdigest()
    others = [open_with(folder, "qya+tlh"), open_with(give(tmp_path / "b", tlh=b"1", qya=b"3"), "tlh+qya")]
    assert len({reader.fingerprint, *(other.fingerprint for other in others)}) == 3


def test_languages_must_lie_in_one_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESSDATA_PREFIX", str(give(tmp_path / "one", tlh=b"1")))
    with pytest.raises(MissingDependencyError, match=r"qya.*tlh.*name a folder that has all of them"):
        open_with(give(tmp_path / "other", qya=b"2"), "tlh+qya")


def test_data_that_are_no_language_are_not_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESSDATA_PREFIX", str(give(tmp_path / "a", osd=b"1", equ=b"2", tlh=b"3")))
    assert "tlh" in find().languages
    assert not {"osd", "equ"} & set(find().languages)


@needs_tesseract
def test_a_language_that_is_not_there_is_named_with_its_remedy() -> None:
    with pytest.raises(MissingDependencyError, match=r"tlh.*found: .*eng.*apt install tesseract-ocr-tlh"):
        open_reader(ReadingOptions(language="eng+tlh"))


def test_an_engine_that_is_not_installed_names_its_pip_line() -> None:
    script = (
        "import sys\nsys.modules['tesserocr'] = None\n"
        "from deshred.reading import ReadingOptions, open_reader\n"
        "try:\n    open_reader(ReadingOptions())\n"
        "except Exception as error:\n    print(type(error).__name__, error.exit_code, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("MissingDependencyError 8 reading pages needs tesserocr")
    assert "pip install 'deshred[ocr]'" in done.stdout
