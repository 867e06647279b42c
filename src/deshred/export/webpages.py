"""The report to look at, with its words: the HTML page of the case, whose text can be selected and found."""

from __future__ import annotations

from collections.abc import Iterator

from deshred.export.cutouts import list_warnings
from deshred.export.material import File, Material
from deshred.export.report import Overview, render_report
from deshred.export.results import tell_provenance


def export_html(material: Material) -> Iterator[File]:
    """One file without scripts; it shows the evidence copies, so words of reading copies are left out."""
    made = material.reconstruction
    words = dict(zip(map(material.number, range(len(material.pages))), material.readings or (), strict=False))
    if material.options.copy != "evidence":
        words = {}
    report = render_report(
        made,
        provenance=tell_provenance(made),
        overviews=[Overview(sheet.name, sheet.overview, list_warnings(sheet)) for sheet in made.sheets],
        title=material.title,
        made=material.made,
        command=material.command,
        readings=[words.get(number) for number in range(1, len(made.pages) + 1)],
    )
    yield File("report-evidence.html", report.encode())
