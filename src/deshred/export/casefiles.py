"""`case.toml` in, what people know about a case out: numbers, names and dates that no program can know.

Its table `[loadfile]` says what the receiving side calls the fields of a load file, and what parts them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Any

from deshred.errors import SettingsError
from deshred.textfiles import MOST_TOML, parse_toml, read_text_file

FIELDS = (
    "BEGBATES",
    "ENDBATES",
    "PAGECOUNT",
    "CUSTODIAN",
    "DOCTITLE",
    "CASE",
    "SHA256",
    "TEXTPATH",
    "IMAGEPATH",
    "SHREDS",
    "OPENJOINS",
    "LOWESTPROBABILITY",
    "CLEARWORDS",
)
_LETTERS = ("separator", "quote", "line_break")


@dataclass(frozen=True)
class LoadfileForm:
    """How a load file is written; what is not said is as Concordance has it."""

    separator: str = "\x14"  # between fields
    quote: str = "\xfe"  # around fields
    line_break: str = "\xae"  # stands for one inside a field
    volume: str = "VOL001"
    fields: Mapping[str, str] = field(
        default_factory=lambda: MappingProxyType({})
    )  # other names; "": left out

    def __post_init__(self) -> None:
        letters = [getattr(self, name) for name in _LETTERS]
        if len(set(letters)) < len(letters) or any(len(one) != 1 or one in "\r\n" for one in letters):
            raise SettingsError(f"{', '.join(_LETTERS)} are one letter each, and differ; got {letters}.")
        if not self.volume.isascii() or not self.volume.replace("-", "").replace("_", "").isalnum():
            raise SettingsError(f"volume is made of letters, digits, - and _; got {self.volume!r}.")
        unknown = [name for name in self.fields if name not in FIELDS]
        if unknown:
            raise SettingsError(f"there is no field {unknown[0]!r}. The known ones are: {', '.join(FIELDS)}.")
        names = [name for name in map(self.name_field, FIELDS) if name]
        if len(set(names)) < len(names) or not names:
            raise SettingsError(f"fields have different names; got {', '.join(names)}.")

    def name_field(self, name: str) -> str:
        """What a field is called; empty where it is left out."""
        return self.fields.get(name, name)


@dataclass(frozen=True)
class CaseFacts:
    """All optional: what is missing is an empty line in the report. Nobody and nothing is made up."""

    number: str = ""  # of the report
    case: str = ""
    exhibits: tuple[str, ...] = ()
    laboratory: tuple[str, ...] = ()
    customer: str = ""
    received: date | None = None
    worked: date | None = None
    examiner: str = ""
    reviewer: str = ""
    notes: str = ""
    loadfile: LoadfileForm = field(default_factory=LoadfileForm)


def read_case_facts(file: str | Path) -> CaseFacts:
    """Read a `case.toml`; unknown keys are errors, so that no typing mistake goes unseen."""
    file = Path(file)
    content = parse_toml(read_text_file(file, most_bytes=MOST_TOML), file, wrong=SettingsError)
    _refuse_unknown(content, CaseFacts, str(file))
    return CaseFacts(**{key: _check(value, key, file) for key, value in content.items()})


def _refuse_unknown(content: Mapping[str, Any], kind: type[Any], where: str) -> None:
    known = [entry.name for entry in fields(kind)]
    for key in content:
        if key not in known:
            raise SettingsError(f"{where}: there is no key {key!r}. The known ones are: {', '.join(known)}.")


def _check(value: Any, key: str, file: Path) -> Any:
    if key == "loadfile":
        return _read_form(value, f"{file} [loadfile]")
    if key in ("received", "worked"):
        if type(value) is date:
            return value
        raise SettingsError(f"{file}: {key} must be a date such as 2026-03-02, got {value!r}.")
    if key in ("exhibits", "laboratory"):
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        raise SettingsError(f"{file}: {key} must be a list of texts, got {value!r}.")
    if isinstance(value, str):
        return value
    raise SettingsError(f"{file}: {key} must be a text, got {value!r}.")


def _read_form(content: Any, where: str) -> LoadfileForm:
    if not isinstance(content, dict):
        raise SettingsError(f"{where}: must be a table, got {content!r}.")
    _refuse_unknown(content, LoadfileForm, where)
    names = content.get("fields", {})
    if not isinstance(names, dict):
        raise SettingsError(f"{where}: fields must be a table of names, got {names!r}.")
    for key, value in (content | names).items():
        if key != "fields" and not isinstance(value, str):
            raise SettingsError(f"{where}: {key} must be a text, got {value!r}.")
    try:
        return LoadfileForm(**(content | {"fields": MappingProxyType(names)}))
    except SettingsError as error:
        raise SettingsError(f"{where}: {error}") from None
