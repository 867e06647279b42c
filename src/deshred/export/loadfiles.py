"""For e-discovery: a Concordance DAT, an Opticon OPT, single-page pictures and texts.

One document per page, until pages are grouped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from deshred.elements import Page
from deshred.export.casefiles import FIELDS, LoadfileForm
from deshred.export.encoding import encode_jpeg, encode_tiff
from deshred.export.material import File, Material
from deshred.export.names import clean_field
from deshred.export.text import render_text


def export_loadfile(material: Material) -> Iterator[File]:
    """`loadfile/`: the two lists, `IMAGES/` and `TEXT/`; group 4 where bitonal is asked for, else JPEG."""
    form = material.facts.loadfile
    rows = [{name: form.name_field(name) for name in FIELDS}]
    lines = []
    for index, page in enumerate(material.pages):
        number = _number(material, index)
        picture = _picture(material, page)
        image_path = f"IMAGES\\{number}.{picture.name}"
        text_path = f"TEXT\\{number}.txt" if material.readings is not None else ""
        yield File(f"loadfile/IMAGES/{number}.{picture.name}", picture.content)
        if material.readings is not None:
            yield File(f"loadfile/TEXT/{number}.txt", render_text(material, index).encode())
        rows.append(_describe(material, index, number, text_path, image_path))
        lines.append(f"{number},{form.volume},{image_path},Y,,,1")
    yield File("loadfile/loadfile.dat", b"\xef\xbb\xbf" + "".join(_to_rows(rows, form)).encode())
    yield File("loadfile/loadfile.opt", "".join(f"{line}\r\n" for line in lines).encode())


def _number(material: Material, index: int) -> str:
    options = material.options
    return f"{options.prefix}{options.start + index:0{options.digits}d}"


def _picture(material: Material, page: Page) -> File:
    if material.options.images == "bitonal":
        return File("tif", encode_tiff(page, bitonal=True))
    return File("jpg", encode_jpeg(page))


def _describe(material: Material, index: int, number: str, text_path: str, image_path: str) -> dict[str, str]:
    card, joins = material.card(index), material.page_joins(index)
    known = [join.probability for join in joins if join.probability is not None]
    clear = f"{material.readings[index].clear_share:.4f}" if material.readings is not None else ""
    return {
        "BEGBATES": number,
        "ENDBATES": number,
        "PAGECOUNT": "1",
        "CUSTODIAN": material.options.custodian,
        "DOCTITLE": f"{material.title}, page {material.number(index)}, {card.copy} copy",
        "CASE": material.facts.case,
        "SHA256": card.pixels_sha256,
        "TEXTPATH": text_path,
        "IMAGEPATH": image_path,
        "SHREDS": str(len(card.placements)),
        "OPENJOINS": str(sum(join.verdict == "open" for join in joins)),
        "LOWESTPROBABILITY": f"{min(known):.6f}" if known else "",
        "CLEARWORDS": clear,
    }


def _to_rows(rows: Iterable[dict[str, str]], form: LoadfileForm) -> Iterator[str]:
    """Rows as they are written, with the fields that are not left out."""
    kept = [name for name in FIELDS if form.name_field(name)]
    for row in rows:
        texts = (clean_field(row[name], quote=form.quote, line_break=form.line_break) for name in kept)
        yield form.separator.join(f"{form.quote}{text}{form.quote}" for text in texts) + "\r\n"
