from __future__ import annotations

import tomllib

from hypothesis import given

from deshred.export.names import clean, clean_cell, clean_field, clean_file_name, quote_toml
from tests.export.hostile import names


@given(names, names)
def test_two_names_that_differ_still_differ_when_clean(one: str, other: str) -> None:
    if one != other and "\\" not in one + other:
        assert clean(one) != clean(other)


def test_letters_of_every_script_stay() -> None:
    text = "Straße, Łódź, Пример, 文書, مستند, 🙂"
    assert clean(text) == text


def test_what_turns_the_direction_of_writing_is_shown() -> None:
    assert clean("invoice\u202efdp.exe") == "invoice\\u202efdp.exe"


@given(names)
def test_no_cell_is_a_formula(name: str) -> None:
    assert not clean_cell(name).startswith(("=", "+", "-", "@", "|", "%", "\t", "\r"))


@given(names)
def test_a_field_never_ends_itself(name: str) -> None:
    assert not set(clean_field(name, quote="\xfe", line_break="\xae")) & set("\x14\xfe\r\n")


@given(names)
def test_a_file_name_is_plain(name: str) -> None:
    made = clean_file_name(name)
    assert made
    assert set(made) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-")
    assert not made.startswith(".")


@given(names.filter(lambda name: name.isprintable() or "\ud800" not in name))
def test_toml_reads_back_what_was_quoted(name: str) -> None:
    whole = name.encode("utf-8", "backslashreplace").decode()
    assert tomllib.loads(f"name = {quote_toml(name)}")["name"] == whole
