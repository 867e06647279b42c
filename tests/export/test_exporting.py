from __future__ import annotations

import json
import shutil
import subprocess
import sys
import warnings
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from deshred.errors import (
    InputError,
    IntegrityError,
    MismatchError,
    MissingDependencyError,
    OutputError,
    SettingsError,
)
from deshred.export.bags import seal
from deshred.export.casefiles import CaseFacts
from deshred.export.exporting import Delivery, export, export_searchable_pdf
from deshred.export.finding import SearchResult, save_cutouts, search
from deshred.export.material import FORMATS, ExportOptions
from deshred.export.results import reconstruct_into
from deshred.export.verification import verify
from deshred.imaging.scans import read_scans
from deshred.reading import ReadingOptions
from tests.conftest import SavedPile
from tests.export.materials import MADE
from tests.reading.engines import has_engine, needs_tesseract

NOT_READ = ReadingOptions(engine="none")
WORDLESS = [name for name in FORMATS if name not in ("text", "alto", "page", "hocr", "pdf", "report")]


@pytest.fixture(scope="module")
def case(saved_pile: SavedPile, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished case of one page."""
    folder = tmp_path_factory.mktemp("cases") / "case"
    reconstruct_into(folder, [saved_pile.folder])
    return folder


@pytest.fixture
def sealed(case: Path, tmp_path: Path) -> Delivery:
    """A package with pictures, tables and the record."""
    return export(case, tmp_path / "out", formats=["png", "csv", "json", "bag"], reading=NOT_READ, made=MADE)


def test_the_core_writes_its_formats_without_any_extra(case: Path, tmp_path: Path) -> None:
    done = export(case, tmp_path / "out", formats=WORDLESS, reading=NOT_READ)
    assert done.summary() == "1 page, not read: no engine was asked for"
    assert {name.split("/")[2] for name in done.files if name.startswith("bag/data/")} == {
        "tiff",
        "png",
        "record.json",
        "record.schema.json",
        "csv",
        "loadfile",
        "report-evidence.html",
        "iiif",
    }
    for name in done.files:
        assert (tmp_path / "out" / name).is_file()


def test_importing_the_room_loads_no_extra() -> None:
    script = "import sys, deshred.export.exporting\nprint(*{n.partition('.')[0] for n in sys.modules})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"pikepdf", "reportlab", "tesserocr", "rapidocr", "fontTools"} & set(done.stdout.split())


def test_the_library_of_congress_accepts_the_package(sealed: Delivery) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bagit = pytest.importorskip("bagit", reason="bagit is not installed")
        bag = bagit.Bag(str(sealed.folder / "bag"))
        assert bag.validate()
        (sealed.folder / "bag/data/record.json").write_bytes(b"{}")
        with pytest.raises(bagit.BagValidationError):
            bag.validate()


def test_what_was_written_verifies_and_the_seal_is_the_one_told(sealed: Delivery) -> None:
    found = verify(sealed.folder, head=sealed.journal_head, sealed=sealed.seal)
    assert found.is_sound, found.to_text()
    assert sealed.seal == seal(sealed.folder)
    assert verify(sealed.folder / "bag", sealed=sealed.seal).is_sound
    found.require()


def change_byte(folder: Path) -> None:
    file = folder / "bag/data/csv/joins.csv"
    content = bytearray(file.read_bytes())
    content[-5] ^= 1
    file.write_bytes(content)


def add_file(folder: Path) -> None:
    (folder / "bag/data/png/page-002-evidence.png").write_bytes(b"more")


def remove_file(folder: Path) -> None:
    (folder / "bag/data/png/page-001-evidence.png").unlink()


def rename_file(folder: Path) -> None:
    file = folder / "bag/data/png/page-001-evidence.png"
    file.rename(file.with_name("page-007-evidence.png"))


def edit_list(folder: Path) -> None:
    file = folder / "bag/manifest-sha256.txt"
    file.write_text(file.read_text().replace("page-001", "page-009"))


def drop_from_list(folder: Path) -> None:
    file = folder / "bag/manifest-sha256.txt"
    file.write_text("".join(line for line in file.read_text().splitlines(True) if "joins" not in line))


def edit_journal(folder: Path) -> None:
    file = folder / "journal.jsonl"
    file.write_text(file.read_text().replace('"event": "began"', '"event": "begun"'))


def cut_journal(folder: Path) -> None:
    file = folder / "journal.jsonl"
    file.write_text("".join(file.read_text().splitlines(True)[:-1]))


def empty_journal(folder: Path) -> None:
    (folder / "journal.jsonl").write_text("")


def replace_and_list_anew(folder: Path) -> None:
    """Somebody who knows what they do: all lists of the package fit again."""
    import hashlib

    bag = folder / "bag"
    (bag / "data/record.json").write_bytes(b'{"pages": [], "inputs": []}')
    for listing, below in (("manifest-sha256.txt", "data"), ("tagmanifest-sha256.txt", "")):
        lines = (bag / listing).read_text().splitlines()
        names = [line.split("  ")[1] for line in lines]
        assert below in names[0]
        told = [f"{hashlib.sha256((bag / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
        (bag / listing).write_text("".join(told))


@pytest.mark.parametrize(
    ("tamper", "named"),
    [
        (change_byte, "joins.csv has changed"),
        (add_file, "data/png/page-002-evidence.png is not listed"),
        (remove_file, "data/png/page-001-evidence.png is missing"),
        (rename_file, "data/png/page-007-evidence.png is not listed"),
        (edit_list, "manifest-sha256.txt has changed"),
        (drop_from_list, "data/csv/joins.csv is not listed"),
        (edit_journal, "journal: line 2: does not follow from the line before"),
        (cut_journal, "the journal was cut or rewritten"),
        (empty_journal, "journal: it is empty or gone"),
        (replace_and_list_anew, "seal: is "),
    ],
)
def test_every_tampering_is_found_and_named(sealed: Delivery, tamper, named: str) -> None:  # type: ignore[no-untyped-def]
    tamper(sealed.folder)
    found = verify(sealed.folder, head=sealed.journal_head, sealed=sealed.seal)
    assert not found.is_sound
    assert named in found.to_text()
    with pytest.raises(IntegrityError):
        found.require()
    json.dumps(found.to_dict())


def test_a_list_that_leads_out_of_the_package_finds_nothing(sealed: Delivery, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"x")
    manifest = sealed.folder / "bag/manifest-sha256.txt"
    manifest.write_text(manifest.read_text() + f"{'0' * 64}  data/../../../secret\n")
    assert "data/../../../secret is missing" in verify(sealed.folder).to_text()


def test_a_case_is_verified_like_an_export(case: Path, tmp_path: Path) -> None:
    copied = tmp_path / "case"
    shutil.copytree(case, copied)
    assert verify(copied).is_sound
    (copied / "report.html").write_text("nothing")
    assert "report.html has changed" in verify(copied).to_text()


def test_the_scans_can_be_compared_with_the_record(sealed: Delivery, saved_pile: SavedPile) -> None:
    assert verify(sealed.folder, inputs=[saved_pile.folder]).is_sound
    found = verify(sealed.folder, inputs=[sealed.folder / "bag"])
    assert "is not among them" in found.to_text()


def test_a_page_that_is_not_there_is_told_before_anything_is_written(case: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="there is no page 2: the case has pages 1 to 1"):
        export(case, tmp_path / "out", formats=["png"], options=ExportOptions(pages=(1, 2)))


def test_a_new_run_gives_the_same_again(sealed: Delivery, case: Path, saved_pile: SavedPile) -> None:
    for found in (
        verify(case, repeat=True),
        verify(sealed.folder / "bag", inputs=[saved_pile.folder], repeat=True),
    ):
        assert found.is_sound, found.to_text()
        assert [one.check for one in found.findings if "new run" in one.check] == [
            "order of a new run",
            "offsets of a new run",
            "pixels of a new run",
        ]


def test_what_a_new_run_says_differently_is_named(sealed: Delivery, saved_pile: SavedPile) -> None:
    file = sealed.folder / "bag/data/record.json"
    record = json.loads(file.read_text())
    record["pages"][0]["shreds"].reverse()
    record["pages"][0]["pixels_sha256"] = "0" * 64
    file.write_text(json.dumps(record))
    found = verify(sealed.folder, inputs=[saved_pile.folder], repeat=True)
    failed = {one.check: one.detail for one in found.findings if not one.passed}
    assert failed["order of a new run"] == failed["pixels of a new run"] == "different on page 1"


def test_a_run_is_not_repeated_without_its_scans(sealed: Delivery) -> None:
    with pytest.raises(MismatchError, match="Give their folder with --inputs"):
        verify(sealed.folder, repeat=True)


def test_a_folder_without_journal_and_package_is_no_case(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="neither a journal nor a package"):
        verify(tmp_path)


def test_a_package_holds_the_original_scans_when_asked_for(case: Path, tmp_path: Path) -> None:
    options = ExportOptions(with_inputs=True)
    done = export(case, tmp_path / "out", formats=["json", "bag"], options=options, reading=NOT_READ)
    copies = [name for name in done.files if name.startswith("bag/data/inputs/")]
    assert len(copies) == 9
    assert verify(tmp_path / "out", sealed=done.seal, inputs=[tmp_path / "out/bag/data/inputs"]).is_sound


def test_nothing_of_anybody_else_is_overwritten(case: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "pages-evidence.pdf").write_text("mine")
    with pytest.raises(OutputError, match="did not write"):
        export(case, tmp_path / "mine", formats=["png"], reading=NOT_READ)
    with pytest.raises(OutputError):
        export(case, case, formats=["png"], reading=NOT_READ, force=True)
    assert (tmp_path / "mine" / "pages-evidence.pdf").read_text() == "mine"


def test_a_finished_export_is_replaced_only_by_force(case: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    export(case, out, formats=["png"], reading=NOT_READ)
    with pytest.raises(OutputError, match="already holds the results"):
        export(case, out, formats=["csv"], reading=NOT_READ)
    export(case, out, formats=["csv"], reading=NOT_READ, force=True)
    assert not (out / "png").exists()
    assert verify(out).is_sound


def test_the_same_case_and_date_make_the_same_bytes(case: Path, tmp_path: Path) -> None:
    formats = ["png", "tiff", "csv", "loadfile", "iiif", "json", "bag"]
    one, two = (
        export(case, tmp_path / name, formats=formats, reading=NOT_READ, made=MADE) for name in ("one", "two")
    )
    assert one.files == two.files
    assert one.seal == two.seal


KILLED = """
import os, sys
from deshred.export import exporting
from deshred.reading import ReadingOptions
from deshred.cases import Case
write, countdown = Case.write_bytes, [int(sys.argv[3])]
def stumble(self, name, content):
    countdown[0] -= 1
    if countdown[0] < 0:
        os._exit(9)
    return write(self, name, content)
Case.write_bytes = stumble
formats = ["png", "csv", "json", "bag"]
exporting.export(sys.argv[1], sys.argv[2], formats=formats, reading=ReadingOptions(engine="none"))
"""


@pytest.mark.parametrize("after", [0, 2, 6])
def test_an_export_that_was_killed_is_completed_by_the_same_command(
    case: Path, tmp_path: Path, after: int
) -> None:
    out = tmp_path / "out"
    done = subprocess.run([sys.executable, "-c", KILLED, str(case), str(out), str(after)], check=False)
    assert done.returncode == 9
    assert not (out / "bag").exists()  # nothing half done is shown
    export(case, out, formats=["png", "csv", "json", "bag"], reading=NOT_READ)
    assert verify(out).is_sound


@pytest.mark.parametrize("name", ["text", "alto", "page", "hocr"])
def test_formats_of_words_alone_need_an_engine(case: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError, match="needs words"):
        export(case, tmp_path / "out", formats=[name], reading=NOT_READ)
    assert not (tmp_path / "out").exists()


def test_a_language_that_is_missing_stops_text_and_is_told_for_a_picture(case: Path, tmp_path: Path) -> None:
    klingon = ReadingOptions(language="tlh")
    with pytest.raises(MissingDependencyError, match=r"tlh|tesserocr"):
        export(case, tmp_path / "text", formats=["text"], reading=klingon)
    done = export(case, tmp_path / "csv", formats=["csv"], reading=klingon)
    assert "not read: " in done.summary()


def test_a_case_with_a_broken_journal_is_not_exported(case: Path, tmp_path: Path) -> None:
    copied = tmp_path / "case"
    shutil.copytree(case, copied)
    edit_journal(copied)
    with pytest.raises(InputError, match="does not follow from the line before"):
        export(copied, tmp_path / "out", formats=["png"], reading=NOT_READ)


@needs_tesseract
def test_a_case_becomes_a_searchable_pdf_and_is_read_only_once(case: Path, tmp_path: Path) -> None:
    pytest.importorskip("pikepdf", reason="pikepdf is not installed: pip install 'deshred[pdf]'")
    facts = CaseFacts(case="AZ 12")
    formats = ["pdf", "text", "alto", "report", "json", "png"]
    done = export(case, tmp_path / "out", formats=formats, facts=facts)
    assert done.summary().startswith("1 page read in eng")
    text = (tmp_path / "out/pages-evidence.txt").read_text()
    assert len(text.split()) > 30
    before = sorted((case / "store").rglob("*"))
    word = max((word for word in text.split() if word.isalpha()), key=len)
    slow, quick = search(case, word), search(tmp_path / "out", word)
    assert slow.hits[0].wrong_letters == 0
    assert slow.hits[0].text.strip(".,:;") == word
    assert slow.to_dict() == quick.to_dict()
    for one, other in zip(slow.cutouts, quick.cutouts, strict=True):
        assert np.array_equal(one, other)
    files = save_cutouts(quick, tmp_path / "hits")
    assert np.array_equal(read_scans(files[0])[0].image, quick.cutouts[0])
    with pytest.raises(InputError, match="no pictures"):
        save_cutouts(SearchResult(word, quick.hits, ()), tmp_path / "none")
    assert sorted((case / "store").rglob("*")) == before  # read by the export already
    assert verify(tmp_path / "out").is_sound


def test_a_demonstration_ends_with_a_pdf_or_says_how_to_get_it(case: Path, tmp_path: Path) -> None:
    told = export_searchable_pdf(case, tmp_path / "out")
    is_there = find_spec("pikepdf") is not None and has_engine("tesseract")
    assert ("PDF/A, searchable" if is_there else "pip install 'deshred[") in told
    script = (
        "import sys\nsys.modules['pikepdf'] = None\n"
        "from deshred.export.exporting import export_searchable_pdf\n"
        "print(export_searchable_pdf(sys.argv[1], sys.argv[2], progress=print))"  # nothing is read before
    )
    command = [sys.executable, "-c", script, str(case), str(tmp_path / "none")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("not written; PDF needs pikepdf")
    assert "pip install 'deshred[pdf]'" in done.stdout


@needs_tesseract
def test_the_reading_copy_says_so_everywhere_and_its_words_lie_on_it(case: Path, tmp_path: Path) -> None:
    pikepdf = pytest.importorskip("pikepdf", reason="pikepdf is not installed: pip install 'deshred[pdf]'")
    formats = ["pdf", "text", "png", "tiff", "alto", "json"]
    done = export(case, tmp_path / "out", formats=formats, options=ExportOptions(copy="reading"))
    assert all("reading" in name for name in done.files if not name.startswith("record."))
    with pikepdf.open(tmp_path / "out/pages-reading.pdf") as document:
        assert "reading copy" in str(document.open_metadata()["dc:title"])
    record = json.loads((tmp_path / "out/record.json").read_text())
    assert {page["copy"] for page in record["pages"]} == {"reading"}
    words = [word for line in record["pages"][0]["reading"]["lines"] for word in line["words"]]
    picture = read_scans(tmp_path / "out/png/page-001-reading.png")[0].image.min(axis=2)
    inked = [
        (picture[slice(*w["box"][1::2]), slice(*w["box"][::2])] < 128).any()
        for w in words
        if w["clarity"] == "clear"
    ]
    assert len(inked) > 20
    assert all(inked)
    assert any(word["joins"] for word in words)


def test_scans_with_hostile_names_are_exported_and_verify(saved_pile: SavedPile, tmp_path: Path) -> None:
    pile = tmp_path / "pile"
    pile.mkdir()
    names = ["=1+1", "a%20b", "]]>&<b>", "\x1b[31mred", "\u202egnp", "שלום", "-rf", "a\u0301 'b\""]
    for name, file in zip(names, saved_pile.truth, strict=True):
        (pile / f"{name}.png").write_bytes((saved_pile.folder / f"{file}.png").read_bytes())
    reconstruct_into(tmp_path / "case", [pile])
    options = ExportOptions(with_inputs=True)
    done = export(tmp_path / "case", tmp_path / "out", formats=WORDLESS, options=options, reading=NOT_READ)
    found = verify(tmp_path / "out", sealed=done.seal, head=done.journal_head, inputs=[pile])
    assert found.is_sound, found.to_text()


@pytest.mark.parametrize(
    ("name", "hidden", "extra"),
    [
        ("pdf", "pikepdf", "pdf"),
        ("report", "pikepdf", "pdf"),
        ("report", "reportlab", "pdf"),
        ("text", "tesserocr", "ocr"),
        ("alto", "tesserocr", "ocr"),
        ("page", "tesserocr", "ocr"),
        ("hocr", "tesserocr", "ocr"),
    ],
)
def test_what_is_not_installed_is_told_with_its_pip_line_before_the_case_is_opened(
    tmp_path: Path, name: str, hidden: str, extra: str
) -> None:
    script = (
        f"import sys\nsys.modules[{hidden!r}] = None\n"
        "from deshred.__main__ import main\nsys.argv = ['deshred', *sys.argv[1:]]\nmain()"
    )
    command = [
        sys.executable,
        "-c",
        script,
        "export",
        "no-such-case",
        "-o",
        str(tmp_path / "out"),
        "--as",
        name,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 8, done.stderr
    assert f"pip install 'deshred[{extra}]'" in done.stderr
    assert not (tmp_path / "out").exists()


def test_few_clear_words_lead_to_the_language_and_many_do_not(sealed: Delivery) -> None:
    for share, is_told in ((0.2, True), (0.8, False)):
        told = replace(sealed, language="eng", clear_share=share).to_text()
        assert ("--language" in told) == is_told
    assert "--language" not in replace(sealed, language="", clear_share=0.0).to_text()
