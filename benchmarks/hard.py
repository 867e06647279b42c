"""Simulated piles as real ones are: with their blank shreds, and with both sides of every shred. JSON out.

    python benchmarks/hard.py [PAGES] -o benchmarks/results/hard.json

`blanks`: every other pile is made of PAGES (a folder of intact pages), the others are drawn. They are
put together once with the blank shreds left aside, and once with those placed whose outline is sure. A
document is whole when its shreds with ink stand in order on a page of their own.
`sides`: drawn sheets with print on both sides, once from their fronts alone, once from both; with tears that
are ragged, nearly straight, and not to be seen at all.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from deshred import arrange, load_scorer, prepare, refine, score
from deshred.blanks import anchor_blanks
from deshred.cases import to_json, write_atomically
from deshred.compatibility.contract import AnyScorer
from deshred.elements import Arrangement, Pile, Shred
from deshred.evaluation.demo import print_both_sides
from deshred.evaluation.metrics import measure_pages
from deshred.imaging.binarization import BlankOptions
from deshred.sides import match_sides
from deshred.simulation.drawing import PAGE_KINDS, draw_page
from deshred.simulation.intact import load_intact
from deshred.simulation.piles import FRONT, MixedPile, NamedPage, shred_pages, shred_sheets
from deshred.simulation.shredding import Damage, ShreddingOptions
from deshred.simulation.truth import Truth

PROBABLE = 0.8
TEARS = {"ragged": 1.5, "nearly straight": 0.2, "not to be seen": 0.0}  # px


def read_pages(folder: Path | None, count: int, rng: np.random.Generator) -> list[NamedPage]:
    if folder is None:
        kinds = rng.choice(PAGE_KINDS, count)
        return [NamedPage(f"page {i}", draw_page(kind, rng)) for i, kind in enumerate(kinds)]
    files = sorted(folder.iterdir())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a photograph among the pages is left out
        inks = (page.ink for i in rng.permutation(len(files)) for page in load_intact([files[i]]))
        found = [ink for ink, _ in zip(inks, range(count), strict=False)]
    return [
        NamedPage(f"page {i}", np.repeat(255 * (1 - ink[:, :, None]), 3, axis=2))
        for i, ink in enumerate(found)
    ]


def solve(pile: Pile, scorer: AnyScorer) -> Arrangement:
    compatibility = score(pile, scorer)
    return refine(arrange(compatibility), compatibility, pile)


def count_whole(arrangement: Arrangement, truth: Truth) -> int:
    """Documents whose shreds, as far as the truth speaks of them, are one page in order."""
    shown = [[s.shred_id for s in page if s.shred_id in truth.places] for page in arrangement.pages]
    documents: dict[str, list[str]] = {}
    for name, place in sorted(truth.places.items(), key=lambda item: item[1].position):
        documents.setdefault(place.document, []).append(name)
    return sum(document in shown for document in documents.values())


def to_shreds(pile: MixedPile) -> list[Shred]:
    shreds = [loose.shred.to_shred(loose.name) for loose in pile.shreds]
    return [replace(shred, source=replace(shred.source, path=Path(f"{shred.id}.png"))) for shred in shreds]


def crop(shred: Shred) -> Shred:
    """The widest upright rectangle in which hardly a row lacks paper."""
    columns = np.flatnonzero(shred.mask.mean(axis=0) > 0.9 * shred.mask.any(axis=1).mean())
    inside = slice(columns[0], columns[-1] + 1)
    return replace(shred, image=shred.image[:, inside], mask=np.ones_like(shred.mask[:, inside]))


def place_blanks(pages: Sequence[NamedPage], scorer: AnyScorer, rng: np.random.Generator) -> dict[str, Any]:
    mixed = shred_pages(pages, rng, options=ShreddingOptions(shreds=int(rng.integers(22, 30))))
    aside = prepare(to_shreds(mixed), edges=scorer.edge_options)
    anchored = anchor_blanks(aside, scorer)
    before, after = solve(aside, scorer), solve(anchored, scorer)
    inked = mixed.truth.restrict(aside.shreds.ids)
    placed = set(anchored.shreds.ids) - set(aside.shreds.ids)
    beside = [join for join in after.joins if {join.left, join.right} & placed]
    asserted = [join for join in after.joins if (join.probability or 0) >= PROBABLE]
    return {
        "documents": len(pages),
        "shreds": len(mixed.shreds),
        "blank": len(aside.blank),
        "placed": len(placed),
        "joins_of_placed": len(beside),
        "right_of_placed": sum((join.left, join.right) in mixed.truth.joins for join in beside),
        "asserted": len(asserted),
        "asserted_right": sum((join.left, join.right) in mixed.truth.joins for join in asserted),
        "whole_before": count_whole(before, inked),
        "whole_after": count_whole(after, inked),
    }


def look_at_sides(tears_px: float, scorer: AnyScorer, rng: np.random.Generator) -> dict[str, Any]:
    pages = [NamedPage(f"page {i}", draw_page(PAGE_KINDS[i % len(PAGE_KINDS)], rng)) for i in range(6)]
    damage = replace(Damage(), ragged=tears_px)
    mixed = shred_sheets(print_both_sides(pages), rng, options=ShreddingOptions(damage=damage))
    shreds = to_shreds(mixed)
    if tears_px == 0:
        shreds = [crop(shred) for shred in shreds]
    fronts = prepare([s for s in shreds if s.id.endswith(FRONT)], edges=scorer.edge_options)
    both = prepare(shreds, edges=scorer.edge_options, keep=[s.id for s in shreds])
    both = match_sides(both, options=BlankOptions())
    result: dict[str, Any] = {}
    for name, pile in (("one", fronts), ("two", both)):
        found = measure_pages(solve(pile, scorer), mixed.truth.restrict(pile.shreds.ids))
        result[name] = {"documents": found.documents, "whole": found.perfect, "recall": found.recall}
    return result


def list_piles(arguments: argparse.Namespace, scorer: AnyScorer) -> Iterator[dict[str, Any]]:
    for number in range(arguments.piles):
        rng = np.random.default_rng(arguments.seed + number)
        pages = read_pages(arguments.pages if number % 2 else None, arguments.count, rng)
        kind = "intact" if arguments.pages and number % 2 else "drawn"
        yield {"pages": kind, **place_blanks(pages, scorer, rng)}


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", type=Path, nargs="?")
    parser.add_argument("-o", "--out", type=Path)
    parser.add_argument("--piles", type=int, default=8)
    parser.add_argument("--count", type=int, default=8, help="pages in a pile")
    parser.add_argument("--seed", type=int, default=100)
    parser.add_argument("--model")
    arguments = parser.parse_args(given)
    scorer = load_scorer("default", arguments.model)
    results: dict[str, Any] = {"blanks": [], "sides": {}}
    for one in list_piles(arguments, scorer):
        results["blanks"].append(one)
        print(one, flush=True)
    for name, tears_px in TEARS.items():
        piles = [
            look_at_sides(tears_px, scorer, np.random.default_rng(arguments.seed + seed)) for seed in range(2)
        ]
        results["sides"][name] = piles
        print(name, piles, flush=True)
    if arguments.out:
        write_atomically(arguments.out, to_json(results).encode())


if __name__ == "__main__":
    main()
