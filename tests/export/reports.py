"""Reports read back: the page strictly, the PDF as text."""

from __future__ import annotations

from html.parser import HTMLParser

import pypdfium2

from deshred.export.casereport import export_report
from deshred.export.material import Material

VOID = {"meta", "img", "br", "input", "link", "hr"}


class Reader(HTMLParser):
    """Reads a page strictly: every tag must be closed in order."""

    def __init__(self, html):
        super().__init__()
        self.open_tags, self.elements, self.texts = [], [], []
        self.feed(html)
        self.close()
        assert not self.open_tags

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open_tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open_tags.pop() == tag

    def handle_data(self, data):
        if self.open_tags[-1:] != ["style"]:
            self.texts.append(data)

    def find(self, tag, of_class=None):
        found = [attrs for name, attrs in self.elements if name == tag]
        return [a for a in found if of_class is None or of_class in (a.get("class") or "").split()]

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


def read_report(material: Material) -> str:
    document = pypdfium2.PdfDocument(next(export_report(material)).content)
    text = "\n".join(page.get_textpage().get_text_range() for page in document)
    document.close()
    return " ".join(text.split())
