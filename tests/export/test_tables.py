"""Tables tell what the record tells, and a spreadsheet never runs what is in them."""

from __future__ import annotations

import csv
import io

from deshred.export.records import describe
from deshred.export.tables import export_csv
from tests.export.materials import make_material, make_readings, make_reconstruction


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


def test_no_cell_of_a_hostile_name_is_a_formula() -> None:
    made = make_reconstruction((("=cmd()", "@b", "+c"), ("-d", "e")))
    for file in export_csv(make_material(made)):
        rows = csv.reader(io.StringIO(file.content.decode("utf-8-sig"), newline=""))
        cells = [cell for row in rows for cell in row if not cell.lstrip("-").replace(".", "").isdecimal()]
        assert cells
        assert not any(cell.startswith(("=", "@", "+", "-")) for cell in cells)


def test_a_word_says_how_many_joins_it_crosses_and_whether_one_is_open() -> None:
    material = make_material(readings=make_readings(("Invoice x abcdef", "Dear")))
    words = {file.name: file.content for file in export_csv(material)}["csv/words.csv"]
    rows = csv.DictReader(io.StringIO(words.decode("utf-8-sig")))
    told = [(row["word"], row["joins"], row["open_join"]) for row in rows]
    assert told[:3] == [("Invoice", "1", "0"), ("x", "0", "0"), ("abcdef", "1", "1")]


def test_pages_that_were_not_read_have_no_table_of_words() -> None:
    names = [file.name for file in export_csv(make_material(readings=None))]
    assert names == ["csv/joins.csv", "csv/shreds.csv"]
