from __future__ import annotations

import io
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from hypothesis import HealthCheck, given, settings

from deshred.export.layouts import export_alto, export_hocr, export_page
from tests.export.hostile import texts
from tests.export.materials import WIDTH, make_material, make_readings

ALTO = "{http://www.loc.gov/standards/alto/ns-v4#}"
PAGE = "{http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15}"

SCHEMAS = (
    Path(__file__).parent / "schemas"
)  # published ones, unchanged; where they are from stands beside them


def list_words(material):  # type: ignore[no-untyped-def]
    return [
        (w.text, (w.box.left, w.box.top, w.box.right, w.box.bottom), w.confidence)
        for w in material.readings[0].words
    ]


def test_alto_gives_back_every_word_with_its_box_and_confidence() -> None:
    material = make_material(readings=make_readings(("Invoice 1850|]]> <b>&", "Dear")))
    root = Xml.fromstring(next(export_alto(material)).content)
    found = []
    for word in root.iter(f"{ALTO}String"):
        x, y, w, h = (int(word.attrib[side]) for side in ("HPOS", "VPOS", "WIDTH", "HEIGHT"))
        found.append((word.attrib["CONTENT"], (x, y, x + w, y + h), float(word.attrib["WC"])))
    assert found == list_words(material)


def test_page_gives_back_every_word_with_its_box_and_confidence() -> None:
    material = make_material(readings=make_readings(("Invoice 1850|]]> <b>&", "Dear")))
    root = Xml.fromstring(next(export_page(material)).content)
    found = []
    for word in root.iter(f"{PAGE}Word"):
        points = [tuple(map(int, p.split(","))) for p in word.find(f"{PAGE}Coords").attrib["points"].split()]
        told = word.find(f"{PAGE}TextEquiv")
        found.append((told.find(f"{PAGE}Unicode").text, (*points[0], *points[2]), float(told.attrib["conf"])))
    assert found == list_words(material)


def test_hocr_gives_back_every_word_with_its_box_and_confidence() -> None:
    material = make_material(readings=make_readings(("Invoice 1850|]]> <b>&", "Dear")))
    root = Xml.fromstring(next(export_hocr(material)).content.partition(b"\n")[2])
    found = []
    for word in root.iter("{http://www.w3.org/1999/xhtml}span"):
        if word.attrib["class"] == "ocrx_word":
            box, confidence = word.attrib["title"].split("; x_wconf ")
            found.append((word.text, tuple(map(int, box.split()[1:])), int(confidence) / 100))
    assert found == list_words(material)


def test_words_across_a_join_are_tagged_and_those_across_an_open_one_too() -> None:
    # three shreds of 60 px, letters of 10 px: the first word crosses the first join, the third the second
    material = make_material(readings=make_readings(("Invoice x abcdef", "Dear")))
    assert [len(material.crossed(0, word)) for word in material.readings[0].words] == [1, 0, 1]
    root = Xml.fromstring(next(export_alto(material)).content)
    assert [word.attrib.get("TAGREFS") for word in root.iter(f"{ALTO}String")] == ["seam", None, "seam open"]
    page = Xml.fromstring(next(export_page(material)).content)
    assert [word.attrib.get("custom") for word in page.iter(f"{PAGE}Word")] == [
        "joins {type:seam;}",
        None,
        "joins {type:seam open;}",
    ]
    spans = Xml.fromstring(next(export_hocr(material)).content.partition(b"\n")[2]).iter()
    words = [span for span in spans if span.attrib.get("class") == "ocrx_word"]
    assert [word.attrib.get("data-joins") for word in words] == ["seam", None, "seam open"]
    assert WIDTH == 60


@pytest.mark.parametrize("export", [export_alto, export_page, export_hocr])
def test_ids_are_unique_and_the_engine_is_told(export) -> None:  # type: ignore[no-untyped-def]
    content = next(export(make_material(readings=make_readings(("a b|c d", "Dear"))))).content
    root = Xml.fromstring(content.removeprefix(b"<!DOCTYPE html>\n"))
    ids = [value for item in root.iter() for name, value in item.attrib.items() if name in ("ID", "id")]
    assert len(ids) == len(set(ids)) > 4
    assert b"scripted" in content


def load_schema(name: str):  # type: ignore[no-untyped-def]
    etree = pytest.importorskip("lxml.etree", reason="lxml is not installed: pip install 'deshred[pdf]'")

    class Offline(etree.Resolver):
        def resolve(self, url, _id, context):  # type: ignore[no-untyped-def]
            return self.resolve_filename(str(SCHEMAS / "xlink.xsd"), context) if "xlink" in url else None

    parser = etree.XMLParser(no_network=True)
    parser.resolvers.add(Offline())
    return etree.XMLSchema(etree.parse(io.BytesIO((SCHEMAS / name).read_bytes()), parser))


@pytest.mark.parametrize("words", [("Invoice 1850 paid|in full", "Dear Sir"), None])
@pytest.mark.parametrize(
    ("export", "schema"), [(export_alto, "alto-4-3.xsd"), (export_page, "page-2019-07-15.xsd")]
)
def test_the_published_schema_accepts_it(export, schema: str, words) -> None:  # type: ignore[no-untyped-def]
    validator = load_schema(schema)
    etree = pytest.importorskip("lxml.etree")
    for file in export(make_material(readings=make_readings(words) if words else None)):
        validator.assertValid(etree.fromstring(file.content))


@pytest.mark.parametrize(
    ("export", "schema", "spoiled"),
    [(export_alto, "alto-4-3.xsd", b"WIDTH="), (export_page, "page-2019-07-15.xsd", b"points=")],
)
def test_the_published_schema_refuses_what_is_spoiled(export, schema: str, spoiled: bytes) -> None:  # type: ignore[no-untyped-def]
    validator = load_schema(schema)
    etree = pytest.importorskip("lxml.etree")
    content = next(export(make_material())).content
    assert not validator.validate(etree.fromstring(content.replace(spoiled, b"nonsense=")))


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=texts)
@pytest.mark.parametrize(
    ("export", "schema"), [(export_alto, "alto-4-3.xsd"), (export_page, "page-2019-07-15.xsd")]
)
def test_the_published_schema_accepts_hostile_words(export, schema: str, text: str) -> None:  # type: ignore[no-untyped-def]
    validator = load_schema(schema)
    etree = pytest.importorskip("lxml.etree")
    for file in export(make_material(readings=make_readings((text, "Dear")))):
        validator.assertValid(etree.fromstring(file.content))
