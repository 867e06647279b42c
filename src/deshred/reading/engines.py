"""The face of an OCR engine, and which of them are installed with which languages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, get_args

from deshred.elements import Image
from deshred.errors import DeshredError, SettingsError
from deshred.options import option
from deshred.reading.words import Reading

Engine = Literal["tesseract", "rapidocr", "none"]

_LANGUAGES = re.compile(r"[A-Za-z][A-Za-z0-9_]{1,30}(\+[A-Za-z][A-Za-z0-9_]{1,30})*")


class Reader(Protocol):
    """Page image in, words out. Two readers with the same fingerprint read the same words."""

    @property
    def fingerprint(self) -> str:
        """Everything that changes what is read: engine, version, language data, options."""

    def read_image(self, image: Image, dpi: float) -> Reading:
        """The words of an image, (H, W, 3) RGB."""


@dataclass(frozen=True)
class ReadingOptions:
    """How pages are read. The language is what the user says: nothing is guessed."""

    engine: Engine = option("tesseract", "The engine that reads the pages; with none, they are not read.")
    language: str = option(
        "eng", "Languages of the pages, such as eng+por; they are never guessed.", metavar="CODE"
    )
    tessdata: Path | None = option(None, "A folder of language data to look in first.", metavar="DIR")
    as_it_is: bool = option(False, "Read the evidence copy without mending its seams.", flag="--no-mend")

    def __post_init__(self) -> None:
        if self.engine not in get_args(Engine):
            known = ", ".join(get_args(Engine))
            raise SettingsError(f"there is no engine {self.engine!r}. The known ones are: {known}.")
        if not _LANGUAGES.fullmatch(self.language):
            raise SettingsError(
                f"language must be one code, or several joined with +, such as eng+por; "
                f"got {self.language!r}."
            )


@dataclass(frozen=True)
class EngineFound:
    """An engine as `doctor` lists it: its version and languages, or what is missing and how to get it."""

    name: Engine
    version: str | None
    languages: tuple[str, ...]
    remedy: str  # empty when it works


def open_reader(options: ReadingOptions) -> Reader:
    """The reader of these options; what is not installed is named with its remedy."""
    if options.engine == "none":
        raise SettingsError("with --engine none, no page is read. Leave it out, or name an engine.")
    if options.engine == "rapidocr":
        from deshred.reading.rapid import RapidReader

        return RapidReader.open(options)
    from deshred.reading.tesseract import TesseractReader

    return TesseractReader.open(options)


def list_engines() -> tuple[EngineFound, ...]:
    """Every engine deshred can use, whether it is there, and the languages it reads."""
    from deshred.reading import rapid, tesseract

    return (_look(tesseract.find, "tesseract"), _look(rapid.find, "rapidocr"))


class _Find(Protocol):
    def __call__(self) -> EngineFound: ...


def _look(find: _Find, name: Engine) -> EngineFound:
    try:
        return find()
    except DeshredError as missing:
        return EngineFound(name, None, (), str(missing))
