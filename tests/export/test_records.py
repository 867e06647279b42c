from __future__ import annotations

import csv
import io
import json

import pytest

from deshred.export.iiif import export_iiif
from deshred.export.pictures import hash_pixels
from deshred.export.records import describe, export_json
from deshred.export.tables import export_csv
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


def test_the_tables_tell_what_the_record_tells() -> None:
    material = make_material()
    record = describe(material)
    files = {file.name: file.content for file in export_csv(material)}
    joins = list(csv.DictReader(io.StringIO(files["csv/joins.csv"].decode("utf-8-sig"))))
    wanted = [
        (join["left"], join["right"], join["verdict"]) for page in record["pages"] for join in page["joins"]
    ]
    assert [(row["left"], row["right"], row["verdict"]) for row in joins] == wanted
    shreds = list(csv.DictReader(io.StringIO(files["csv/shreds.csv"].decode("utf-8-sig"))))
    assert [row["shred"] for row in shreds if row["blank"] == "1"] == ["x", "y"]
    assert len(list(csv.DictReader(io.StringIO(files["csv/words.csv"].decode("utf-8-sig"))))) == 5


def test_every_picture_and_list_of_a_manifest_is_a_file_beside_it() -> None:
    material = make_material(base_url="https://example.org/case/")
    files = {file.name: file.content for file in export_iiif(material)}
    manifest = json.loads(files["iiif/manifest.json"])
    for canvas in manifest["items"]:
        body = canvas["items"][0]["items"][0]["body"]
        assert body["id"].replace("https://example.org/case/", "iiif/") in files
        assert (body["width"], body["height"]) == (canvas["width"], canvas["height"])
        words = json.loads(
            files[canvas["annotations"][0]["id"].replace("https://example.org/case/", "iiif/")]
        )
        assert words["items"][0]["target"].startswith(f"{canvas['id']}#xywh=10,30,")


@pytest.mark.parametrize("readings", [None, make_readings(("Invoice x abcdef", "Dear"))])
def test_the_record_keeps_to_its_schema(readings: object) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    made = make_reconstruction(probabilities=(None, 0.4, 1.0))
    object.__setattr__(made.arrangement.joins[0], "score", float("-inf"))
    record, schema = export_json(make_material(made, readings=readings))
    jsonschema.Draft202012Validator.check_schema(json.loads(schema.content))
    jsonschema.validate(json.loads(record.content), json.loads(schema.content))
