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

from deshred.elements import Join, Page
from deshred.errors import MissingDependencyError
from deshred.export.letters import REGULAR, Letters
from deshred.export.material import TOOL, File, Material
from deshred.export.pdf import Attachment, import_pikepdf, save_pdfa
from deshred.export.pictures import hash_pixels
from deshred.export.records import export_json
from deshred.export.report import cut_closeup, tell_who_decided
from deshred.export.results import describe_constraints
from deshred.export.searching import cut_out, find_words, list_words
from deshred.export.tables import export_csv
from deshred.versions import installed_versions

_SIGNS = {"sure": "++", "likely": "+", "open": "?"}
_MOST_CLOSEUPS = 40
_PICTURE_HEIGHT_PT = 620.0  # a page of its own; its joins come behind it
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
    "Text was read by a machine from letters that a tear has damaged; without its picture it must not be "
    "quoted. Words are clear, fair or doubtful. In earlier measurements 96 of 100 clear and 81 of 100 fair "
    "words were right."
)
_ABSENCE = (
    "Words are found with one wrong letter from five letters on and two from nine on. A hit is a hint: look "
    "at the picture. No hit is no proof of absence."
)
_CUSTODY = (
    "The journal is a chain: each line holds the SHA-256 of the line before. It shows order and change, not "
    "identity. To check this export: deshred verify FOLDER --head HEAD."
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
        content = save_pdfa(document, "3b", title=title, made=material.made, attachments=_attach(material))
    yield File("case-report.pdf", content)


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


def _draw(material: Material) -> bytes:
    try:
        from reportlab.lib.pagesizes import A4
        from reportlab.platypus import SimpleDocTemplate
    except ImportError as error:
        raise MissingDependencyError(
            f"the case report needs reportlab, which is not installed ({error}). "
            "Get it with: pip install 'deshred[pdf]'"
        ) from None
    letters = Letters.load()
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
    document.build(list(_tell(material, letters)), canvasmaker=_numbering_canvas(footer))
    return buffer.getvalue()


def _tell_footer(material: Material) -> str:
    parts = [material.facts.number, material.facts.case, TOOL]
    if material.custody.head:
        parts.append(f"journal {material.custody.head[:16]}")
    return ", ".join(part for part in parts if part)


def _numbering_canvas(footer: str) -> type[Any]:
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
                self.drawRightString(_MARGIN_PT + _WIDTH_PT, 30, f"page {number} of {len(self._drawn)}")
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
        [[_line("Examiner, date, signature")], [_line("Reviewer, date, signature")]], [_WIDTH_PT]
    )
    yield letters.paragraph("End of the report.")


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
    yield letters.table([[name, value or "_" * 30] for name, value in rows.items()], [130, _WIDTH_PT - 130])


def _show_date(given: date | None) -> str:
    return given.isoformat() if given else ""


def _tell_items(material: Material, letters: Letters) -> Iterator[Any]:
    made = material.reconstruction
    yield letters.heading("Items and their condition")
    widths = sorted(shred.width_mm for shred in made.shreds)
    yield letters.paragraph(
        f"{len(made.shreds)} shreds with ink, {widths[len(widths) // 2]:.1f} mm wide (median), "
        f"{len(made.blank)} blank ones set aside. A page has the size of what was composed, "
        "which may be less than the sheet."
    )
    rows = [["File", "SHA-256"]] + [[source.path.name, source.sha256] for source in made.sources]
    yield letters.table(rows, [130, _WIDTH_PT - 130], head=True)
    for sheet in made.sheets:
        for warning in sheet.segmentation.warnings:
            yield letters.paragraph(f"{sheet.name}: {warning}")


def _tell_method(material: Material, letters: Letters) -> Iterator[Any]:
    made = material.reconstruction
    yield letters.heading("Method")
    yield letters.paragraph(
        "Shreds were cut out of the scans, every pair was scored, the cheapest order was searched for with "
        "proof, joins were aligned and the pages composed. "
        f"{made.summary()}. {_PROVEN}"
    )
    rows = {
        "Scorer": made.scorer.name,
        "Model, SHA-256": made.scorer.model_sha256 or "none",
        "Copy shown": f"{material.options.copy} copy",
        "Versions": ", ".join(f"{name} {number}" for name, number in installed_versions().items()),
        "Command": material.command or "not recorded",
    }
    if material.readings:
        reading = material.readings[0]
        rows["Reading"] = f"{reading.engine}, language {reading.language}, data {reading.data_sha256}"
    if made.constraints:
        told = describe_constraints(made.constraints)
        rows["Decided by a person"] = "; ".join(f"{name}: {_tell_known(held)}" for name, held in told.items())
    yield letters.table([[name, value] for name, value in rows.items()], [130, _WIDTH_PT - 130])


def _tell_known(held: list[Any]) -> str:
    return ", ".join(one if isinstance(one, str) else " and ".join(one) for one in held)


def _tell_page(material: Material, index: int, letters: Letters) -> Iterator[Any]:
    page = material.pages[index]
    joins = material.page_joins(index)
    yield letters.page_end()
    yield letters.heading(f"Page {index + 1} of {len(material.pages)}: {page.copy} copy")
    clear = ""
    if material.readings is not None:
        clear = f" {material.readings[index].clear_share:.0%} of its words are clear."
    yield letters.paragraph(
        f"{len(page.placements)} shreds.{clear} SHA-256 of the pixels: {hash_pixels(page)}"
    )
    yield _show(page.image, _WIDTH_PT, _PICTURE_HEIGHT_PT)
    rows = [["", "Left", "Right", "Verdict", "Probability", "Offset", "Decided by"]]
    rows += [_describe(join, material) for join in joins]
    yield letters.table(rows, [22, 110, 110, 55, 70, 45, 69], head=True)


def _describe(join: Join, material: Material) -> list[str]:
    probability = "" if join.probability is None else f"{join.probability:.4f}"
    decided = tell_who_decided(join, material.reconstruction.constraints)
    return [
        _SIGNS[join.verdict],
        join.left,
        join.right,
        join.verdict,
        probability,
        f"{join.offset:+d} px",
        decided,
    ]


def _show(image: Any, width: float, height: float) -> Any:
    """A picture that fits, in the resolution of print."""
    from reportlab.platypus import Image as Picture

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
        (index, page, join)
        for index, page in enumerate(material.pages)
        for join in material.page_joins(index)
        if join.verdict == "open"
    ]
    doubtful.sort(key=lambda entry: entry[2].probability or 0.0)
    yield letters.page_end()
    yield letters.heading("Joins worth a look")
    if not doubtful:
        yield letters.paragraph("None: every join is sure or likely.")
    for index, page, join in doubtful[:_MOST_CLOSEUPS]:
        probability = "unknown" if join.probability is None else f"{join.probability:.4f}"
        yield letters.paragraph(f"Page {index + 1}: {join.left} and {join.right}, probability {probability}.")
        yield _show(cut_closeup(page, _column(page, join)).image, 240, 150)
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
    for term in material.options.terms:
        hits = find_words(words, term)
        yield letters.paragraph(f"{term}: {len(hits)} {'hit' if len(hits) == 1 else 'hits'}")
        for hit in hits[:20]:
            yield letters.paragraph(hit.to_text())
            yield _show(cut_out(material.pages[hit.page - 1].image, hit), 240, 60)


def _tell_custody(material: Material, letters: Letters) -> Iterator[Any]:
    yield letters.heading("Custody")
    yield letters.paragraph(_CUSTODY)
    yield letters.paragraph(f"Head of the journal: {material.custody.head or 'no journal'}")
    yield from (letters.paragraph(event) for event in material.custody.events)
