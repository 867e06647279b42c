from __future__ import annotations

import re
from pathlib import Path

import deshred.errors as errors
from deshred.errors import DeshredError

CLASSES = [DeshredError, *DeshredError.__subclasses__()]


def test_every_error_has_an_exit_code_of_its_own() -> None:
    codes = [error.exit_code for error in CLASSES]
    assert len(set(codes)) == len(codes)
    assert all(0 < code < 126 for code in codes)  # shells use 126 and above


def test_the_drawn_tree_shows_every_error_with_its_code() -> None:
    drawn = dict(re.findall(r"(\w+Error)\s+(\d+)\s", errors.__doc__ or ""))
    assert drawn == {error.__name__: str(error.exit_code) for error in CLASSES}


def test_the_documented_table_shows_every_error_with_its_code() -> None:
    page = (Path(__file__).parents[1] / "docs" / "exit-codes.md").read_text(encoding="utf-8")
    table = {
        name: int(code) for code, name in re.findall(r"^\| (\d+) \| `(\w+Error)` \|", page, re.MULTILINE)
    }
    assert table == {error.__name__: error.exit_code for error in CLASSES}
