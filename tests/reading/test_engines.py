"""Options of reading are checked, and what is not installed comes with its remedy."""

from __future__ import annotations

import pytest

from deshred.errors import SettingsError
from deshred.reading.engines import ReadingOptions, list_engines, open_reader


@pytest.mark.parametrize("language", ["eng", "eng+por", "chi_sim+deu_latf"])
def test_codes_of_languages_are_taken(language: str) -> None:
    assert ReadingOptions(language=language).language == language


@pytest.mark.parametrize("language", ["", "+", "eng+", "eng por", "../eng", "eng+-x", "e" * 40, "eng\n"])
def test_what_is_no_language_is_refused(language: str) -> None:
    with pytest.raises(SettingsError, match="language must be one code"):
        ReadingOptions(language=language)


def test_an_engine_nobody_knows_is_told_the_others() -> None:
    with pytest.raises(SettingsError, match="tesseract, rapidocr, none"):
        ReadingOptions(engine="guess")  # type: ignore[arg-type]


def test_no_engine_reads_nothing() -> None:
    with pytest.raises(SettingsError, match="no page is read"):
        open_reader(ReadingOptions(engine="none"))


def test_every_engine_is_there_with_its_version_or_says_how_to_get_it() -> None:
    engines = list_engines()
    assert [engine.name for engine in engines] == ["tesseract", "rapidocr"]
    for engine in engines:
        assert bool(engine.version) != bool(engine.remedy)
