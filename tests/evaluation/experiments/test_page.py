"""The page of an experiment: all tables and pictures, and nothing in them is taken for HTML."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("jinja2", reason="pages need deshred[plots]")

from deshred.evaluation.experiments.page import write_outcome
from deshred.evaluation.experiments.tables import Table

TABLE = Table("<b>", ("a", "b"), (("<script>", "1 & 2"), ("x", "y")), "note <i>")


def test_everything_is_written_beside_the_raw_results(tmp_path: Path) -> None:
    outcome = write_outcome(
        "trial", "T", [TABLE], [tmp_path / "a.png", tmp_path / "b.png"], tmp_path / "trial.json"
    )
    assert (outcome.markdown, outcome.page) == (tmp_path / "trial.md", tmp_path / "trial.html")
    assert outcome.markdown.read_text() == "# T\n\n" + TABLE.to_markdown()
    assert outcome.to_text() == TABLE.to_markdown()
    page = outcome.page.read_text()
    assert page.index('src="a.png"') < page.index('src="b.png"')
    assert page.count("<img") == page.count('alt="Figure:') == 2
    assert '<a href="trial.json">' in page


def test_pages_escape_what_they_show(tmp_path: Path) -> None:
    page = write_outcome("x", "<title>", [TABLE], [], tmp_path / "x.json").page.read_text()
    assert "<script>" not in page
    assert "<b>" not in page
    assert "<i>" not in page
    assert "<title>&lt;title&gt;</title>" in page
    assert "1 &amp; 2" in page


def test_every_row_of_every_table_is_a_row_of_the_page(tmp_path: Path) -> None:
    page = write_outcome("x", "t", [TABLE, TABLE], [], tmp_path / "x.json").page.read_text()
    assert page.count("<tr>") == 2 * (1 + len(TABLE.rows))
    assert page.count("<th ") == 2 * len(TABLE.header)
