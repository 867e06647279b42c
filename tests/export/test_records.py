from __future__ import annotations

import json

import pytest

from deshred.export.encoding import hash_pixels
from deshred.export.records import export_json
from tests.export.materials import make_material, make_readings, make_reconstruction


def test_the_record_holds_the_answer_the_words_and_the_joins_they_cross() -> None:
    material = make_material(readings=make_readings(("Invoice x abcdef", "Dear")))
    record = json.loads(next(export_json(material)).content)
    assert [page["pixels_sha256"] for page in record["pages"]] == [
        hash_pixels(page) for page in material.pages
    ]
    assert [join["verdict"] for join in record["pages"][0]["joins"]] == ["sure", "open"]
    words = record["pages"][0]["reading"]["lines"][0]["words"]
    assert [word["joins"] for word in words] == [[["a", "b"]], [], [["b", "c"]]]
    assert record["made"] == "2026-03-02T09:30:00+00:00"


def test_no_path_of_anybody_is_in_the_record() -> None:
    content = next(export_json(make_material())).content.decode()
    assert "somebody" not in content
    assert '"name": "a.png"' in content


@pytest.mark.parametrize("readings", [None, make_readings(("Invoice x abcdef", "Dear"))])
def test_the_record_keeps_to_its_schema(readings: object) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    made = make_reconstruction(probabilities=(None, 0.4, 1.0))
    object.__setattr__(made.arrangement.joins[0], "score", float("-inf"))
    record, schema = export_json(make_material(made, readings=readings))
    jsonschema.Draft202012Validator.check_schema(json.loads(schema.content))
    jsonschema.validate(json.loads(record.content), json.loads(schema.content))
