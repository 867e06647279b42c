import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deshred.arrangement import ArrangementOptions
from deshred.cases import to_json
from deshred.compatibility.classical.marques import MarquesScorer
from deshred.compatibility.contract import PlainScorer, ScoreBlock
from deshred.elements import Calibration
from deshred.errors import InputError, SettingsError
from deshred.evaluation.collections import open_collection
from deshred.evaluation.protocol import EvaluationOptions, Window, evaluate, list_windows, parse_ks
from deshred.executors import SerialExecutor
from deshred.imaging.edges import EdgeOptions
from tests.evaluation.drawn_collections import draw_document, write_collection, write_document


@dataclass
class CountingScorer(PlainScorer):
    """Marques on short edges that keeps count of the joins it scored."""

    inner: MarquesScorer = field(default_factory=lambda: MarquesScorer(edge_options=EdgeOptions(2, 160)))
    joins: int = 0
    fail_after: int | None = None
    model: str | None = None
    calibration: Calibration | None = None  # type: ignore[misc]

    def __post_init__(self) -> None:
        self.card = replace(self.inner.card, model=self.model)
        self.edge_options = self.inner.edge_options
        self.description_type = self.inner.description_type
        self.describe_rights = self.inner.describe_rights
        self.describe_lefts = self.inner.describe_lefts

    def compare(self, rights: Any, lefts: Any) -> ScoreBlock:
        if self.fail_after is not None and self.joins >= self.fail_after:
            raise KeyboardInterrupt
        self.joins += len(rights) * len(lefts)
        return self.inner.compare(rights, lefts)


class BlindScorer(CountingScorer):
    """Finds all joins equally good."""

    def compare(self, rights: Any, lefts: Any) -> ScoreBlock:
        shape = (len(rights), len(lefts))
        return ScoreBlock(np.zeros(shape, np.float32), np.zeros(shape, np.int16))


def options_of(*ks: Any, seed: int = 0, solver: str = "greedy") -> EvaluationOptions:
    return EvaluationOptions(ks=ks, seed=seed, arrangement=ArrangementOptions(solver=solver, pages=1))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_collection(tmp_path / "drawn", [4, 3, 5, 6])


@pytest.mark.parametrize("solver", ["greedy", "exact"])
def test_documents_whose_edges_agree_are_put_in_order(folder: Path, solver: str) -> None:
    result = evaluate(
        open_collection(folder), CountingScorer(), options=options_of(1, 2, "all", solver=solver)
    )
    # Greedy has nothing to go by where two documents meet, and may begin inside of one.
    least = {"1": 1.0, "2": 1.0, "all": 1.0} if solver == "exact" else {"1": 1.0, "2": 0.6, "all": 0.6}
    for k in ("1", "2", "all"):
        assert result[k].mean.value >= least[k]
    assert [len(result[k].instances) for k in ("1", "2", "all")] == [4, 3, 1]
    assert result["1"].whole == 4


def test_a_scorer_that_sees_nothing_is_not_given_the_order(folder: Path) -> None:
    scores = [
        evaluate(open_collection(folder), BlindScorer(), options=options_of("all", seed=seed))[
            "all"
        ].mean.value
        for seed in range(5)
    ]
    assert np.mean(scores) < 0.3


def test_the_same_seed_gives_the_same_instances(folder: Path) -> None:
    collection = open_collection(folder)
    runs = [evaluate(collection, BlindScorer(), options=options_of(2, seed=seed)) for seed in (1, 1, 2)]
    assert runs[0].accuracy == runs[1].accuracy
    assert [i.documents for i in runs[0]["2"].instances] != [i.documents for i in runs[2]["2"].instances]


def test_instances_are_all_windows_of_the_sequence(folder: Path) -> None:
    result = evaluate(open_collection(folder), BlindScorer(), options=options_of(2))
    sequence = list(result.kinds)
    assert [list(i.documents) for i in result["2"].instances] == [sequence[:2], sequence[1:3], sequence[2:]]
    assert list_windows(3, 1) == [Window(0, 1), Window(1, 2), Window(2, 3)]
    assert list_windows(3, "all") == [Window(0, 3)]


def test_single_documents_are_never_scored_against_each_other(folder: Path) -> None:
    scorer = CountingScorer()
    evaluate(open_collection(folder), scorer, options=options_of(1))
    assert scorer.joins == 4**2 + 3**2 + 5**2 + 6**2
    scorer = CountingScorer()
    evaluate(open_collection(folder), scorer, options=options_of(1, 2, "all"))
    assert scorer.joins == 18**2


def test_blank_shreds_are_dropped_and_counted(tmp_path: Path) -> None:
    shreds = draw_document(np.random.default_rng(0), 4)
    blank = np.full_like(shreds[0], 250)
    write_document(tmp_path / "D001", [blank, *shreds, blank])
    result = evaluate(open_collection(tmp_path), CountingScorer(), options=options_of(1))
    assert (result.shreds, result.blank, result["1"].mean.value) == (4, 2, 1.0)


def test_a_document_of_blank_shreds_is_refused(tmp_path: Path) -> None:
    write_document(tmp_path / "D001", [np.full((160, 30), 250, np.uint8)] * 3)
    with pytest.raises(InputError, match="D001"):
        evaluate(open_collection(tmp_path), CountingScorer(), options=options_of(1))


def test_a_killed_evaluation_goes_on_where_it_stopped(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    collection, options = open_collection(folder), options_of(1, "all")
    whole = evaluate(collection, CountingScorer(), options=options)
    with pytest.raises(KeyboardInterrupt):
        evaluate(collection, CountingScorer(fail_after=100), options=options, cache=cache)
    rest = CountingScorer()
    resumed = evaluate(collection, rest, options=options, cache=cache)
    assert 0 < rest.joins <= 18**2 - 100
    assert resumed.accuracy == whole.accuracy


def test_a_damaged_or_foreign_block_is_computed_again(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    collection = open_collection(folder)
    first = evaluate(collection, CountingScorer(), options=options_of(1), cache=cache)
    for file in cache.rglob("*.npz"):
        file.write_bytes(file.read_bytes()[:50])
    again = CountingScorer()
    assert evaluate(collection, again, options=options_of(1), cache=cache).accuracy == first.accuracy
    assert again.joins == 4**2 + 3**2 + 5**2 + 6**2
    other = CountingScorer(MarquesScorer(edge_options=EdgeOptions(2, 128)))
    evaluate(collection, other, options=options_of(1), cache=cache)
    assert other.joins == again.joins


def test_pages_are_measured_when_they_are_asked_for(folder: Path) -> None:
    options = EvaluationOptions(ks=("all",), arrangement=ArrangementOptions(pages=4))
    (instance,) = evaluate(open_collection(folder), CountingScorer(), options=options)["all"].instances
    assert instance.pages is not None
    assert (instance.pages.pages, instance.pages.documents) == (4, 4)


def test_the_json_has_the_documented_shape(folder: Path) -> None:
    (folder / "documents.json").write_text(json.dumps({"D001": {"kind": "memo"}, "D002": {"kind": "memo"}}))
    result = evaluate(
        open_collection(folder),
        CountingScorer(),
        options=options_of(1, "all"),
        executor=SerialExecutor(),
    )
    content = json.loads(to_json(result.to_dict()))
    single = content["accuracy"]["1"]
    assert single["mean"] == 1.0
    assert single["instances"][0].keys() >= {"documents", "shreds", "accuracy", "optimal"}
    assert content["accuracy"]["all"]["instances"][0]["shreds"] == 18
    assert list(content["seconds"]) == ["decode", "prepare", "encode", "score", "solve"]
    assert content["model"] is None
    assert content["kinds"] == {"memo": 1.0}
    assert content["settings"]["ks"] == [1, "all"]
    assert "numpy" in content["versions"]


def test_a_scorer_that_learned_leaves_the_name_and_hash_of_its_model(folder: Path) -> None:
    scorer = CountingScorer(model="towers-test")
    result = evaluate(open_collection(folder), scorer, options=options_of(1))
    assert result.to_dict()["model"] == {"name": "towers-test", "sha256": None}
    assert "model towers-test" in result.to_text()


def test_joins_with_probabilities_get_a_reliability_table(folder: Path) -> None:
    scorer = CountingScorer(calibration=Calibration(slope=0.1, intercept=0.0))
    result = evaluate(open_collection(folder), scorer, options=options_of(1))
    reliability = result["1"].reliability
    assert reliability is not None
    assert reliability.joins == 18 - 4
    assert {bin_.kept for bin_ in reliability.bins} == {1.0}
    assert result.to_dict()["accuracy"]["1"]["reliability"]["error"] == pytest.approx(reliability.error)


def test_the_table_names_every_k_and_every_document(folder: Path) -> None:
    text = evaluate(open_collection(folder), CountingScorer(), options=options_of(1, "all")).to_text()
    assert "4 documents, 18 shreds, 0 blank dropped; scorer marques" in text
    assert "100.0 ± 0.0" in text
    for name in ("D001", "D002", "D003", "D004"):
        assert f"{name}   100.0 %" in text


def test_progress_reaches_the_end_of_every_stage(folder: Path) -> None:
    seen: dict[str, tuple[int, int]] = {}
    evaluate(
        open_collection(folder),
        CountingScorer(),
        options=options_of(1, "all"),
        progress=lambda stage, done, total: seen.__setitem__(stage, (done, total)),
    )
    assert seen == {"reading": (4, 4), "scoring": (4, 4), "arranging": (5, 5)}


def test_ks_are_read_from_text() -> None:
    assert parse_ks("1, 5,all") == (1, 5, "all")
    with pytest.raises(SettingsError, match="1,x"):
        parse_ks("1,x")


@pytest.mark.parametrize("ks", [(), (1, 1), (0,)])
def test_ks_that_make_no_sense_are_refused(ks: tuple[int, ...]) -> None:
    with pytest.raises(SettingsError, match="k "):
        EvaluationOptions(ks=ks)


def test_more_documents_than_there_are_cannot_be_mixed(folder: Path) -> None:
    with pytest.raises(SettingsError, match="k = 9 needs 9 documents, there are 4"):
        evaluate(open_collection(folder), CountingScorer(), options=options_of(9))
