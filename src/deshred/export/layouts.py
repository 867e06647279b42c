"""Words with their places for other programs: ALTO 4, PAGE 2019 and hOCR 1.2."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from xml.etree import ElementTree as Xml

from deshred.export.material import TOOL, File, Material
from deshred.export.names import clean
from deshred.reading import Box, Line, Word

_ALTO = "http://www.loc.gov/standards/alto/ns-v4#"
_PAGE = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"
_SEAM, _OPEN = "seam", "open"


def export_alto(material: Material) -> Iterator[File]:
    """ALTO 4.4, one file per page; words that cross a join carry a tag."""
    for index in range(len(material.pages)):
        yield File(f"alto/{material.stem(index)}.xml", _render(_build_alto(material, index)))


def export_page(material: Material) -> Iterator[File]:
    """PAGE 2019-07-15, one file per page."""
    for index in range(len(material.pages)):
        yield File(f"page/{material.stem(index)}.xml", _render(_build_page(material, index)))


def export_hocr(material: Material) -> Iterator[File]:
    """hOCR 1.2, one file per page."""
    for index in range(len(material.pages)):
        document = _build_hocr(material, index)
        yield File(
            f"hocr/{material.stem(index)}.hocr", b"<!DOCTYPE html>\n" + _render(document, declare=False)
        )


def _render(document: Xml.Element, *, declare: bool = True) -> bytes:
    Xml.indent(document, " ")
    content: bytes = Xml.tostring(document, encoding="utf-8", xml_declaration=declare)
    return content + b"\n"


def _add(parent: Xml.Element, tag: str, text: str | None = None, /, **attributes: str) -> Xml.Element:
    child = Xml.SubElement(parent, tag, {name: clean(value) for name, value in attributes.items()})
    child.text = None if text is None else clean(text)
    return child


def _blocks(lines: tuple[Line, ...]) -> list[list[Line]]:
    return [list(block) for _, block in groupby(lines, key=lambda line: line.block)]


def _around(block: list[Line]) -> Box:
    return Box.around([line.box for line in block])


def _build_alto(material: Material, index: int) -> Xml.Element:
    card = material.card(index)
    root = Xml.Element("alto", {"xmlns": _ALTO, "SCHEMAVERSION": "4.4"})
    description = _add(root, "Description")
    _add(description, "MeasurementUnit", "pixel")
    image = _add(description, "sourceImageInformation")
    _add(image, "fileName", f"{material.stem(index)}.png")
    _add(image, "fileIdentifier", f"sha256 of the pixels {card.pixels_sha256}")
    _describe_processing(description, material, index)
    tags = _add(root, "Tags")
    _add(tags, "OtherTag", ID=_SEAM, LABEL="crosses a join")
    _add(tags, "OtherTag", ID=_OPEN, LABEL="crosses a join that is worth a look")
    layout = _add(root, "Layout")
    number = str(material.number(index))
    size = {"WIDTH": str(card.width), "HEIGHT": str(card.height)}
    sheet = _add(layout, "Page", ID=f"page-{number}", PHYSICAL_IMG_NR=number, **size)
    space = _add(sheet, "PrintSpace", HPOS="0", VPOS="0", **size)
    for at, block in enumerate(_blocks(material.lines(index)), 1):
        inner = _add(space, "TextBlock", ID=f"block-{at}", **_alto_box(_around(block)))
        for row, line in enumerate(block, 1):
            _add_alto_line(inner, line, f"{at}-{row}", material, index)
    return root


def _describe_processing(description: Xml.Element, material: Material, index: int) -> None:
    if material.readings is None:
        return
    reading = material.readings[index]
    step = _add(description, "Processing", ID="reading")
    _add(step, "processingStepDescription", f"words of the {material.card(index).copy} copy")
    _add(step, "processingStepSettings", f"language {reading.language}, data sha256 {reading.data_sha256}")
    software = _add(step, "processingSoftware")
    _add(software, "softwareCreator", TOOL)
    name, _, version = reading.engine.partition(" ")
    _add(software, "softwareName", name)
    _add(software, "softwareVersion", version)


def _alto_box(box: Box) -> dict[str, str]:
    sides = {"HPOS": box.left, "VPOS": box.top, "WIDTH": box.width, "HEIGHT": box.height}
    return {name: str(value) for name, value in sides.items()}


def _add_alto_line(block: Xml.Element, line: Line, name: str, material: Material, index: int) -> None:
    parent = _add(block, "TextLine", ID=f"line-{name}", **_alto_box(line.box))
    for at, word in enumerate(line.words, 1):
        if at > 1:
            before = line.words[at - 2].box
            gap = max(0, word.box.left - before.right)
            _add(parent, "SP", HPOS=str(before.right), VPOS=str(before.top), WIDTH=str(gap))
        extra = {"WC": f"{word.confidence:.4f}", "CONTENT": word.text}
        if tags := _tag(material, index, word):
            extra["TAGREFS"] = tags
        _add(parent, "String", ID=f"word-{name}-{at}", **_alto_box(word.box), **extra)


def _tag(material: Material, index: int, word: Word) -> str:
    """What a word crosses, in words with spaces between them."""
    if not material.crossed(index, word):
        return ""
    return f"{_SEAM} {_OPEN}" if material.crosses_open(index, word) else _SEAM


def _build_page(material: Material, index: int) -> Xml.Element:
    card = material.card(index)
    root = Xml.Element("PcGts", {"xmlns": _PAGE})
    metadata = _add(root, "Metadata")
    _add(metadata, "Creator", TOOL)
    stamp = material.made.strftime("%Y-%m-%dT%H:%M:%SZ")
    _add(metadata, "Created", stamp)
    _add(metadata, "LastChange", stamp)
    _add(
        metadata,
        "Comments",
        f"{card.copy} copy; sha256 of the pixels {card.pixels_sha256}{_told_by(material, index)}",
    )
    name = f"{material.stem(index)}.png"
    size = {"imageWidth": str(card.width), "imageHeight": str(card.height)}
    sheet = _add(root, "Page", imageFilename=name, **size)
    for at, block in enumerate(_blocks(material.lines(index)), 1):
        region = _add(sheet, "TextRegion", id=f"region-{at}")
        _add(region, "Coords", points=_points(_around(block)))
        for row, line in enumerate(block, 1):
            _add_page_line(region, line, f"{at}-{row}", material, index)
    return root


def _told_by(material: Material, index: int) -> str:
    if material.readings is None:
        return ""
    reading = material.readings[index]
    return f"; read by {reading.engine}, language {reading.language}, data sha256 {reading.data_sha256}"


def _points(box: Box) -> str:
    corners = ((box.left, box.top), (box.right, box.top), (box.right, box.bottom), (box.left, box.bottom))
    return " ".join(f"{max(0, x)},{max(0, y)}" for x, y in corners)


def _add_page_line(region: Xml.Element, line: Line, name: str, material: Material, index: int) -> None:
    parent = _add(region, "TextLine", id=f"line-{name}")
    _add(parent, "Coords", points=_points(line.box))
    left, right = (max(0, round(y)) for y in line.baseline)
    _add(parent, "Baseline", points=f"{max(0, line.box.left)},{left} {max(0, line.box.right)},{right}")
    for at, word in enumerate(line.words, 1):
        custom = _tag(material, index, word)
        inner = _add(
            parent,
            "Word",
            id=f"word-{name}-{at}",
            **({"custom": f"joins {{type:{custom};}}"} if custom else {}),
        )
        _add(inner, "Coords", points=_points(word.box))
        _add(_add(inner, "TextEquiv", conf=f"{word.confidence:.4f}"), "Unicode", word.text)
    _add(_add(parent, "TextEquiv"), "Unicode", line.text)


def _build_hocr(material: Material, index: int) -> Xml.Element:
    card = material.card(index)
    root = Xml.Element("html", {"xmlns": "http://www.w3.org/1999/xhtml"})
    head = _add(root, "head")
    _add(head, "title", f"{material.title}, page {material.number(index)}, {card.copy} copy")
    _add(head, "meta", charset="utf-8")
    system = TOOL + (f" with {material.readings[index].engine}" if material.readings else "")
    _add(head, "meta", name="ocr-system", content=system)
    _add(head, "meta", name="ocr-capabilities", content="ocr_page ocr_carea ocr_line ocrx_word")
    body = _add(root, "body")
    title = f'image "{material.stem(index)}.png"; bbox 0 0 {card.width} {card.height}; ppageno {index}'
    sheet = _hocr(body, "div", "ocr_page", f"page_{material.number(index)}", title)
    for at, block in enumerate(_blocks(material.lines(index)), 1):
        area = _hocr(sheet, "div", "ocr_carea", f"block_{at}", _bbox(_around(block)))
        for row, line in enumerate(block, 1):
            slope = (line.baseline[1] - line.baseline[0]) / max(1, line.box.width)
            baseline = f"; baseline {slope:.4f} {line.baseline[0] - line.box.bottom:.1f}"
            span = _hocr(area, "span", "ocr_line", f"line_{at}_{row}", _bbox(line.box) + baseline)
            for place, word in enumerate(line.words, 1):
                told = f"{_bbox(word.box)}; x_wconf {round(100 * word.confidence)}"
                shown = _hocr(span, "span", "ocrx_word", f"word_{at}_{row}_{place}", told)
                shown.text = clean(word.text)
                if tags := _tag(material, index, word):
                    shown.set("data-joins", tags)
    return root


def _hocr(parent: Xml.Element, tag: str, kind: str, name: str, title: str) -> Xml.Element:
    return _add(parent, tag, **{"class": kind, "id": name, "title": title})


def _bbox(box: Box) -> str:
    return f"bbox {box.left} {box.top} {box.right} {box.bottom}"
