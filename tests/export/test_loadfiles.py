from __future__ import annotations

import csv
import io

import pytest

from deshred.errors import SettingsError
from deshred.export.casefiles import CaseFacts, LoadfileForm
from deshred.export.loadfiles import export_loadfile
from deshred.export.material import ExportOptions
from tests.export.materials import make_material


def test_a_load_file_reads_back_with_one_row_per_page() -> None:
    material = make_material(facts=CaseFacts(case="AZ 12"), start=7, custodian="Doe")
    files = {file.name: file.content for file in export_loadfile(material)}
    rows = [
        [field.strip("\xfe") for field in line.split("\x14")]
        for line in files["loadfile/loadfile.dat"].decode("utf-8-sig").splitlines()
    ]
    first = dict(zip(rows[0], rows[1], strict=True))
    assert len(rows) == 3
    assert first["BEGBATES"] == first["ENDBATES"] == "DS0000007"
    assert (first["SHREDS"], first["OPENJOINS"], first["LOWESTPROBABILITY"]) == ("3", "1", "0.400000")
    assert (first["CASE"], first["CUSTODIAN"], first["CLEARWORDS"]) == ("AZ 12", "Doe", "1.0000")
    for row in rows[1:]:
        entry = dict(zip(rows[0], row, strict=True))
        assert f"loadfile/{entry['IMAGEPATH']}".replace("\\", "/") in files
        assert f"loadfile/{entry['TEXTPATH']}".replace("\\", "/") in files


def test_fields_have_the_names_and_signs_that_the_receiving_side_wants() -> None:
    names = {"BEGBATES": "DOCID", "SHREDS": "", "OPENJOINS": ""}
    form = LoadfileForm(separator=",", quote='"', volume="DISK7", fields=names)
    material = make_material(facts=CaseFacts(case='A "quoted", case', loadfile=form))
    files = {file.name: file.content for file in export_loadfile(material)}
    table = files["loadfile/loadfile.dat"].decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(table, newline="")))
    assert [row["DOCID"] for row in rows] == ["DS0000001", "DS0000002"]
    assert not {"BEGBATES", "SHREDS", "OPENJOINS"} & rows[0].keys()
    assert rows[0]["CASE"] == "A ?quoted?, case"
    assert files["loadfile/loadfile.opt"].startswith(b"DS0000001,DISK7,")


def test_the_image_list_begins_every_document() -> None:
    files = {
        file.name: file.content.decode("utf-8", "ignore")
        for file in export_loadfile(make_material(images="bitonal"))
    }
    assert files["loadfile/loadfile.opt"].splitlines() == [
        "DS0000001,VOL001,IMAGES\\DS0000001.tif,Y,,,1",
        "DS0000002,VOL001,IMAGES\\DS0000002.tif,Y,,,1",
    ]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"prefix": "../x"}, "prefix may hold only"),
        ({"prefix": ""}, "prefix may hold only"),
        ({"digits": 0}, "1 to 12 digits"),
        ({"start": -1}, "start at 0 or above"),
        ({"base_url": "x"}, "base_url must begin with"),
    ],
)
def test_numbers_and_addresses_that_make_no_sense_are_refused(wrong: dict[str, object], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        ExportOptions(**wrong)  # type: ignore[arg-type]
