"""What was read as plain text."""

from __future__ import annotations

from collections.abc import Iterator

from deshred.export.material import File, Material
from deshred.export.names import clean
from deshred.reading import Line, Word

_PAGE_END = "\f"


def export_text(material: Material) -> Iterator[File]:
    """UTF-8, a blank line between blocks, a form feed after every page."""
    pages = [render_text(material, index) + _PAGE_END for index in range(len(material.pages))]
    yield File(f"pages-{material.options.copy}.txt", "".join(pages).encode())


def render_text(material: Material, index: int) -> str:
    """The text of one page."""
    parts, block = [], None
    for line in material.lines(index):
        if block is not None and line.block != block:
            parts.append("")
        block = line.block
        parts.append(render_line(material, index, line))
    return "\n".join(parts) + "\n"


def render_line(material: Material, index: int, line: Line) -> str:
    """The text of one line, with marks where they were asked for."""
    return " ".join(_render_word(material, index, word) for word in line.words)


def _render_word(material: Material, index: int, word: Word) -> str:
    text = clean(word.text)
    if material.options.mark and word.clarity == "doubtful" and material.crosses_open(index, word):
        return f"⟨{text}⟩"
    return text
