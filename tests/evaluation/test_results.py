"""What an evaluation tells adds up: means, counts, kinds, and the same in JSON and in text."""

from __future__ import annotations

import json

import pytest

from deshred.compatibility.contract import ScorerCard
from deshred.evaluation.results import EvaluationResult, InstanceResult, KResult


def instance(*documents: str, accuracy: float, whole: int = 0, optimal: bool = True) -> InstanceResult:
    return InstanceResult(documents, 20, accuracy, whole, optimal, 0.0)


@pytest.fixture
def result() -> EvaluationResult:
    single = KResult(
        "1",
        (
            instance("D002", accuracy=0.5),
            instance("D001", accuracy=1.0, whole=1),
            instance("D003", accuracy=0.9, optimal=False),
        ),
    )
    mixed = KResult("all", (instance("D001", "D002", "D003", accuracy=0.75, whole=1),))
    kinds = {"D002": "letter", "D001": "letter", "D003": None}
    card = ScorerCard("towers", "f00", "towers-default", "ab" * 32)
    return EvaluationResult("drawn", kinds, 60, 4, (single, mixed), {"score": 2.0, "solve": 1.5}, card, {})


def test_means_and_counts_are_those_of_the_instances(result: EvaluationResult) -> None:
    assert result[1].mean.value == pytest.approx(0.8)
    assert (result[1].whole, result[1].documents, result[1].optimal) == (1, 3, 2)
    assert (result["all"].mean.value, result["all"].documents) == (0.75, 3)
    assert result["all"].mean.margin is None


def test_kinds_are_averaged_at_one_document_where_they_are_known(result: EvaluationResult) -> None:
    assert {kind: mean.value for kind, mean in result.by_kind().items()} == {"letter": 0.75}


def test_json_holds_every_number_and_nothing_that_is_not_known(result: EvaluationResult) -> None:
    told = json.loads(json.dumps(result.to_dict()))
    assert told["accuracy"]["1"]["mean"] == pytest.approx(0.8)
    assert [one["accuracy"] for one in told["accuracy"]["1"]["instances"]] == [0.5, 1.0, 0.9]
    assert "pages" not in told["accuracy"]["1"]["instances"][0]
    assert "reliability" not in told["accuracy"]["1"]
    assert told["documents"] == ["D002", "D001", "D003"]  # the sequence that was used
    assert told["model"] == {"name": "towers-default", "sha256": "ab" * 32}
    assert told["versions"]["python"]


def test_text_has_a_row_for_every_k_and_every_document_in_order(result: EvaluationResult) -> None:
    lines = result.to_text().splitlines()
    assert lines[0] == "drawn: 3 documents, 60 shreds, 4 blank dropped; scorer towers, model towers-default"
    rows = [line.split() for line in lines]
    assert next(row for row in rows if row[:1] == ["1"])[:4] == ["1", "3", "80.0", "±"]
    assert [row[0] for row in rows if row and row[0].startswith("D0")] == ["D001", "D002", "D003"]
    assert lines[-1] == "3.5 s: score 2.0, solve 1.5"
