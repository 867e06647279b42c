"""A manifest names files that are there, and words where they stand."""

from __future__ import annotations

import json

from deshred.export.iiif import export_iiif
from tests.export.materials import make_material, make_readings


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


def test_pages_that_were_not_read_have_no_annotations() -> None:
    files = {file.name: file.content for file in export_iiif(make_material(readings=None))}
    assert not any("words" in name for name in files)
    assert all("annotations" not in canvas for canvas in json.loads(files["iiif/manifest.json"])["items"])


def test_doubtful_words_across_an_open_join_are_marked_when_asked_for() -> None:
    readings = make_readings(("Invoice x abcdef", "Dear"), 0.5)
    material = make_material(readings=readings, mark=True)
    words = json.loads(
        {file.name: file.content for file in export_iiif(material)}["iiif/page-001-evidence-words.json"]
    )
    assert words["items"][0]["body"]["value"] == "Invoice x ⟨abcdef⟩"
