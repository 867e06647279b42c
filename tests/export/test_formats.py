from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deshred.errors import SettingsError
from deshred.export.bags import Digest, build_tags
from deshred.export.casefiles import CaseFacts
from deshred.export.formats import EXPORTERS, check_formats
from deshred.export.material import FORMATS, Custody, File, Material
from deshred.export.report import render_report
from tests.export.hostile import PIECES, names, texts
from tests.export.materials import make_material, make_readings, make_reconstruction, write_first
from tests.export.reports import Reader
from tests.export.verapdf import judge, why_absent

PDF = pytest.importorskip("pikepdf", reason="pikepdf is not installed: pip install 'deshred[pdf]'")


needs_verapdf = pytest.mark.skipif(bool(why_absent()), reason=why_absent() or "veraPDF is there")


def make_pdf(name: str = "pdf", **changes) -> bytes:  # type: ignore[no-untyped-def]
    return write_first(EXPORTERS[name], make_material(**changes))


@st.composite
def hostile_materials(draw: st.DrawFn) -> Material:
    a, b, c = draw(st.lists(names, min_size=3, max_size=3, unique=True))
    facts = CaseFacts(number=draw(names), case=draw(names), laboratory=(draw(names),), notes=draw(names))
    made = make_reconstruction(((a, b),), (0.3,), (c,))
    readings = make_readings((draw(texts),))
    material = make_material(made, readings=readings, facts=facts, command=draw(names), mark=True)
    options = replace(material.options, custodian=draw(names), operator=draw(names))
    return replace(material, options=options, custody=Custody("0" * 64, (draw(names),)))


def check(file: File) -> None:
    """Everything that is a format of text can be read again by somebody else's reader."""
    assert re.fullmatch(r"[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*", file.name)
    ending = file.name.rpartition(".")[2]
    if ending in ("xml", "hocr"):
        Xml.fromstring(file.content)
    elif ending == "json":
        json.loads(file.content)
    elif ending == "csv":
        rows = list(csv.reader(io.StringIO(file.content.decode("utf-8-sig"), newline=""), strict=True))
        assert len({len(row) for row in rows}) == 1
        for cell in (cell for row in rows[1:] for cell in row):
            assert cell.replace(".", "").lstrip("-").isdigit() or not cell.startswith(("=", "+", "-", "@"))
    elif ending == "dat":
        lines = file.content.decode("utf-8-sig").split("\r\n")
        assert lines.pop() == ""
        assert {line.count("\x14") for line in lines} == {12}
        assert {line.count("\xfe") for line in lines} == {26}
    elif ending == "opt":
        assert all(line.count(",") == 6 for line in file.content.decode().splitlines())
    elif ending == "txt":
        file.content.decode()
    elif ending == "html":
        assert not Reader(file.content.decode()).find("script")
    elif ending == "pdf":
        PDF.open(io.BytesIO(file.content)).close()


@pytest.mark.parametrize("name", EXPORTERS)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(material=hostile_materials())
def test_hostile_names_pass_through_every_format_unharmed(name: str, material: Material) -> None:
    for file in EXPORTERS[name](material):
        check(file)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(material=hostile_materials())
def test_hostile_names_pass_through_the_report_and_the_bag_unharmed(material: Material) -> None:
    html = render_report(
        material.reconstruction,
        provenance={material.command: material.command},
        title=material.facts.case,
        command=material.command,
        readings=material.readings or (),
    )
    html.encode()
    assert not Reader(html).find("script")
    info = build_tags({"data/a.png": Digest.of(b"x")}, material)[1].content.decode()
    assert all(re.match(r"[A-Z][A-Za-z-]+: .", line) for line in info.splitlines())


@needs_verapdf
@pytest.mark.parametrize("flavor", ["2b", "3b"])
def test_verapdf_approves_every_pdf(flavor: str, tmp_path: Path) -> None:
    hostile = make_readings((" ".join(PIECES).encode("utf-8", "ignore").decode().replace("\n", " "), "Dear"))
    written = [
        *(make_pdf(images=images, pdfa=flavor) for images in ("lossless", "jpeg", "bitonal")),
        make_pdf(readings=None, pdfa=flavor),
        make_pdf(readings=hostile, facts=CaseFacts(case="".join(PIECES)), pdfa=flavor, copy="reading"),
    ]
    if flavor == "3b":
        custody = Custody("0" * 64, ("".join(PIECES),), b"{}\n")
        facts = CaseFacts(number="1", case="AZ 1", notes="".join(PIECES))
        written += [
            make_pdf("report", custody=custody, facts=facts, terms=("invoice",)),
            make_pdf("report", readings=None),
        ]
    files = [tmp_path / f"{number}.pdf" for number in range(len(written))]
    for file, content in zip(files, written, strict=True):
        file.write_bytes(content)
    for verdict in judge(flavor, files):
        assert verdict.failures == ()
        assert verdict.checks > 300


@needs_verapdf
def test_verapdf_refuses_what_is_no_pdf_a(tmp_path: Path) -> None:
    """The judge is awake: 2b allows no attachment, and colors must be defined."""
    (tmp_path / "a.pdf").write_bytes(make_pdf(pdfa="3b"))
    with PDF.open(io.BytesIO(make_pdf())) as document:
        del document.Root.OutputIntents
        document.save(tmp_path / "b.pdf")
    attached, colored = judge("2b", [tmp_path / "a.pdf", tmp_path / "b.pdf"])
    assert any(failure.startswith("6.8-5") for failure in attached.failures)
    assert any(failure.startswith("6.2.4.3") for failure in colored.failures)


@pytest.mark.parametrize("name", EXPORTERS)
def test_the_same_material_makes_the_same_bytes(name: str) -> None:
    one, two = ([(file.name, file.content) for file in EXPORTERS[name](make_material())] for _ in range(2))
    assert one == two
    assert one


@pytest.mark.parametrize("name", sorted(set(EXPORTERS) - {"text", "alto", "page", "hocr"}))
def test_what_needs_no_words_is_made_without_them(name: str) -> None:
    for file in EXPORTERS[name](make_material(readings=None)):
        check(file)


def test_every_format_but_the_bag_has_an_exporter() -> None:
    assert set(EXPORTERS) | {"bag"} == set(FORMATS)


def test_formats_are_checked_and_each_is_made_once() -> None:
    assert check_formats(("csv", "pdf", "csv")) == ("pdf", "csv")
    with pytest.raises(SettingsError, match="there is no format 'docx'"):
        check_formats(("pdf", "docx"))
    with pytest.raises(SettingsError, match="no format was given"):
        check_formats(())


def test_every_name_of_a_page_says_which_copy_it_is() -> None:
    for name in ("png", "tiff", "alto", "page", "hocr", "text", "pdf"):
        for file in EXPORTERS[name](make_material()):
            assert "evidence" in file.name
