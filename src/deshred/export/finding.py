"""A case or an export and words in; hits with their pictures out: what `deshred search` does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from deshred.cases import Folder, working_on
from deshred.elements import Copy, Image
from deshred.errors import InputError
from deshred.executors import Progress
from deshred.export.bags import PAYLOAD
from deshred.export.exporting import BAG, gather, open_source
from deshred.export.records import RECORD
from deshred.export.searching import Hit, SearchOptions, cut_out, find_words, list_recorded_words, list_words
from deshred.imaging.decoding import encode_png
from deshred.imaging.scans import read_scans
from deshred.pipeline import Reconstruction
from deshred.reading import ReadingOptions
from deshred.textfiles import parse_json


@dataclass(frozen=True, eq=False)
class SearchResult:
    """Hits, and where pages are known, the picture of each."""

    query: str
    hits: tuple[Hit, ...]
    cutouts: tuple[Image, ...]  # one per hit, or none

    def to_text(self) -> str:
        """Lines to print."""
        return (
            "\n".join(hit.to_text() for hit in self.hits)
            or "no hits; this does not prove that the word is not there."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"query": self.query, "hits": [hit.to_dict() for hit in self.hits]}


def search(
    source: str | Path | Reconstruction,
    query: str,
    *,
    options: SearchOptions | None = None,
    copy: Copy = "evidence",
    reading: ReadingOptions | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> SearchResult:
    """Look for words in an export with a record, which is fast, or in a case, whose pages are read first."""
    recorded = None if isinstance(source, Reconstruction) else _find_record(Path(source))
    if recorded is not None:
        return _search_record(recorded, query, options)
    opened = open_source(source, progress)
    with gather(
        opened.reconstruction,
        copy,
        reading=reading or ReadingOptions(),
        store=opened.store,
        jobs=jobs,
        progress=progress,
    ) as material:
        hits = find_words(list_words(material), query, options=options)
        cutouts = tuple(cut_out(material.pages[hit.page - 1].image, hit) for hit in hits)
    return SearchResult(query, hits, cutouts)


def search_all(sources: Sequence[str | Path], query: str, **how: Any) -> SearchResult:
    """Look for words in several cases and exports; every hit says in which, and exact ones come first."""
    found = [(str(source), search(source, query, **how)) for source in sources]
    if len(found) == 1:
        return found[0][1]
    pictured = all(result.cutouts or not result.hits for _, result in found)
    hits = [
        (replace(hit, source=source), result.cutouts[number] if pictured else None)
        for source, result in found
        for number, hit in enumerate(result.hits)
    ]
    hits.sort(key=lambda one: one[0].wrong_letters)
    cutouts = tuple(picture for _, picture in hits if picture is not None)
    return SearchResult(query, tuple(hit for hit, _ in hits), cutouts)


def save_cutouts(found: SearchResult, destination: str | Path, *, force: bool = False) -> tuple[Path, ...]:
    """Write the picture of every hit, and `hits.json`, into a folder of deshred's own."""
    if found.hits and not found.cutouts:
        raise InputError(
            "the export has no pictures of its pages. Export with --as json,png, or search the case."
        )
    with working_on(destination, command="search", force=force) as case:
        case.write_json("hits.json", found.to_dict())
        return tuple(
            case.write_bytes(f"hit-{number:04d}-page-{hit.page:03d}.png", encode_png(picture))
            for number, (hit, picture) in enumerate(zip(found.hits, found.cutouts, strict=True), 1)
        )


@dataclass(frozen=True)
class _Record:
    folder: Folder
    content: dict[str, Any]


def _find_record(path: Path) -> _Record | None:
    for below in ("", f"{BAG}/{PAYLOAD}", PAYLOAD):
        folder = Folder(path / below)
        if folder.exists(RECORD):
            content = parse_json(folder.read_bytes(RECORD), folder.path / RECORD)
            if not isinstance(content, dict):
                raise InputError(f"{folder.path / RECORD}: is damaged. Export again.")
            return _Record(folder, content)
    return None


def _search_record(record: _Record, query: str, options: SearchOptions | None) -> SearchResult:
    pages = list_recorded_words(record.content)
    if not any(pages):
        raise InputError(f"{record.folder.path / RECORD}: no page was read. Export again with an engine.")
    hits = find_words(pages, query, options=options)
    names = {page["number"]: page.get("name") for page in record.content["pages"]}
    pictures: dict[int, Image] = {}
    for number in sorted({hit.page for hit in hits}):
        name = f"png/{names.get(number)}.png"
        if not record.folder.exists(name):  # nor anywhere outside
            return SearchResult(query, hits, ())
        pictures[number] = read_scans(record.folder.locate(name))[0].image
    return SearchResult(query, hits, tuple(cut_out(pictures[hit.page], hit) for hit in hits))
