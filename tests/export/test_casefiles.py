"""What people know about a case is read from TOML, and no typing mistake goes unseen."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from deshred.errors import InputError, SettingsError
from deshred.export.casefiles import CaseFacts, read_case_facts


def test_case_facts_come_from_toml_and_a_typing_mistake_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "case.toml"
    file.write_text('number = "1"\nexhibits = ["a"]\nreceived = 2026-03-02\n', encoding="utf-8")
    assert read_case_facts(file) == CaseFacts("1", exhibits=("a",), received=date(2026, 3, 2))
    for wrong, message in (
        ('examinor = "x"', "no key 'examinor'"),
        ("number = 3", "number is a text"),
        ('received = "today"', "received is a date"),
        ('exhibits = "a"', "exhibits is a list"),
        ("number", "is not TOML"),
    ):
        file.write_text(wrong, encoding="utf-8")
        with pytest.raises(SettingsError, match=message):
            read_case_facts(file)
    with pytest.raises(InputError, match="cannot be read"):
        read_case_facts(tmp_path / "no.toml")
