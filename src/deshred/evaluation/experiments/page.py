"""Tables and pictures of an experiment in, a Markdown file and an HTML page that shows them all out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from deshred.cases import write_atomically
from deshred.evaluation.experiments.tables import Table


@dataclass(frozen=True)
class Outcome:
    """What an experiment has written."""

    raw: Path
    markdown: Path
    page: Path
    pictures: tuple[Path, ...]
    tables: tuple[Table, ...]

    def to_text(self) -> str:
        """The tables, to print."""
        return "\n".join(table.to_markdown() for table in self.tables)


def write_outcome(
    name: str, title: str, tables: Sequence[Table], pictures: Sequence[Path], raw: Path
) -> Outcome:
    """Write `name`.md and `name`.html beside the raw results."""
    markdown, page = raw.with_name(f"{name}.md"), raw.with_name(f"{name}.html")
    text = f"# {title}\n\n" + "\n".join(table.to_markdown() for table in tables)
    write_atomically(markdown, text.encode())
    environment = Environment(
        loader=PackageLoader("deshred.evaluation.experiments", "."),
        autoescape=True,
        undefined=StrictUndefined,
    )
    html = environment.get_template("page.html").render(
        title=title, tables=tables, pictures=[picture.name for picture in pictures], raw=raw.name
    )
    write_atomically(page, html.encode())
    return Outcome(raw, markdown, page, tuple(pictures), tuple(tables))
