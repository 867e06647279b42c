"""For e-discovery: a Concordance DAT, an Opticon OPT, single-page pictures and texts.

One document per page, until pages are grouped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deshred.elements import Page
from deshred.export.encoding import encode_jpeg, encode_tiff
from deshred.export.material import File, Material
from deshred.export.names import DAT_QUOTE, DAT_SEPARATOR, clean_field
from deshred.export.text import render_text

_FIELDS = (
    "BEGBATES",
    "ENDBATES",
    "PAGECOUNT",
    "CUSTODIAN",
    "DOCTITLE",
    "CASE",
    "SHA256",
    "TEXTPATH",
    "IMAGEPATH",
    "SHREDS",
    "OPENJOINS",
    "LOWESTPROBABILITY",
    "CLEARWORDS",
)
_VOLUME = "VOL001"


def export_loadfile(material: Material) -> Iterator[File]:
    """`loadfile/`: the two lists, `IMAGES/` and `TEXT/`; group 4 where bitonal is asked for, else JPEG."""
    rows: list[tuple[str, ...]] = [_FIELDS]
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
        lines.append(f"{number},{_VOLUME},{image_path},Y,,,1")
    yield File("loadfile/loadfile.dat", b"\xef\xbb\xbf" + "".join(_to_row(row) for row in rows).encode())
    yield File("loadfile/loadfile.opt", "".join(f"{line}\r\n" for line in lines).encode())


def _number(material: Material, index: int) -> str:
    options = material.options
    return f"{options.prefix}{options.start + index:0{options.digits}d}"


def _picture(material: Material, page: Page) -> File:
    if material.options.images == "bitonal":
        return File("tif", encode_tiff(page, bitonal=True))
    return File("jpg", encode_jpeg(page))


def _describe(
    material: Material, index: int, number: str, text_path: str, image_path: str
) -> tuple[str, ...]:
    card, joins = material.card(index), material.page_joins(index)
    known = [join.probability for join in joins if join.probability is not None]
    clear = f"{material.readings[index].clear_share:.4f}" if material.readings is not None else ""
    return (
        number,
        number,
        "1",
        material.options.custodian,
        f"{material.title}, page {material.number(index)}, {card.copy} copy",
        material.facts.case,
        card.pixels_sha256,
        text_path,
        image_path,
        str(len(card.placements)),
        str(sum(join.verdict == "open" for join in joins)),
        f"{min(known):.6f}" if known else "",
        clear,
    )


def _to_row(fields: Sequence[str]) -> str:
    quoted = (f"{DAT_QUOTE}{clean_field(field)}{DAT_QUOTE}" for field in fields)
    return DAT_SEPARATOR.join(quoted) + "\r\n"
