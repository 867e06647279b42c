from __future__ import annotations

import io
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pypdfium2
import pytest

from deshred.elements import Page
from deshred.export.encoding import to_bitonal
from deshred.export.material import Material
from deshred.export.pagefile import PageFile
from deshred.export.pdf import export_pdf
from deshred.reading import Box, Line, Reading, Word
from tests.export.materials import make_material, make_readings, write_first
from tests.reading.engines import write_line

pikepdf = pytest.importorskip("pikepdf", reason="pikepdf is not installed: pip install 'deshred[pdf]'")

needs_poppler = pytest.mark.skipif(
    shutil.which("pdftotext") is None, reason="poppler is not installed: apt install poppler-utils"
)


def write(material: Material) -> bytes:
    return write_first(export_pdf, material)


def find(content: bytes, text: str, page: int = 0) -> list[tuple[float, ...]]:
    """Where pdfium finds a text, in px of the page at 300 dpi: left, top, right, bottom."""
    document = pypdfium2.PdfDocument(content)
    height = document[page].get_height()
    text_page = document[page].get_textpage()
    searcher = text_page.search(text, match_case=True)
    hits = []
    while (found := searcher.get_next()) is not None:
        rectangles = [text_page.get_rect(i) for i in range(text_page.count_rects(*found))]
        left, bottom = min(r[0] for r in rectangles), min(r[1] for r in rectangles)
        right, top = max(r[2] for r in rectangles), max(r[3] for r in rectangles)
        hits.append(tuple(v * 300 / 72 for v in (left, height - top, right, height - bottom)))
    document.close()
    return hits


def test_a_search_hit_lies_on_the_word() -> None:
    material = make_material(readings=make_readings(("Invoice 1850 paid|in full", "Dear Sir")))
    content = write(material)
    assert material.readings is not None
    for page, reading in enumerate(material.readings):
        for word in reading.words:
            (hit,) = find(content, word.text, page)
            box = word.box
            assert np.abs(np.subtract(hit[::2], (box.left, box.right))).max() <= 2
            assert hit[1] == pytest.approx(box.top, abs=2)
            assert (
                box.bottom - 3 <= hit[3] <= box.bottom + 8
            )  # below the baseline there is room for descenders


def test_a_search_hit_lies_on_the_word_of_a_line_that_climbs() -> None:
    words = tuple(
        Word(f"word{i}", Box(100 + 300 * i, 100 - 9 * i, 320 + 300 * i, 130 - 9 * i), 0.9) for i in range(3)
    )
    reading = Reading((Line(words, 0, (130.0, 106.0)),), "scripted 1", "eng", "0" * 64)
    image = np.full((300, 1100, 3), 255, np.uint8)
    page = Page(image, np.ones((300, 1100), bool), (), 300.0)
    content = write(replace(make_material(), pages=PageFile.of([page]), readings=(reading,)))
    for word in words:
        (hit,) = find(content, word.text)
        assert abs((hit[0] + hit[2]) - (word.box.left + word.box.right)) / 2 <= 4
        assert abs((hit[1] + hit[3]) - (word.box.top + word.box.bottom)) / 2 <= 12


@needs_poppler
def test_poppler_reads_the_lines_with_their_spaces(tmp_path: Path) -> None:
    material = make_material(readings=make_readings(("Invoice 1850 paid|in full", "Dear Sir")))
    (tmp_path / "a.pdf").write_bytes(write(material))
    told = subprocess.run(
        ["pdftotext", tmp_path / "a.pdf", "-"], capture_output=True, text=True, check=True
    ).stdout
    assert [line for line in told.replace("\f", "\n").split("\n") if line] == [
        "Invoice 1850 paid",
        "in full",
        "Dear Sir",
    ]


@pytest.mark.parametrize("word", ["Straße", "Łódź", "пример", "文書", "🙂𝔘", "مستند", "שלום"])
def test_words_of_every_script_come_back(word: str) -> None:
    reading = Reading((write_line(word),), "scripted 1", "eng", "0" * 64)
    material = make_material(readings=(reading, reading))
    document = pypdfium2.PdfDocument(write(material))
    text = document[0].get_textpage().get_text_range()
    document.close()
    assert sorted(text.strip()) == sorted(word)  # a viewer may turn around what is written from the right


@pytest.mark.parametrize("images", ["lossless", "jpeg", "bitonal"])
@pytest.mark.parametrize("pdfa", ["2b", "3b"])
def test_the_checker_approves_what_was_written(images: str, pdfa: str) -> None:
    content = write(make_material(images=images, pdfa=pdfa))
    from pikepdf.pdfa import validate_written

    report = validate_written(io.BytesIO(content), pdfa)
    assert report.passed, report.summary()


def test_what_pdf_a_asks_for_is_there_whoever_checks() -> None:
    """The structure that ISO 19005-2 requires, looked at without the checker of the library that wrote it."""
    content = write(make_material())
    assert content.startswith(b"%PDF-1.")
    assert content[8:].split(b"\n")[1][:1] == b"%"
    assert all(byte > 127 for byte in content[8:].split(b"\n")[1][1:5])
    with pikepdf.open(io.BytesIO(content)) as document:
        assert not document.is_encrypted
        assert "/ID" in document.trailer
        (intent,) = document.Root.OutputIntents
        assert intent.S == "/GTS_PDFA1"
        assert int(intent.DestOutputProfile.N) == 3
        xmp = document.Root.Metadata.read_bytes().decode()
        assert "<pdfaid:part>2</pdfaid:part>" in xmp
        assert "<pdfaid:conformance>B</pdfaid:conformance>" in xmp
        assert "/Filter" not in document.Root.Metadata
        for item in document.objects:
            if isinstance(item, pikepdf.Dictionary) and item.get("/Type") == "/FontDescriptor":
                assert "/FontFile2" in item
            assert not (isinstance(item, pikepdf.Dictionary) and item.get("/S") in ("/JavaScript", "/Launch"))
        assert "/Lang" in document.Root


def test_pixels_go_in_and_come_out_unchanged() -> None:
    material = make_material()
    with pikepdf.open(io.BytesIO(write(material))) as document:
        for page, original in zip(document.pages, material.pages, strict=True):
            image = pikepdf.PdfImage(page.Resources.XObject.Picture).as_pil_image()
            assert np.array_equal(np.asarray(image.convert("RGB")), original.image)


def test_ink_is_black_on_white_in_a_bitonal_page() -> None:
    material = make_material(images="bitonal")
    document = pypdfium2.PdfDocument(write(material))
    drawn = document[0].render(scale=300 / 72, grayscale=True).to_numpy().squeeze()
    document.close()
    wanted = np.asarray(to_bitonal(material.pages[0]).convert("L"))
    assert wanted.mean() > 128
    assert drawn.mean() == pytest.approx(wanted.mean(), abs=20)


def test_the_text_is_never_painted() -> None:
    with_text, without = (
        pypdfium2.PdfDocument(write(material))[0].render(scale=1).to_numpy()
        for material in (make_material(), make_material(readings=None))
    )
    assert np.array_equal(with_text, without)


def test_the_page_has_the_size_of_the_paper_and_says_which_copy_it_is() -> None:
    material = make_material()
    with pikepdf.open(io.BytesIO(write(material))) as document:
        height, width = material.pages[0].image.shape[:2]
        assert [float(v) for v in document.pages[0].MediaBox] == pytest.approx(
            [0, 0, width * 0.24, height * 0.24]
        )
        assert "evidence copy" in str(document.open_metadata()["dc:title"])


def test_pages_can_be_files_of_their_own() -> None:
    files = list(export_pdf(make_material(split=True)))
    assert [file.name for file in files] == ["pdf/page-001-evidence.pdf", "pdf/page-002-evidence.pdf"]


def test_a_3b_carries_the_record_and_the_joins() -> None:
    with pikepdf.open(io.BytesIO(write(make_material(pdfa="3b")))) as document:
        assert sorted(document.attachments) == ["joins.csv", "record.json"]


def test_without_pikepdf_the_pip_line_is_told() -> None:
    script = (
        "import sys\nsys.modules['pikepdf'] = None\nfrom deshred.export.pdf import import_pikepdf\n"
        "try:\n    import_pikepdf()\nexcept Exception as error:\n    print(error.exit_code, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("8 ")
    assert "pip install 'deshred[pdf]'" in done.stdout
