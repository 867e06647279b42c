"""`case.toml` in, what people know about a case out: numbers, names and dates that no program can know."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import date
from pathlib import Path
from typing import Any

from deshred.errors import SettingsError
from deshred.textfiles import MOST_TOML, parse_toml, read_text_file


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


def read_case_facts(file: str | Path) -> CaseFacts:
    """Read a `case.toml`; unknown keys are errors, so that no typing mistake goes unseen."""
    file = Path(file)
    content = parse_toml(read_text_file(file, most_bytes=MOST_TOML), file, wrong=SettingsError)
    known = {entry.name: entry for entry in fields(CaseFacts)}
    for key, value in content.items():
        if key not in known:
            raise SettingsError(f"{file}: there is no key {key!r}. The known ones are: {', '.join(known)}.")
        content[key] = _check(value, key, file)
    return CaseFacts(**content)


def _check(value: Any, key: str, file: Path) -> Any:
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
