"""How much of a page can still be read: intact, as composed, mended, and as the reading copy.

    python benchmarks/reading.py --count 33 --seed 777            # drawn pages, shredded here
    python benchmarks/reading.py --shreds ../shared/data/s-isri-ocr --intact ../shared/data/intact/s-isri-ocr
    python benchmarks/reading.py --shreds ../shared/data/s-cdip-sheets --intact ../shared/data/pages/cdip

Needs `deshred[ocr]`. Drawn pages are compared with the words that were drawn, pages of a collection with what
the engine reads on the intact page: words found, and the character error rate. Lines are in the order of
their rows; those of drawn pages, which are not slanted, go over all columns. `--shreds` holds a folder per
document, or files whose names begin with its name; `--intact` a file per document.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from deshred import compose, reconstruct
from deshred.elements import Arrangement, Image, Page, ShredSet, Slot
from deshred.evaluation.legibility import PlacedWord, order_text, place_words
from deshred.imaging.composition import mend
from deshred.imaging.decoding import encode_png
from deshred.imaging.scans import flatten, read_scans
from deshred.reading import Box, Reading, ReadingOptions, read
from deshred.reading.spelling import edit_distance
from deshred.simulation.drawing import PAGE_KINDS
from deshred.simulation.shredding import shred_page
from deshred.simulation.transcripts import draw_transcript

COPIES = ("intact", "evidence", "mended", "reading")


@dataclass(frozen=True, eq=False)
class Case:
    """A shredded document, put back in order, and what it was."""

    name: str
    shreds: ShredSet
    arrangement: Arrangement
    intact: Image
    dpi: float
    drawn: tuple[PlacedWord, ...] = ()  # on the intact page, where that is known


@dataclass(frozen=True)
class Loss:
    """What reading lost against what is there: words that were drawn, or were read on the intact page."""

    document: str
    copy: str
    words: int  # that are there
    found: float  # share of them
    errors: float  # character error rate


def draw_cases(count: int, seed: int) -> Iterator[Case]:
    """Drawn pages; their order is given, so that only composition counts."""
    rng = np.random.default_rng(seed)
    kinds = [kind for kind in PAGE_KINDS if kind not in ("handwriting", "scripts")]
    for i in range(count):
        page = draw_transcript(kinds[i % len(kinds)], rng)
        drawn = tuple(PlacedWord(word.text, Box(*word.box)) for word in page.words)
        cut = shred_page(page.image, rng)
        shreds = [one.to_shred(f"{i}-{j:02}") for j, one in enumerate(cut)]
        slots = tuple(Slot(shred.id, -one.shift) for shred, one in zip(shreds, cut, strict=True))
        arrangement = Arrangement((slots,), (), (), 0, 0)
        yield Case(f"{i}-{kinds[i % len(kinds)]}", ShredSet(shreds), arrangement, page.image, 300.0, drawn)


def load_cases(shreds: Path, intact: Path, documents: Sequence[str]) -> Iterator[Case]:
    """Documents of a collection, reconstructed; those without an intact page are left out."""
    names = sorted({re.split(r"[-.]", entry.name)[0] for entry in shreds.iterdir()})
    for name in documents or names:
        files = [entry for entry in sorted(shreds.glob(f"{name}*")) if entry.suffix != ".json"]
        originals = sorted(intact.glob(f"{name}*"))
        if not files or not originals:
            continue
        result = reconstruct(files)
        scan = read_scans(originals[0])[0]
        yield Case(name, result.shreds, result.arrangement, flatten(scan), scan.dpi)


def read_page(image: Image, dpi: float, options: ReadingOptions) -> Reading:
    page = Page(image, np.ones(image.shape[:2], np.bool_), (), dpi)
    return read([page], options=options, jobs=1)[0]


def order_rows(reading: Reading) -> str:
    """Lines as the engine found them, in the order of their rows: right for pages that are slanted, too."""
    lines = sorted(reading.lines, key=lambda line: float(np.median([word.box.bottom for word in line.words])))
    return "\n".join(line.text for line in lines)


def count_words(text: str) -> Counter[str]:
    """Words of two letters or digits and more, without what surrounds them."""
    return Counter(re.findall(r"[^\W_]{2,}", text.lower()))


def compose_copies(case: Case) -> Iterator[tuple[str, list[Image]]]:
    """Each copy by name, and its pictures."""
    evidence = compose(case.shreds, case.arrangement)
    yield "evidence", [page.image for page in evidence]
    yield "mended", [mend(page.image, page.seams) for page in evidence]
    yield "reading", [page.image for page in compose(case.shreds, case.arrangement, copy="reading")]


def measure(case: Case, options: ReadingOptions, keep: Path | None) -> list[Loss]:
    def to_text(reading: Reading) -> str:
        return order_text(place_words(reading)) if case.drawn else order_rows(reading)

    on_intact = to_text(read_page(case.intact, case.dpi, options))
    there = order_text(case.drawn) if case.drawn else on_intact
    losses = [_compare(case.name, "intact", there, on_intact)] if case.drawn else []
    for copy, pictures in compose_copies(case):
        largest = max(pictures, key=lambda picture: picture.size)
        found = to_text(read_page(largest, 300.0, options))
        losses.append(_compare(case.name, copy, there, found))
        if keep is not None:
            (keep / f"{case.name}-{copy}.png").write_bytes(encode_png(largest))
    return losses


def _compare(name: str, copy: str, there: str, found: str) -> Loss:
    words = count_words(there)
    share = (words & count_words(found)).total() / max(1, words.total())
    errors = edit_distance(there, found) / max(1, len(there))
    return Loss(name, copy, words.total(), share, errors)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shreds", type=Path)
    parser.add_argument("--intact", type=Path)
    parser.add_argument("--documents", nargs="*", default=[])
    parser.add_argument("--language", default="eng")
    parser.add_argument("--engine", default="tesseract", choices=("tesseract", "rapidocr"))
    parser.add_argument("--tessdata", type=Path, help="folder of language data; results depend on it")
    parser.add_argument("--count", type=int, default=6, help="drawn pages")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder for the pictures, to look at them")
    parser.add_argument("-o", "--output", type=Path, help="JSON")
    arguments = parser.parse_args()
    options = ReadingOptions(arguments.engine, arguments.language, arguments.tessdata)
    if arguments.shreds is None:
        cases = draw_cases(arguments.count, arguments.seed)
    else:
        cases = load_cases(arguments.shreds, arguments.intact, arguments.documents)
    losses: list[Loss] = []
    for case in cases:
        losses += (measured := measure(case, options, arguments.keep))
        for loss in measured:
            print(
                f"{loss.document:14} {loss.copy:8} {loss.words:5} words, {100 * loss.found:5.1f} % found, "
                f"CER {100 * loss.errors:5.1f} %",
                flush=True,
            )
    for copy in COPIES:
        rows = [loss for loss in losses if loss.copy == copy]
        if rows:
            found, errors = (np.mean([getattr(row, name) for row in rows]) for name in ("found", "errors"))
            print(
                f"{copy:8}: {100 * found:.1f} % of words found, CER {100 * errors:.1f} % ({len(rows)} pages)"
            )
    if arguments.output is not None:
        arguments.output.write_text(json.dumps([asdict(loss) for loss in losses], indent=1) + "\n")


if __name__ == "__main__":
    main()
