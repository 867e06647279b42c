"""Pages and words in, PDF/A out: the pictures as they are, and every word invisible under its picture.

Written with pikepdf, which also checks the bytes it has written. The same material makes the same bytes. It
goes from file to file: pictures are never all in memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, BinaryIO

from deshred.cases import writing
from deshred.errors import DeshredError, MissingDependencyError
from deshred.export.encoding import tell_copy
from deshred.export.glyphless import ADVANCE, ASCENT, UNITS, Encoding, build_font
from deshred.export.material import TOOL, LargeFile, Material, open_scratch
from deshred.export.names import clean
from deshred.export.pagefile import PageCard
from deshred.export.pdfpictures import FIRST, write_pictures
from deshred.export.records import export_json
from deshred.export.tables import export_csv
from deshred.reading import Line

if TYPE_CHECKING:
    import pikepdf

_LANGUAGES = {"eng": "en", "deu": "de", "fra": "fr", "por": "pt", "spa": "es", "ita": "it", "rus": "ru"}


@dataclass(frozen=True)
class Attachment:
    """A file inside a PDF/A-3."""

    name: str
    content: bytes
    mime_type: str
    purpose: str


def export_pdf(material: Material) -> Iterator[LargeFile]:
    """All pages in one file, or one file per page."""
    attachments = _attach(material) if material.options.pdfa == "3b" else []
    indices = range(len(material.pages))
    if not material.options.split:
        with open_scratch(material.scratch) as stream:
            _write(material, list(indices), attachments, stream)
            yield LargeFile(f"pages-{material.options.copy}.pdf", stream)
        return
    for index in indices:
        with open_scratch(material.scratch) as stream:
            _write(material, [index], attachments, stream)
            yield LargeFile(f"pdf/{material.stem(index)}.pdf", stream)


def _attach(material: Material) -> list[Attachment]:
    files = [
        next(iter(export_json(material))),
        *(file for file in export_csv(material) if file.name.endswith("joins.csv")),
    ]
    types = {"json": "application/json", "csv": "text/csv"}
    return [
        Attachment(
            file.name.rpartition("/")[2],
            file.content,
            types[file.name.rpartition(".")[2]],
            "Record of the run",
        )
        for file in files
    ]


def _write(
    material: Material, indices: Sequence[int], attachments: Sequence[Attachment], stream: BinaryIO
) -> None:
    pikepdf = import_pikepdf()
    letters = {letter for index in indices for line in material.lines(index) for letter in clean(line.text)}
    encoding = Encoding.of(letters)
    with open_scratch(material.scratch) as pictures, writing(material.scratch):
        write_pictures(pictures, material, indices)
        with pikepdf.open(pictures, access_mode=pikepdf.AccessMode.stream) as document:
            font = build_font(document, encoding) if letters else None
            for number, index in enumerate(indices, FIRST):
                picture = document.get_object(number, 0)
                _add_page(document, picture, material.card(index), material.lines(index), encoding, font)
            language = material.readings[indices[0]].language if material.readings and indices else ""
            if language:
                short = language.split("+")[0]
                document.Root.Lang = pikepdf.String(_LANGUAGES.get(short, short))
            title = f"{material.title} ({tell_copy(material.options.copy)})"
            save_pdfa(
                document,
                material.options.pdfa,
                stream,
                title=title,
                made=material.made,
                attachments=attachments,
            )


def import_pikepdf() -> Any:
    """pikepdf with its PDF/A part, or how to get it."""
    try:
        import pikepdf
        import pikepdf.pdfa
    except ImportError as error:
        raise MissingDependencyError(
            f"PDF needs pikepdf 10.15 or newer, which is not installed ({error}). "
            "Get it with: pip install 'deshred[pdf]'"
        ) from None
    return pikepdf


def save_pdfa(
    document: pikepdf.Pdf,
    flavor: str,
    stream: BinaryIO,
    *,
    title: str,
    made: datetime,
    attachments: Sequence[Attachment] = (),
) -> None:
    """Write a document as PDF/A; what the checker does not approve is an error."""
    pikepdf = import_pikepdf()
    stamp = made.isoformat(timespec="seconds")
    for attachment in attachments:
        document.attachments[attachment.name] = pikepdf.AttachedFileSpec(
            document,
            attachment.content,
            filename=attachment.name,
            description=attachment.purpose,
            mime_type=attachment.mime_type,
            relationship=pikepdf.Name.Data,
            creation_date=made.strftime("D:%Y%m%d%H%M%S+00'00'"),
            mod_date=made.strftime("D:%Y%m%d%H%M%S+00'00'"),
        )
    with document.open_metadata(set_pikepdf_as_editor=False) as metadata:
        metadata["dc:title"] = title
        metadata["xmp:CreatorTool"] = TOOL
        metadata["xmp:CreateDate"] = stamp
        metadata["xmp:ModifyDate"] = stamp
    pikepdf.pdfa.prepare(document, flavor)
    with document.open_metadata(set_pikepdf_as_editor=False) as metadata:
        metadata["xmp:MetadataDate"] = stamp  # `prepare` writes the time of day
    try:
        pikepdf.pdfa.save(document, stream, flavor, repair=False, deterministic_id=True)
    except pikepdf.pdfa.PdfaError as error:
        raise DeshredError(f"the PDF is not PDF/A-{flavor}: {error}. Please report it.") from error


def _add_page(
    document: pikepdf.Pdf,
    picture: pikepdf.Object,
    card: PageCard,
    lines: Sequence[Line],
    encoding: Encoding,
    font: pikepdf.Object | None,
) -> None:
    pikepdf = import_pikepdf()
    height, width = card.height, card.width
    scale = 72 / card.dpi
    content = [f"q {width * scale:.4f} 0 0 {height * scale:.4f} 0 0 cm /Picture Do Q".encode()]
    resources: dict[str, Any] = {"/XObject": pikepdf.Dictionary(Picture=picture)}
    if font is not None and lines:
        resources["/Font"] = pikepdf.Dictionary(Words=font)
        content += [b"BT 3 Tr", *(_write_line(line, scale, height, encoding) for line in lines), b"ET"]
    document.add_blank_page(page_size=(width * scale, height * scale))
    added = document.pages[-1]
    added.Resources = pikepdf.Dictionary(resources)
    added.Contents = document.make_stream(b"\n".join(content))


def _write_line(line: Line, scale: float, height: int, encoding: Encoding) -> bytes:
    """One size and slope per line, and a space after every word, or viewers break the line apart."""
    box = line.box
    left_y, right_y = line.baseline
    slope = (right_y - left_y) / max(1, box.width)
    cosine, sine = math.cos(math.atan(slope)), -math.sin(math.atan(slope))
    # the box of the glyph covers the words from top to bottom
    size = max(1.0, (max(left_y, right_y) - box.top) * scale / (ASCENT / UNITS))
    parts = []
    for number, word in enumerate(line.words):
        x, y = word.box.left, left_y + slope * (word.box.left - box.left)
        codes = encoding.encode(clean(word.text))
        natural = max(1, len(codes) // 2) * size * ADVANCE / UNITS
        stretch = 100 * max(1, word.box.width) * scale / natural
        if number + 1 < len(line.words):
            codes += encoding.encode(" ")
        parts.append(
            f"{cosine:.5f} {sine:.5f} {-sine:.5f} {cosine:.5f} {x * scale:.3f} {(height - y) * scale:.3f} Tm "
            f"/Words {size:.3f} Tf {stretch:.3f} Tz <{codes.hex()}> Tj"
        )
    return "\n".join(parts).encode()
