"""Raw results and pictures of an experiment in; a Markdown file, and one page of all experiments, out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from deshred.cases import write_atomically
from deshred.evaluation.experiments.paired import tabulate_pairs
from deshred.evaluation.experiments.raw import Entry, RawResults
from deshred.evaluation.experiments.tables import (
    Table,
    tabulate_ablation,
    tabulate_comparison,
    tabulate_curves,
    tabulate_feedback,
    tabulate_kinds,
    take_largest,
)
from deshred.evaluation.experiments.times import tabulate_seconds

PAGE = "experiments.html"


@dataclass(frozen=True)
class Picture:
    """A file beside the raw results, and what is to be seen on it."""

    file: str
    shows: str


@dataclass(frozen=True)
class Chapter:
    """What the page says about one experiment."""

    experiment: str
    title: str
    tabulate: tuple[Callable[[Sequence[Entry]], Table], ...]
    pictures: tuple[Picture, ...]


CHAPTERS = {
    chapter.experiment: chapter
    for chapter in (
        Chapter(
            "incremental",
            "Accuracy as documents are mixed",
            (tabulate_curves, tabulate_kinds),
            (
                Picture("incremental.png", "Accuracy against the number of documents mixed, by collection"),
                Picture("kinds.png", "Accuracy at k = 1 by kind of document, S-CDIP"),
            ),
        ),
        Chapter(
            "comparison",
            "All methods on the same piles",
            (tabulate_comparison, tabulate_pairs, tabulate_seconds),
            (Picture("comparison.png", "Accuracy of all methods by collection, and their times"),),
        ),
        Chapter(
            "ablation",
            "What each choice is worth",
            (tabulate_ablation,),
            (Picture("ablation.png", "Accuracy for every value of every factor"),),
        ),
        Chapter(
            "feedback",
            "A person in the loop",
            (tabulate_feedback,),
            (Picture("feedback.png", "Wrong joins that are left against joins asked"),),
        ),
    )
}


@dataclass(frozen=True)
class Outcome:
    """What an experiment has written."""

    raw: Path
    markdown: Path
    page: Path
    tables: tuple[Table, ...]

    def to_text(self) -> str:
        """The tables, to print."""
        return "\n".join(table.to_markdown() for table in self.tables)


def write_outcome(raw: RawResults) -> Outcome:
    """Write the tables of an experiment beside its raw results, and the page of all that lie there."""
    chapter, folder = CHAPTERS[raw.experiment], raw.file.parent
    tables = _tabulate(chapter, raw)
    text = f"# {chapter.title}\n\n" + "\n".join(table.to_markdown() for table in tables)
    write_atomically(raw.file.with_suffix(".md"), text.encode())
    return Outcome(raw.file, raw.file.with_suffix(".md"), _write_page(folder), tables)


def _write_page(folder: Path) -> Path:
    """Other experiments are shown as they were left."""
    there = [chapter for chapter in CHAPTERS.values() if (folder / f"{chapter.experiment}.json").exists()]
    shown = [
        {
            "name": chapter.experiment,
            "title": chapter.title,
            "tables": _tabulate(chapter, RawResults(folder, chapter.experiment)),
            "pictures": [picture for picture in chapter.pictures if (folder / picture.file).exists()],
        }
        for chapter in there
    ]
    environment = Environment(
        loader=PackageLoader("deshred.evaluation.experiments", "."),
        autoescape=True,
        undefined=StrictUndefined,
    )
    write_atomically(folder / PAGE, environment.get_template("page.html").render(chapters=shown).encode())
    return folder / PAGE


def _tabulate(chapter: Chapter, entries: Iterable[Entry]) -> tuple[Table, ...]:
    known = list(entries) if chapter.experiment == "ablation" else take_largest(entries)
    first, *others = (tabulate(known) for tabulate in chapter.tabulate)
    return first, *(table for table in others if table.rows)
