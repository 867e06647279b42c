"""Raw results: computed once, kept entry by entry, and never those of somebody else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deshred.errors import InputError, OutputError
from deshred.evaluation.experiments.raw import RawResults
from deshred.versions import installed_versions


def test_an_entry_is_kept_and_found_by_a_later_run(tmp_path: Path) -> None:
    raw = RawResults(tmp_path, "feedback")
    assert not raw.has("a")
    raw.keep("a", {"value": 1})
    later = RawResults(tmp_path, "feedback")
    assert later.has("a")
    assert not later.has("b")
    assert [entry["value"] for entry in later] == [1]


def test_what_another_model_gave_is_measured_anew_and_replaced(tmp_path: Path) -> None:
    raw = RawResults(tmp_path, "feedback")
    raw.keep("a", {"value": 1}, model="one")
    raw.keep("b", {"value": 2})
    assert raw.has("a", model="one")
    assert not raw.has("a", model="two")
    assert not raw.has("b", model="one")  # nobody knows what it was made with
    raw.keep("a", {"value": 3}, model="two")
    later = RawResults(tmp_path, "feedback")
    assert later.has("a", model="two")
    assert [entry["value"] for entry in later] == [3, 2]


def test_what_is_asked_again_is_measured_anew_once_and_the_rest_stays(tmp_path: Path) -> None:
    raw = RawResults(tmp_path, "feedback")
    for key in ("a", "b"):
        raw.keep(key, {"value": 1})
    later = RawResults(tmp_path, "feedback", again=True)
    assert not later.has("a")
    later.keep("a", {"value": 2})
    assert later.has("a")
    assert not later.has("b")
    assert [entry["value"] for entry in RawResults(tmp_path, "feedback")] == [2, 1]


def test_every_entry_knows_the_versions_it_was_made_with(tmp_path: Path) -> None:
    old = {"deshred": "0.0.1"}
    content = {"experiment": "feedback", "versions": [old], "results": {"a": {"value": 1, "versions": 0}}}
    (tmp_path / "feedback.json").write_text(json.dumps(content))
    raw = RawResults(tmp_path, "feedback")
    for key in ("b", "c"):
        raw.keep(key, {})
    written = json.loads(raw.file.read_text())
    assert written["versions"] == [old, installed_versions()]
    assert {key: entry["versions"] for key, entry in written["results"].items()} == {"a": 0, "b": 1, "c": 1}


def test_results_of_another_experiment_are_not_touched(tmp_path: Path) -> None:
    (tmp_path / "feedback.json").write_text('{"experiment": "incremental", "versions": [], "results": {}}')
    with pytest.raises(InputError, match="incremental"):
        RawResults(tmp_path, "feedback")


@pytest.mark.parametrize("content", ["{", "[]", "1", '{"experiment": "feedback"}'])
def test_a_file_that_is_no_result_is_refused_with_a_remedy(content: str, tmp_path: Path) -> None:
    (tmp_path / "feedback.json").write_text(content)
    with pytest.raises(InputError, match=r"cannot be read .* Move it away"):
        RawResults(tmp_path, "feedback")
    assert (tmp_path / "feedback.json").read_text() == content


def test_two_runs_do_not_overwrite_each_others_results(tmp_path: Path) -> None:
    one, other = RawResults(tmp_path, "feedback"), RawResults(tmp_path, "feedback")
    one.keep("a", {"value": 1})
    with pytest.raises(OutputError, match="another run"):
        other.keep("b", {"value": 2})
    assert [entry["value"] for entry in RawResults(tmp_path, "feedback")] == [1]
