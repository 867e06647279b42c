from __future__ import annotations

import io
from dataclasses import replace
from datetime import date

import pytest

from deshred.elements import Constraints
from deshred.export.casefiles import CaseFacts
from deshred.export.casereport import export_report
from deshred.export.material import Custody
from tests.export.materials import make_material, make_readings, make_reconstruction
from tests.export.reports import read_report

pikepdf = pytest.importorskip("pikepdf", reason="pikepdf is not installed: pip install 'deshred[pdf]'")
pytest.importorskip("reportlab", reason="reportlab is not installed: pip install 'deshred[pdf]'")

FACTS = CaseFacts("2026-0142", "AZ 12 Js 345/26", ("Ass. 3.1",), ("Lab & Söhne",), received=date(2026, 3, 2))


def test_the_report_tells_who_what_and_how_sure() -> None:
    custody = Custody("ab" * 32, ("2026-03-02 began", "2026-03-02 finished"), b"{}\n")
    text = read_report(make_material(facts=FACTS, custody=custody, terms=("invoice", "nothing")))
    for told in (
        "2026-0142",
        "AZ 12 Js 345/26",
        "Lab & Söhne",
        "2026-03-02",
        "Page 1 of 2: evidence copy",
        "proven optimal",
        "probability 0.4000",
        "ab" * 32,
        "invoice: 1 hit",
        "nothing: 0 hits",
        "not a likelihood ratio",
        "page 1 of",
        "End of the report.",
    ):
        assert told in text
    assert "Examiner ____" in text  # nobody is made up


def test_the_report_is_pdf_a_3b_with_its_record_attached() -> None:
    from pikepdf.pdfa import validate_written

    content = next(export_report(make_material(custody=Custody("0" * 64, (), b"{}\n")))).content
    assert validate_written(io.BytesIO(content), "3b").passed
    with pikepdf.open(io.BytesIO(content)) as document:
        assert sorted(document.attachments) == ["joins.csv", "journal.jsonl", "record.json"]


def test_what_a_person_decided_is_told_as_such() -> None:
    known = Constraints(required=frozenset({("a", "b")}), first=frozenset({"d"}))
    text = read_report(make_material(replace(make_reconstruction(), constraints=known)))
    assert "required: a and b; first: d" in text
    assert "a person" in text
    assert "the machine" in text


def test_the_report_tells_where_pages_end_and_how_the_text_reads_across_joins() -> None:
    lines = "|".join(["Invoice x abcdef"] * 3)
    text = read_report(make_material(readings=make_readings((lines, "Dear"), 0.5)))
    assert "Breaks between pages After Before Probability c d 0.9700" in text
    assert "? b c open 0.4000 +3 px broken the machine" in text
    assert "The text across it reads broken (3 words)." in text
