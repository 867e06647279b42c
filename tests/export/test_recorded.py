"""The record of a case: what was written comes back, and whatever else stands there is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from deshred.cases import to_json
from deshred.errors import InputError
from deshred.export.recorded import RecordedFile, read_inputs, read_recorded
from deshred.export.results import describe
from tests.export.materials import make_material

MADE = make_material().reconstruction
CONTENT: dict[str, Any] = json.loads(to_json(describe(MADE)))
IDS = MADE.shreds.ids


def test_what_was_described_comes_back() -> None:
    found = read_recorded(CONTENT, IDS, "arrangement.json")
    assert found.arrangement.pages == MADE.arrangement.pages
    assert found.arrangement.joins == MADE.arrangement.joins
    assert found.blank == tuple(shred.id for shred in MADE.blank)
    assert (found.constraints, found.scorer, found.settings) == (MADE.constraints, MADE.scorer, MADE.settings)
    assert dict(found.seconds) == dict(MADE.seconds)
    assert {one.sha256 for one in found.inputs} == {source.sha256 for source in MADE.sources}


Change = Callable[[dict[str, Any]], object]
JOIN = ("pages", 0, "joins", 0)


def put(*way: object) -> Change:
    """Put a value, which comes last, at the end of a way."""

    def change(content: Any) -> None:
        *steps, key, value = way
        for step in steps:
            content = content[step]
        content[key] = value

    return change


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (put("pages", {}), "pages is not a list"),
        (put("pages", 0, "shreds", []), "a page without shreds"),
        (put("pages", 0, []), "a table is missing"),
        (lambda content: content["pages"].pop(), "do not have the same shreds"),
        (put("pages", 0, "shreds", 0, "id", 7), "id is not text"),
        (put("pages", 0, "shreds", 0, "offset", 1.5), "offset is not a whole number"),
        (put("pages", 0, "shreds", 0, "offset", True), "offset is not a whole number"),
        (put("pages", 0, "shreds", 0, "offset", -(10**9)), "moved by -1000000000 px"),
        (put("pages", 0, "shreds", 0, "turned", 1), "neither true nor false"),
        (put(*JOIN, "left", "nobody"), "joins that are not on the page"),
        (put(*JOIN, "probability", 1.5), "probability is not a probability"),
        (put(*JOIN, "price", "high"), "price is not a number"),
        (put(*JOIN, "score", float("nan")), "score is not a number"),
        (put("pages", 0, "joins", []), "joins that are not on the page"),
        (lambda content: content.pop("cost"), "cost is missing"),
        (put("blank", [{"id": IDS[0]}]), "a shred is there twice"),
        (put("breaks", [{"after": "x", "before": IDS[0]}]), "a page break of shreds that do not exist"),
        (put("scorer", "command", "rm"), "more than a scorer has"),
        (put("seconds", "solve", None), "solve is not a number"),
        (put("inputs", [{"path": "a"}]), "sha256 is missing"),
    ],
)
def test_a_record_of_another_kind_is_refused_and_named(change: Change, told: str) -> None:
    content = deepcopy(CONTENT)
    change(content)
    with pytest.raises(InputError, match=rf"^arrangement\.json: the file is damaged \(.*{told}.*\)\. Run"):
        read_recorded(content, IDS, "arrangement.json")


@pytest.mark.parametrize(
    "key", ["pages", "breaks", "blank", "constraints", "scorer", "settings", "seconds", "inputs"]
)
def test_a_part_that_is_missing_is_named(key: str) -> None:
    content = {name: value for name, value in CONTENT.items() if name != key}
    with pytest.raises(InputError, match=rf"{key} is missing"):
        read_recorded(content, IDS, "arrangement.json")


def test_a_bound_that_json_could_not_write_is_none_at_all() -> None:
    found = read_recorded({**CONTENT, "bound": None}, IDS, "x")
    assert found.arrangement.bound == float("-inf")
    assert not found.arrangement.is_optimal


def test_the_files_that_were_read_are_listed_in_their_order() -> None:
    listed = [{"path": "../b.png", "sha256": "1"}, {"path": "a.png", "sha256": "2"}]
    assert read_inputs({"files": listed}, "x") == (RecordedFile("../b.png", "1"), RecordedFile("a.png", "2"))
    with pytest.raises(InputError, match="files is missing"):
        read_inputs({}, "inputs.json")
