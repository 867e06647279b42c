"""What the case report calls its parts: headings, labels and heads of tables in the languages it knows."""

from __future__ import annotations

from typing import Literal

ReportLanguage = Literal["en", "de"]

_GERMAN = {
    "Case report: reconstruction of shredded paper": "Bericht: Rekonstruktion zerschnittenen Papiers",
    "Report number": "Nummer des Berichts",
    "Issued": "Ausgestellt",
    "Laboratory": "Labor",
    "Customer": "Auftraggeber",
    "Case": "Aktenzeichen",
    "Exhibits": "Asservate",
    "Received": "Eingegangen",
    "Worked on": "Bearbeitet",
    "Examiner": "Gutachter",
    "Reviewer": "Zweitprüfer",
    "Operator of deshred": "Bediener von deshred",
    "Notes": "Anmerkungen",
    "Items and their condition": "Gegenstände und ihr Zustand",
    "Sheets": "Bögen",
    "File": "Datei",
    "Method": "Verfahren",
    "Scorer": "Bewerter",
    "Model, SHA-256": "Modell, SHA-256",
    "Copy shown": "Gezeigte Kopie",
    "Versions": "Versionen",
    "Command": "Befehl",
    "Reading": "Lesung",
    "Decided by a person": "Von Menschen entschieden",
    "Page {number} of {count}: {copy} copy": "Seite {number} von {count}: {copy}",
    "evidence": "Beweiskopie",
    "reading": "Lesekopie",
    "Left": "Links",
    "Right": "Rechts",
    "Verdict": "Urteil",
    "Probability": "Wahrscheinl.",
    "Offset": "Versatz",
    "Decided by": "Entschieden",
    "Breaks between pages": "Seitenwechsel",
    "After": "Nach",
    "Before": "Vor",
    "Joins worth a look": "Fugen, die einen Blick verdienen",
    "Uncertainty": "Unsicherheit",
    "Words looked for": "Gesuchte Wörter",
    "Custody": "Verwahrung",
    "Statement": "Erklärung",
    "Examiner, date, signature": "Gutachter, Datum, Unterschrift",
    "Reviewer, date, signature": "Zweitprüfer, Datum, Unterschrift",
    "End of the report.": "Ende des Berichts.",
    "page {number} of {count}": "Seite {number} von {count}",
}
_TABLES: dict[ReportLanguage, dict[str, str]] = {"en": {}, "de": _GERMAN}


def say(english: str, language: ReportLanguage, **values: object) -> str:
    """A heading in a language, with its values filled in; what a table lacks stays English."""
    return _TABLES[language].get(english, english).format(**values)
