"""A case report for files and courts: PDF/A-3b with the record, the joins and the journal attached.

What people must say (who, for whom, when received) comes from `case.toml` and stays an empty line where it is
missing. The report supports ISO/IEC 17025 7.8.2 and ISO 21043-5; it claims no conformity.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import date
from typing import Any

from PIL import Image as Pillow

from deshred.elements import Join, Page, Shred, ShredSet
from deshred.errors import MissingDependencyError
from deshred.export.crossings import Crossing, rate_crossings
from deshred.export.cutouts import list_warnings
from deshred.export.encoding import tell_copy
from deshred.export.letters import REGULAR, Letters
from deshred.export.material import TOOL, File, Material
from deshred.export.pdf import Attachment, import_pikepdf, save_pdfa
from deshred.export.records import export_json
from deshred.export.report import cut_closeup, tell_who_decided
from deshred.export.results import describe_constraints
from deshred.export.searching import cut_out, find_words, list_words
from deshred.export.tables import export_csv
from deshred.shelf import give_back
from deshred.versions import installed_versions

_SIGNS = {"sure": "++", "likely": "+", "open": "?"}
_MOST_CLOSEUPS = 40
_PICTURE_HEIGHT_PT = 660.0  # a page of its own; its joins come behind it
_SHEET_HEIGHT_PT = 400.0
_WIDTH_PT = 481.0  # A4 less its margins
_MARGIN_PT = 57.0

_PROVEN = (
    "Proven optimal means: under the scores of this model, no other order of these shreds is cheaper. "
    "It does not mean that every join is right."
)
_PROBABILITY = (
    "A probability in this report is that of a join within this pile and under this model, calibrated on "
    "simulated piles. It is not a likelihood ratio for a common sheet. sure (++): at least 99 %; "
    "likely (+): at least 80 %; open (?): worth a look."
)
_READING = (
    "Text was read by a machine from letters that tears have damaged; it must not be quoted without its "
    "picture. Words are clear, fair or doubtful. In earlier measurements 96 of 100 clear and 81 of 100 fair "
    "words were right. The text across a join is clear, mixed or broken by the words that cross it, if "
    "there are at least three: a second opinion, which changes no probability. On correct pages 8 of 100 "
    "joins read as broken."
)
_ABSENCE = (
    "A word may have one wrong letter if it has five letters or more, and two if it has nine or more. A hit "
    "only says where to look: look at the picture. Finding nothing does not prove that a word is not there."
)
_CUSTODY = (
    "The journal is a chain: each line holds the SHA-256 of the line before. It shows order and change, not "
    "identity. The head below is that of the case as this report was made: deshred verify CASE --head HEAD. "
    "An export and a package have hashes of their own, which deshred export prints."
)
_STATEMENT = (
    "The results relate only to the items listed. This report shall not be copied in part without approval."
)


def export_report(material: Material) -> Iterator[File]:
    """The report as one PDF/A-3b."""
    pikepdf = import_pikepdf()
    drawn = _draw(material)
    with pikepdf.open(io.BytesIO(drawn)) as document:
        for page in document.pages:
            if "/Trans" in page:
                del page["/Trans"]
        title = f"Case report {material.facts.number or material.title}"
        written = io.BytesIO()
        save_pdfa(document, "3b", written, title=title, made=material.made, attachments=_attach(material))
    yield File("case-report.pdf", written.getvalue())


def _attach(material: Material) -> list[Attachment]:
    record = next(iter(export_json(material))).content
    joins = next(file.content for file in export_csv(material) if file.name.endswith("joins.csv"))
    attachments = [
        Attachment("record.json", record, "application/json", "Record of the run"),
        Attachment("joins.csv", joins, "text/csv", "All joins"),
    ]
    if material.custody.source:
        attachments.append(
            Attachment(
                "journal.jsonl", material.custody.source, "application/x-ndjson", "Journal of the case"
            )
        )
    return attachments


def import_reportlab() -> Any:
    """reportlab, or how to get it."""
    try:
        import reportlab
    except ImportError as error:
        raise MissingDependencyError(
            f"the case report needs reportlab, which is not installed ({error}). "
            "Get it with: pip install 'deshred[pdf]'"
        ) from None
    return reportlab


def _draw(material: Material) -> bytes:
    import_reportlab()
    from reportlab.lib.pagesizes import A4
    from reportlab.platypus import SimpleDocTemplate

    letters = Letters.load(material.options.headings)
    buffer = io.BytesIO()
    document = SimpleDocTemplate(
        buffer,
        pagesize=A4,
        leftMargin=_MARGIN_PT,
        rightMargin=_MARGIN_PT,
        topMargin=_MARGIN_PT,
        bottomMargin=_MARGIN_PT,
        invariant=1,
        title="",
    )
    footer = letters.printable(_tell_footer(material))
    document.build(list(_tell(material, letters)), canvasmaker=_numbering_canvas(footer, letters))
    return buffer.getvalue()


def _tell_footer(material: Material) -> str:
    parts = [material.facts.number, material.facts.case, TOOL]
    if material.custody.head:
        parts.append(f"journal {material.custody.head[:16]}")
    return ", ".join(part for part in parts if part)


def _numbering_canvas(footer: str, letters: Letters) -> type[Any]:
    """A canvas that knows how many pages there are before it writes their numbers."""
    from reportlab.pdfgen.canvas import Canvas

    class NumberingCanvas(Canvas):  # type: ignore[misc]
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **(options | {"initialFontName": REGULAR}))
            self._drawn: list[dict[str, Any]] = []

        def showPage(self) -> None:
            self._drawn.append(dict(self.__dict__))
            self._startPage()

        def save(self) -> None:
            for number, state in enumerate(self._drawn, 1):
                self.__dict__.update(state)
                self.setFont(REGULAR, 8)
                self.drawString(_MARGIN_PT, 30, footer[:110])
                told = letters.say("page {number} of {count}", number=number, count=len(self._drawn))
                self.drawRightString(_MARGIN_PT + _WIDTH_PT, 30, told)
                super().showPage()
            super().save()

    return NumberingCanvas


def _tell(material: Material, letters: Letters) -> Iterator[Any]:
    """The report from top to bottom."""
    yield letters.title("Case report: reconstruction of shredded paper")
    yield from _tell_administration(material, letters)
    yield from _tell_items(material, letters)
    yield from _tell_method(material, letters)
    for index in range(len(material.pages)):
        yield from _tell_page(material, index, letters)
    yield letters.page_end()
    yield from _tell_breaks(material, letters)
    yield from _tell_doubts(material, letters)
    yield letters.heading("Uncertainty")
    yield letters.paragraph(_PROBABILITY)
    if material.readings is not None:
        yield letters.paragraph(_READING)
    yield from _tell_terms(material, letters)
    yield from _tell_custody(material, letters)
    yield letters.heading("Statement")
    yield letters.paragraph(_STATEMENT)
    yield letters.table(
        [[_line(letters.say(f"{who}, date, signature"))] for who in ("Examiner", "Reviewer")], [_WIDTH_PT]
    )
    yield letters.paragraph(letters.say("End of the report."))


def _line(label: str) -> str:
    return f"{label}: " + "_" * 40


def _tell_administration(material: Material, letters: Letters) -> Iterator[Any]:
    facts = material.facts
    rows = {
        "Report number": facts.number,
        "Issued": material.made.date().isoformat(),
        "Laboratory": ", ".join(facts.laboratory),
        "Customer": facts.customer,
        "Case": facts.case,
        "Exhibits": ", ".join(facts.exhibits),
        "Received": _show_date(facts.received),
        "Worked on": _show_date(facts.worked),
        "Examiner": facts.examiner,
        "Reviewer": facts.reviewer,
        "Operator of deshred": material.options.operator,
        "Notes": facts.notes,
    }
    told = [[letters.say(name), value or "_" * 30] for name, value in rows.items()]
    yield letters.table(told, [130, _WIDTH_PT - 130])


def _show_date(given: date | None) -> str:
    return given.isoformat() if given else ""


def _tell_items(material: Material, letters: Letters) -> Iterator[Any]:
    made = material.reconstruction
    yield letters.heading("Items and their condition")
    widths = sorted(map(_measure_width, made.shreds))
    yield letters.paragraph(
        f"{len(made.shreds)} shreds with ink, {widths[len(widths) // 2]:.1f} mm wide (median), "
        f"{len(made.blank)} blank ones set aside{_tell_blank(made.blank)}. A page has the size of what was "
        "composed, which may be less than the sheet."
    )
    rows = [[letters.say("File"), "SHA-256"]] + [[source.path.name, source.sha256] for source in made.sources]
    yield letters.table(rows, [130, _WIDTH_PT - 130], head=True)
    yield from _tell_sheets(material, letters)


def _measure_width(shred: Shred) -> float:
    width_mm = shred.width_mm
    give_back(shred)  # large piles lie on disk
    return width_mm


def _tell_blank(blank: ShredSet) -> str:
    """How much paper is missing from the sides of all pages together."""
    return f", {sum(map(_measure_width, blank)):.0f} mm of paper in all" if len(blank) else ""


def _tell_sheets(material: Material, letters: Letters) -> Iterator[Any]:
    """What was cut out of every sheet, numbered on its picture, and what is doubtful about it."""
    sheets = material.reconstruction.sheets
    if sheets:
        yield letters.heading("Sheets")
    for sheet in sheets:
        shreds = sheet.segmentation.shreds
        dpi = f", {shreds[0].dpi:.0f} dpi" if len(shreds) else ""
        yield letters.paragraph(f"{sheet.name}: {len(shreds)} shreds{dpi}")
        yield _show(sheet.overview, _WIDTH_PT, _SHEET_HEIGHT_PT)
        yield from (letters.paragraph(warning) for warning in list_warnings(sheet))


def _tell_method(material: Material, letters: Letters) -> Iterator[Any]:
    made = material.reconstruction
    yield letters.heading("Method")
    yield letters.paragraph(
        "Shreds were cut out of the scans, every pair was scored, the cheapest order was sought, with a "
        "proof, joins were aligned and the pages were composed. "
        f"{made.summary()}. {_PROVEN}"
    )
    rows = {
        "Scorer": made.scorer.name,
        "Model, SHA-256": made.scorer.model_sha256 or "none",
        "Copy shown": tell_copy(material.options.copy),
        "Versions": ", ".join(f"{name} {number}" for name, number in installed_versions().items()),
        "Command": material.command or "not recorded",
    }
    if material.readings:
        reading = material.readings[0]
        rows["Reading"] = f"{reading.engine}, language {reading.language}, data {reading.data_sha256}"
    if made.constraints:
        told = describe_constraints(made.constraints)
        rows["Decided by a person"] = "; ".join(f"{name}: {_tell_known(held)}" for name, held in told.items())
    yield letters.table([[letters.say(name), value] for name, value in rows.items()], [130, _WIDTH_PT - 130])


def _tell_known(held: list[Any]) -> str:
    return ", ".join(one if isinstance(one, str) else " and ".join(one) for one in held)


def _tell_page(material: Material, index: int, letters: Letters) -> Iterator[Any]:
    card = material.card(index)
    yield letters.page_end()
    yield letters.heading(
        "Page {number} of {count}: {copy} copy",
        number=material.number(index),
        count=len(material.reconstruction.pages),
        copy=letters.say(card.copy),
    )
    clear = ""
    if material.readings is not None:
        clear = f" {material.readings[index].clear_share:.0%} of its words are clear."
    yield letters.paragraph(
        f"{len(card.placements)} shreds.{clear} SHA-256 of the pixels: {card.pixels_sha256}"
    )
    yield _show(material.pages[index].image, _WIDTH_PT, _PICTURE_HEIGHT_PT)
    yield letters.page_end()
    crossings = rate_crossings(material, index)
    heads = ("Left", "Right", "Verdict", "Probability", "Offset", "Reading", "Decided by")
    rows = [["", *(letters.say(head) for head in heads)]]
    rows += [
        _describe(join, crossings[join.left, join.right], material) for join in material.page_joins(index)
    ]
    yield letters.table(rows, [22, 97, 97, 45, 62, 45, 48, 65], head=True)


def _describe(join: Join, crossing: Crossing, material: Material) -> list[str]:
    probability = "" if join.probability is None else f"{join.probability:.4f}"
    return [
        _SIGNS[join.verdict],
        join.left,
        join.right,
        join.verdict,
        probability,
        f"{join.offset:+d} px",
        "" if crossing.across == "unknown" else crossing.across,
        tell_who_decided(join, material.reconstruction.constraints),
    ]


def _tell_breaks(material: Material, letters: Letters) -> Iterator[Any]:
    """Where one page ends and the next begins; the order of pages itself says nothing."""
    breaks = material.reconstruction.arrangement.breaks
    if not breaks:
        return
    yield letters.heading("Breaks between pages")
    heads = [letters.say(head) for head in ("After", "Before", "Probability")]
    rows = [
        [one.after, one.before, "" if one.probability is None else f"{one.probability:.4f}"] for one in breaks
    ]
    yield letters.table([heads, *rows], [150, 150, _WIDTH_PT - 300], head=True)


def _show(image: Any, width: float, height: float) -> Any:
    """A picture that fits, in the resolution of print."""
    from reportlab.platypus import Image

    class Picture(Image):  # type: ignore[misc]
        def draw(self) -> None:
            super().draw()
            # packed it is in the report; reportlab would keep the pixels of all pictures to its end
            self._img._data = self._img._image = None

    scale = min(width / image.shape[1], height / image.shape[0], 72 / 100)
    shrunk = Pillow.fromarray(image)
    size = (
        max(1, round(image.shape[1] * scale * 200 / 72)),
        max(1, round(image.shape[0] * scale * 200 / 72)),
    )
    if size[0] < shrunk.width:
        shrunk = shrunk.resize(size, Pillow.Resampling.BOX)
    buffer = io.BytesIO()
    shrunk.save(buffer, "JPEG", quality=85)
    buffer.seek(0)
    return Picture(buffer, image.shape[1] * scale, image.shape[0] * scale)


def _tell_doubts(material: Material, letters: Letters) -> Iterator[Any]:
    doubtful = [
        (index, join)
        for index in range(len(material.pages))
        for join in material.page_joins(index)
        if join.verdict == "open"
    ]
    doubtful.sort(key=lambda entry: entry[1].probability or 0.0)
    yield letters.heading("Joins worth a look")
    if not doubtful:
        yield letters.paragraph("None: every join is sure or likely.")
    for index, join in doubtful[:_MOST_CLOSEUPS]:
        probability = "unknown" if join.probability is None else f"{join.probability:.4f}"
        yield letters.paragraph(
            f"Page {material.number(index)}: {join.left} and {join.right}, probability {probability}."
        )
        page = material.pages[index]
        yield _show(cut_closeup(page, _column(page, join)).image, 240, 150)
        crossing = rate_crossings(material, index)[join.left, join.right]
        if crossing.across != "unknown":
            yield letters.paragraph(f"The text across it reads {crossing.across} ({crossing.words} words).")
        yield letters.paragraph(f"Next best beside {join.left}: {_tell_candidates(material, join)}.")


def _column(page: Page, join: Join) -> float:
    return next(float(at.x) for at in page.placements if at.shred_id == join.right)


def _tell_candidates(material: Material, join: Join) -> str:
    """The three best other shreds to the right, by score."""
    scores = material.reconstruction.compatibility
    left = scores.ids.index(join.left)
    others = [
        (scores.score(left, right), name)
        for right, name in enumerate(scores.ids)
        if right != left and name != join.right
    ]
    best = sorted(others, key=lambda entry: -entry[0])[:3]
    return ", ".join(f"{name} ({score:.1f}, this join {join.score:.1f})" for score, name in best) or "none"


def _tell_terms(material: Material, letters: Letters) -> Iterator[Any]:
    if not material.options.terms or material.readings is None:
        return
    yield letters.heading("Words looked for")
    yield letters.paragraph(_ABSENCE)
    words = list_words(material)
    places = {material.number(index): index for index in range(len(material.pages))}
    for term in material.options.terms:
        hits = find_words(words, term)
        yield letters.paragraph(f"{term}: {len(hits)} {'hit' if len(hits) == 1 else 'hits'}")
        for hit in hits[:20]:
            yield letters.paragraph(hit.to_text())
            yield _show(cut_out(material.pages[places[hit.page]].image, hit), 240, 60)


def _tell_custody(material: Material, letters: Letters) -> Iterator[Any]:
    yield letters.heading("Custody")
    yield letters.paragraph(_CUSTODY)
    yield letters.paragraph(f"Head of the journal: {material.custody.head or 'no journal'}")
    yield from (letters.paragraph(event) for event in material.custody.events)
