"""Every heading of the case report is there in every language."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from deshred.export import casereport
from deshred.export.headings import say
from tests.export.materials import make_material
from tests.export.reports import read_report

pytest.importorskip("reportlab", reason="reportlab is not installed: pip install 'deshred[pdf]'")


def list_headings() -> set[str]:
    """The headings that the report is written with."""
    tree = ast.parse(Path(casereport.__file__).read_text(encoding="utf-8"))
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args)
    return {
        call.args[0].value
        for call in calls
        if isinstance(call.func, ast.Attribute)
        and call.func.attr in ("heading", "title", "say")
        and isinstance(call.args[0], ast.Constant)
    }


def test_no_heading_is_left_in_english() -> None:
    found = list_headings()
    assert len(found) > 10
    values = {"number": 1, "count": 2, "copy": "x"}
    assert [text for text in found if say(text, "de", **values) == say(text, "en", **values)] == []


def test_a_german_report_has_german_headings() -> None:
    told = read_report(make_material(headings="de"))
    for heading in (
        "Nummer des Berichts",
        "Gegenstände",
        "Seite 1 von 2: Beweiskopie",
        "Seitenwechsel",
        "Ende des Berichts",
    ):
        assert heading in told
    assert "Joins worth a look" not in told
