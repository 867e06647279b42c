"""What people know about a case is read from TOML, and no typing mistake goes unseen."""

from __future__ import annotations

import os
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
        ("number = 3", "number must be a text"),
        ('received = "today"', "received must be a date"),
        ('exhibits = "a"', "exhibits must be a list"),
        ("number", "not a TOML file"),
    ):
        file.write_text(wrong, encoding="utf-8")
        with pytest.raises(SettingsError, match=message):
            read_case_facts(file)
    with pytest.raises(InputError, match="no such file"):
        read_case_facts(tmp_path / "no.toml")


def test_how_load_files_are_written_comes_from_a_table_and_mistakes_are_seen(tmp_path: Path) -> None:
    file = tmp_path / "case.toml"
    file.write_text('[loadfile]\nseparator = "|"\n[loadfile.fields]\nBEGBATES = "DOCID"\n', encoding="utf-8")
    form = read_case_facts(file).loadfile
    assert (form.separator, form.quote, form.name_field("BEGBATES")) == ("|", "\xfe", "DOCID")
    assert form.name_field("CASE") == "CASE"
    for wrong, message in (
        ('loadfile = "x"', "must be a table"),
        ('[loadfile]\nseperator = ","', "no key 'seperator'"),
        ('[loadfile]\nseparator = ""', "one letter each"),
        ('[loadfile]\nseparator = "\\n"', "one letter each"),
        ('[loadfile]\nseparator = "|"\nquote = "|"', "and differ"),
        ("[loadfile]\nquote = 3", "quote must be a text"),
        ('[loadfile]\nvolume = "../x"', "volume is made of"),
        ('[loadfile]\nfields = "x"', "a table of names"),
        ('[loadfile.fields]\nBEGDOC = "x"', "no field 'BEGDOC'"),
        ("[loadfile.fields]\nCASE = 3", "CASE must be a text"),
        ('[loadfile.fields]\nCASE = "SHA256"', "fields have different names"),
    ):
        file.write_text(wrong, encoding="utf-8")
        with pytest.raises(SettingsError, match=message):
            read_case_facts(file)


def test_pipes_devices_and_endless_nesting_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for file in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(InputError, match="not a file"):
            read_case_facts(file)
    deep = tmp_path / "deep.toml"
    deep.write_text(f"exhibits = {'[' * 50_000}", encoding="utf-8")
    with pytest.raises(SettingsError, match="levels deep"):
        read_case_facts(deep)
