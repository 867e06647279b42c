"""Every format by its name: a new one is a module beside this one and a line here."""

from __future__ import annotations

from deshred.errors import SettingsError
from deshred.export.casereport import export_report, import_reportlab
from deshred.export.iiif import export_iiif
from deshred.export.layouts import export_alto, export_hocr, export_page
from deshred.export.loadfiles import export_loadfile
from deshred.export.material import FORMATS, Exporter, Format
from deshred.export.pdf import export_pdf, import_pikepdf
from deshred.export.pictures import export_png, export_tiff
from deshred.export.records import export_json
from deshred.export.tables import export_csv
from deshred.export.text import export_text
from deshred.export.webpages import export_html
from deshred.reading import ReadingOptions
from deshred.reading.engines import open_reader

# bag is not among them: it is what lies around the files of all others
EXPORTERS: dict[Format, Exporter] = {
    "pdf": export_pdf,
    "tiff": export_tiff,
    "png": export_png,
    "text": export_text,
    "alto": export_alto,
    "page": export_page,
    "hocr": export_hocr,
    "json": export_json,
    "csv": export_csv,
    "report": export_report,
    "html": export_html,
    "loadfile": export_loadfile,
    "iiif": export_iiif,
}
NEED_WORDS = frozenset({"text", "alto", "page", "hocr"})  # nothing without an engine
USE_WORDS = NEED_WORDS | {"pdf", "json", "csv", "report", "html", "loadfile", "iiif"}


def check_formats(names: tuple[str, ...]) -> tuple[Format, ...]:
    """The formats of these names, each once."""
    unknown = [name for name in names if name not in FORMATS]
    if unknown or not names:
        given = f"there is no format {unknown[0]!r}" if unknown else "no format was given"
        raise SettingsError(f"{given}. The known ones are: {', '.join(FORMATS)}.")
    return tuple(name for name in FORMATS if name in names)


def check_parts(formats: tuple[Format, ...], reading: ReadingOptions) -> None:
    """Say what is not installed before a page is opened; formats that only gain by words do without."""
    if "pdf" in formats or "report" in formats:
        import_pikepdf()
    if "report" in formats:
        import_reportlab()
    of_words = [name for name in formats if name in NEED_WORDS]
    if of_words and reading.engine == "none":
        raise SettingsError(f"{of_words[0]} needs words. Leave out --engine none, or the format.")
    if of_words:
        open_reader(reading)
