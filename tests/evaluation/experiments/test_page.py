"""The page of all experiments: every table and picture there is, and nothing in them is taken for HTML."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("jinja2", reason="pages need deshred[plots]")

from deshred.evaluation.experiments.page import CHAPTERS, write_outcome
from deshred.evaluation.experiments.raw import RawResults
from tests.evaluation.experiments.entries import (
    Entry,
    curve_entry,
    factor_entry,
    feedback_entry,
    pile_entry,
)

ENTRIES: dict[str, Entry] = {
    "incremental": curve_entry("s-marques", "default", 1, [1.0, 0.5]),
    "comparison": pile_entry("marques", 1, "a", 0.5, 2.0),
    "ablation": factor_entry("evidence", "<script>", 1, [0.5]),
    "feedback": feedback_entry("price", 0.1, 3),
}


def keep(folder: Path, experiment: str) -> RawResults:
    content = {"experiment": experiment, "versions": [], "results": {"a": ENTRIES[experiment]}}
    (folder / f"{experiment}.json").write_text(json.dumps(content))
    return RawResults(folder, experiment)


def test_every_experiment_has_a_chapter() -> None:
    assert set(CHAPTERS) == set(ENTRIES)


@pytest.mark.parametrize("experiment", ENTRIES)
def test_the_tables_of_an_experiment_are_written_beside_its_raw_results(
    experiment: str, tmp_path: Path
) -> None:
    outcome = write_outcome(keep(tmp_path, experiment))
    assert outcome.markdown == tmp_path / f"{experiment}.md"
    assert outcome.markdown.read_text() == f"# {CHAPTERS[experiment].title}\n\n{outcome.to_text()}"


def test_one_page_shows_all_experiments_that_lie_in_the_folder(tmp_path: Path) -> None:
    for experiment in ("feedback", "incremental", "comparison"):
        outcome = write_outcome(keep(tmp_path, experiment))
    assert outcome.page == tmp_path / "experiments.html"
    page = outcome.page.read_text()
    places = [page.find(f'<h2 id="{experiment}">') for experiment in CHAPTERS]
    assert [place >= 0 for place in places] == [True, True, False, True]
    assert page.count("<table>") == 1 + 2 + 1  # none without a row: no kinds, nothing to compare with


def test_a_picture_is_shown_where_it_lies_and_says_what_is_on_it(tmp_path: Path) -> None:
    (tmp_path / "kinds.png").write_bytes(b"")
    page = write_outcome(keep(tmp_path, "incremental")).page.read_text()
    assert page.count("<img") == page.count('<img src="kinds.png" alt="Accuracy at k = 1 by kind') == 1


def test_the_page_escapes_what_it_shows(tmp_path: Path) -> None:
    page = write_outcome(keep(tmp_path, "ablation")).page.read_text()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_every_row_of_every_table_is_a_row_of_the_page(tmp_path: Path) -> None:
    outcome = write_outcome(keep(tmp_path, "feedback"))
    (table,) = outcome.tables
    page = outcome.page.read_text()
    assert page.count("<tr>") == 1 + len(table.rows)
    assert page.count("<th ") == len(table.header)
