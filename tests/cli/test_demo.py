"""`deshred demo`: the way from drawn pages to a PDF, with what became of the truth."""

from __future__ import annotations

from pathlib import Path

from tests.commands import run


def test_demo_says_how_well_it_went(tmp_path: Path) -> None:
    result = run("demo", "-o", tmp_path / "demo", "--kinds", "letter", "--shreds", 6, "-q")
    assert result.exit_code == 0, result.stderr
    assert "joins right" in result.stdout
    assert (tmp_path / "demo" / "run" / "report.html").exists()


def test_a_kind_of_page_that_nobody_draws_has_exit_code_2(tmp_path: Path) -> None:
    done = run("demo", "-o", tmp_path / "demo", "--kinds", "poem")
    assert done.exit_code == 2
    assert "poem" in done.stderr
    assert not (tmp_path / "demo").exists()
