"""How many words of a page search finds after shredding, and how many it finds that are not there.

    python benchmarks/searching.py                                # drawn pages, shredded here
    python benchmarks/searching.py --shreds ../shared/data/s-isri-ocr \\
        --intact ../shared/data/intact/s-isri-ocr

Needs `deshred[ocr]`. Looked for are the different words of four letters and more that the engine reads on the
intact page; words of the other pages that are not on it must not be found. All pages are searched together,
as those of a case are.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from deshred import compose
from deshred.elements import Image, Page
from deshred.export import SearchOptions
from deshred.export.searching import FoundWord, SearchedPage, find_words, normalize
from deshred.reading import Reading, ReadingOptions, read
from reading import draw_cases, load_cases


@dataclass(frozen=True)
class Searched:
    """The words of an intact page, and the reading of what was put together."""

    name: str
    words: frozenset[str]
    found: SearchedPage


def read_cases(arguments: argparse.Namespace, options: ReadingOptions) -> Iterator[Searched]:
    if arguments.shreds is None:
        cases = draw_cases(arguments.count, arguments.seed)
    else:
        cases = load_cases(arguments.shreds, arguments.intact, arguments.documents)
    for case in cases:
        pages = compose(case.shreds, case.arrangement, copy="reading")
        largest = max(pages, key=lambda page: page.image.size)
        intact, copied = read([to_page(case.intact, case.dpi), largest], options=options)
        words = frozenset(normalize(word.text) for word in intact.words)
        yield Searched(case.name, frozenset(word for word in words if len(word) >= 4), to_searched(copied))


def to_page(image: Image, dpi: float) -> Page:
    return Page(image, np.ones(image.shape[:2], np.bool_), (), dpi)


def to_searched(reading: Reading) -> SearchedPage:
    return [
        [FoundWord(word.text, word.box, word.clarity, False) for word in line.words] for line in reading.lines
    ]


def find_pages(pages: list[Searched], words: frozenset[str], *, exact: bool) -> dict[str, set[int]]:
    """The pages that each word is found on."""
    read_pages = [page.found for page in pages]
    options = SearchOptions(exact=exact, most=10**6)
    return {
        word: {hit.page - 1 for hit in find_words(read_pages, word, options=options)}
        for word in sorted(words)
    }


def share_found(places: dict[str, set[int]], words: frozenset[str], page: int) -> float:
    return float(np.mean([page in places[word] for word in sorted(words)])) if words else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shreds", type=Path)
    parser.add_argument("--intact", type=Path)
    parser.add_argument("--documents", nargs="*", default=[])
    parser.add_argument("--language", default="eng")
    parser.add_argument("--tessdata", type=Path, help="folder of language data; results depend on it")
    parser.add_argument("--count", type=int, default=6, help="drawn pages")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, help="JSON")
    arguments = parser.parse_args()
    options = ReadingOptions(language=arguments.language, tessdata=arguments.tessdata)
    pages = list(read_cases(arguments, options))
    everything = frozenset().union(*(page.words for page in pages))
    exactly, tolerantly = (find_pages(pages, everything, exact=exact) for exact in (True, False))
    rows = []
    for number, page in enumerate(pages):
        exact, tolerant = (share_found(places, page.words, number) for places in (exactly, tolerantly))
        wrong = share_found(tolerantly, everything - page.words, number)
        rows.append({"document": page.name, "exact": exact, "tolerant": tolerant, "wrong": wrong})
        print(
            f"{page.name:14} {len(page.words):4} words, found exactly {exact:.1%}, tolerantly {tolerant:.1%}"
        )
    exact, tolerant, wrong = (np.mean([row[key] for row in rows]) for key in ("exact", "tolerant", "wrong"))
    print(
        f"{len(rows)} pages: exactly {exact:.1%}, tolerantly {tolerant:.1%}, of words not there {wrong:.1%}"
    )
    if arguments.output is not None:
        arguments.output.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
