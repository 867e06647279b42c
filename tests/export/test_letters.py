"""Type for the report: what the font lacks is escaped, and nothing in a text is taken for markup."""

from __future__ import annotations

import io

import pytest

pytest.importorskip("reportlab", reason="reportlab is not installed: pip install 'deshred[pdf]'")

from deshred.export.letters import BOLD, REGULAR, Letters


@pytest.fixture(scope="module")
def letters() -> Letters:
    return Letters.load()


def test_letters_that_the_font_has_stay_and_others_are_escaped(letters: Letters) -> None:
    assert letters.printable("Straße, naïve, Ελλάδα, Москва") == "Straße, naïve, Ελλάδα, Москва"
    assert letters.printable("日本") == r"\u65e5\u672c"
    assert letters.printable("one\ntwo") == "one two"


@pytest.mark.parametrize(
    "text", ["<b>bold</b>", "a & b", "&lt;", "<img src='x'/>", '<a href="x">y</a>', "</para>"]
)
def test_markup_in_a_text_is_text(text: str, letters: Letters) -> None:
    for made in (letters.paragraph(text), letters.heading(text), letters.title(text)):
        assert made.getPlainText() == text


def test_a_title_is_larger_than_a_heading_and_that_than_text(letters: Letters) -> None:
    made = [letters.title("x"), letters.heading("x"), letters.paragraph("x")]
    sizes = [one.style.fontSize for one in made]
    assert sizes == sorted(sizes, reverse=True)
    assert [one.style.fontName for one in made] == [BOLD, BOLD, REGULAR]


def test_the_head_of_a_long_table_is_on_every_page_and_all_fonts_are_embedded(letters: Letters) -> None:
    pikepdf = pytest.importorskip("pikepdf", reason="pikepdf is not installed: pip install 'deshred[pdf]'")
    from pypdfium2 import PdfDocument
    from reportlab.lib.pagesizes import A4
    from reportlab.platypus import SimpleDocTemplate

    rows = [("number", "name"), *((str(k), f"shred {k}") for k in range(120))]
    buffer = io.BytesIO()
    story = [letters.title("Report"), letters.table(rows, (100, 200), head=True), letters.page_end()]
    SimpleDocTemplate(buffer, pagesize=A4).build([*story, letters.paragraph("end")])
    texts = [page.get_textpage().get_text_range() for page in PdfDocument(buffer.getvalue())]
    assert len(texts) >= 4
    assert all("number" in text for text in texts[:-1])
    assert texts[-1].strip() == "end"
    with pikepdf.open(buffer) as document:
        fonts = [font for page in document.pages for font in page.Resources.Font.values()]
        assert fonts
        assert all("FontFile2" in font.FontDescriptor for font in fonts if "FontDescriptor" in font)
