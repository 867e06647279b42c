import json
from pathlib import Path

import pytest

from deshred.errors import InputError, OutputError, SettingsError
from deshred.evaluation.experiments import (
    AblationOptions,
    ComparisonOptions,
    FeedbackOptions,
    IncrementalOptions,
    ablation,
    comparison,
    feedback,
    incremental,
)
from deshred.evaluation.experiments.raw import RawResults
from tests.evaluation.drawn_collections import write_collection

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_collection(tmp_path_factory.mktemp("data") / "drawn", [4, 3, 5])


def read(file: Path) -> dict[str, dict[str, object]]:
    results: dict[str, dict[str, object]] = json.loads(file.read_text())["results"]
    return results


def test_incremental_measures_every_k_and_shows_it(folder: Path, tmp_path: Path) -> None:
    outcome = incremental([folder], tmp_path, options=IncrementalOptions(methods=("outline",), jobs=1))
    results = read(outcome.raw)
    assert sorted(entry["k"] for entry in results.values()) == [1, 2, 3]
    page = outcome.page.read_text()
    assert "outline alone" in page
    assert all(picture.is_file() and picture.name in page for picture in outcome.pictures)
    assert "| k |" in outcome.markdown.read_text()


def test_what_is_there_is_not_measured_again(folder: Path, tmp_path: Path) -> None:
    options = ComparisonOptions(methods=("marques",), ks=(1,), jobs=1)
    first = read(comparison([folder], tmp_path, options=options).raw)
    marked = {key: {**entry, "accuracy": 0.123} for key, entry in first.items()}
    (tmp_path / "comparison.json").write_text(
        json.dumps({"experiment": "comparison", "versions": [], "results": marked})
    )
    more = ComparisonOptions(methods=("marques", "marques-2020"), ks=(1, 2), jobs=1)
    second = read(comparison([folder], tmp_path, options=more).raw)
    assert all(second[key]["accuracy"] == 0.123 for key in first)
    assert len(second) == 2 * (3 + 2)


def test_a_method_that_cannot_read_a_pile_scores_nothing_and_says_why(folder: Path, tmp_path: Path) -> None:
    options = ComparisonOptions(methods=("characters",), ks=(1,), piles=1, jobs=1)
    (entry,) = read(comparison([folder], tmp_path, options=options).raw).values()
    assert entry["accuracy"] == 0.0
    assert "text" in str(entry["failure"])


def test_a_perfect_person_leaves_no_more_wrong_joins_and_all_strategies_ask(
    folder: Path, tmp_path: Path
) -> None:
    options = FeedbackOptions(methods=("outline",), loads=(0.5,), rounds=(1, 2), errors=(0.0, 0.3), jobs=1)
    outcome = feedback([folder], tmp_path, options=options)
    results = list(read(outcome.raw).values())
    assert len({entry["strategy"] for entry in results}) == 8
    for entry in results:
        assert 0 < int(str(entry["asked"])) <= 5
        if entry["error"] == 0.0:
            assert float(str(entry["after"])) >= float(str(entry["before"])) - 0.2


def test_ablation_changes_one_factor_at_a_time(folder: Path, tmp_path: Path) -> None:
    options = AblationOptions(ks=(1,), factors=("evidence", "page ends at k = 1"), documents=2, jobs=1)
    results = read(ablation([folder], tmp_path, options=options).raw)
    assert {entry["value"] for entry in results.values()} == {
        "ink and outline",
        "ink",
        "outline",
        "weighed",
        "free",
    }


def test_training_without_pages_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="intact pages"):
        ablation([folder], tmp_path, options=AblationOptions(steps=10))


def test_results_of_another_experiment_are_not_touched(tmp_path: Path) -> None:
    (tmp_path / "feedback.json").write_text('{"experiment": "incremental", "versions": [], "results": {}}')
    with pytest.raises(InputError, match="incremental"):
        RawResults(tmp_path, "feedback")
    (tmp_path / "feedback.json").write_text("{")
    with pytest.raises(InputError, match="cannot be read"):
        RawResults(tmp_path, "feedback")


def test_two_runs_do_not_overwrite_each_others_results(tmp_path: Path) -> None:
    one, other = RawResults(tmp_path, "feedback"), RawResults(tmp_path, "feedback")
    one.recall("a", lambda: {"value": 1})
    with pytest.raises(OutputError, match="another run"):
        other.recall("b", lambda: {"value": 2})
    assert RawResults(tmp_path, "feedback").recall("a", dict)["value"] == 1


def test_unknown_methods_strategies_and_factors_are_refused() -> None:
    with pytest.raises(SettingsError, match="no method"):
        ComparisonOptions(methods=("magic",))
    with pytest.raises(SettingsError, match="no strategy"):
        FeedbackOptions(strategies=("magic",))
    with pytest.raises(SettingsError, match="no factor"):
        AblationOptions(factors=("magic",))
    with pytest.raises(SettingsError, match="scorers of edges"):
        FeedbackOptions(methods=("words",))


def test_pages_escape_what_they_show(tmp_path: Path) -> None:
    from deshred.evaluation.experiments.page import write_outcome
    from deshred.evaluation.experiments.tables import Table

    table = Table("<b>", ("a",), (("<script>",),))
    outcome = write_outcome("x", "t", [table], [], tmp_path / "x.json")
    assert "<script>" not in outcome.page.read_text()
