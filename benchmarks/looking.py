"""Does the first look keep the true neighbor? Measured on all documents of a collection, and on made piles.

    python benchmarks/looking.py ../shared/data -o benchmarks/results
    python benchmarks/looking.py ../shared/data -o benchmarks/results --same --pages 56
    python benchmarks/looking.py ../shared/data -o benchmarks/results --edges 100000

For ink and outline together, and for ink alone, as if there were no torn outlines: how many true joins are
among the listed ones, and how many are listed per edge. Models are cross-database, as in `accuracy.py`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from deshred.arrangement import arrange
from deshred.cases import MemoryStore
from deshred.compatibility.fusion import FusionScorer
from deshred.compatibility.scoring import ScoringOptions, score
from deshred.compatibility.sketches import BLOCK, Look, Sketch, find_candidates, look_at_part
from deshred.elements import Compatibility, ShredSet
from deshred.evaluation.collections import KnownPile, open_collection, read_document
from deshred.executors import Executor, default_executor
from deshred.gathering import gather
from deshred.imaging.preparation import prepare
from deshred.simulation.drawing import PAGE_KINDS, draw_page
from deshred.simulation.piles import NamedPage, shred_pages

MODELS = {"s-marques": "towers-cdip", "s-isri-ocr": "towers-cdip", "s-cdip": "towers-isri"}
_SHARES = (1.0, 0.5, 0.25)  # of the candidates that a scorer lists


@dataclass(frozen=True)
class Recall:
    """What a first look lists of one pile."""

    pile: str
    shreds: int
    joins: int  # true ones
    looks: str
    candidates: tuple[int, ...]
    found: int
    per_edge: float


@dataclass(frozen=True, eq=False)
class Sketched:
    """A pile as the first look sees it."""

    ids: tuple[str, ...]
    joins: frozenset[tuple[str, str]]
    rights: list[Sketch]
    lefts: list[Sketch]


def sketch_piles(piles: Iterable[KnownPile], scorer: FusionScorer, executor: Executor) -> Sketched:
    ids: list[str] = []
    joins: frozenset[tuple[str, str]] = frozenset()
    rights, lefts = [], []
    for known in piles:
        pile = prepare(known.shreds, edges=scorer.edge_options, executor=executor)
        rights.append(scorer.sketch(scorer.describe_rights([pair.right for pair in pile.edges], executor)))
        lefts.append(scorer.sketch(scorer.describe_lefts([pair.left for pair in pile.edges], executor)))
        ids += pile.shreds.ids
        joins |= known.truth.restrict(pile.shreds.ids).joins
    return Sketched(tuple(ids), joins, _join(rights), _join(lefts))


def _join(parts: list[tuple[Sketch, ...]]) -> list[Sketch]:
    return [Sketch.concatenate(side, 0) for side in zip(*parts, strict=True)]


def measure(name: str, pile: Sketched, looks: tuple[Look, ...], told: str) -> Recall:
    count = len(looks)
    found = find_candidates(looks, pile.rights[:count], pile.lefts[:count], executor=default_executor())
    places = {id_: place for place, id_ in enumerate(pile.ids)}
    kept = sum(places[right] in found.of_row(places[left]) for left, right in pile.joins)
    per_edge = len(found.columns) / len(pile.ids)
    chosen = tuple(look.candidates for look in looks)
    return Recall(name, len(pile.ids), len(pile.joins), told, chosen, kept, round(per_edge, 1))


def measure_all(name: str, pile: Sketched, looks: tuple[Look, ...]) -> list[Recall]:
    return [
        measure(name, pile, tuple(replace(one, candidates=int(one.candidates * share)) for one in some), told)
        for some, told in ((looks, "ink and outline"), (looks[:1], "ink alone"))
        for share in _SHARES
    ]


@dataclass(frozen=True)
class Same:
    """What is equal of a pile compared in full and where a first look finds something, both solved."""

    pile: str
    shreds: int
    listed: int  # joins
    equal: int  # of those, to the last bit
    pages: tuple[int, int]  # in full, by lists
    same_pages: int
    joins: tuple[int, int]
    same_joins: int
    # where as many joins of a full comparison are kept as of lists
    same_pages_as_best: int
    same_joins_as_best: int

    def to_text(self) -> str:
        return (
            f"{self.pile}, {self.shreds} shreds: {self.equal:,} of {self.listed:,} listed joins equal, "
            f"{self.same_pages} pages the same of {self.pages[0]} and {self.pages[1]}, "
            f"{self.same_joins} joins of {self.joins[0]} and {self.joins[1]}; where the full comparison "
            f"keeps the best {ScoringOptions().candidates} joins of an edge as well, "
            f"{self.same_pages_as_best} pages and {self.same_joins_as_best} joins are the same"
        )


def compare_ways(name: str, shreds: ShredSet, scorer: FusionScorer, executor: Executor) -> Same:
    pile, store = prepare(shreds, edges=scorer.edge_options, executor=executor), MemoryStore()
    full, lists = (
        score(pile, scorer, options=ScoringOptions(dense_limit=limit), store=store, executor=executor)
        for limit in (len(pile), 0)
    )
    rows, columns = lists.list_joins()
    is_equal = (full.scores[rows, columns] == lists.scores) & (full.offsets[rows, columns] == lists.offsets)
    answers = [arrange(gather(pile, one)) for one in (full, lists, keep_best(full))]
    pages = [{tuple(slot.shred_id for slot in page) for page in answer.pages} for answer in answers]
    joins = [{(join.left, join.right) for join in answer.joins} for answer in answers]
    return Same(
        name,
        len(pile),
        len(rows),
        int(is_equal.sum()),
        (len(pages[0]), len(pages[1])),
        len(pages[0] & pages[1]),
        (len(joins[0]), len(joins[1])),
        len(joins[0] & joins[1]),
        len(pages[1] & pages[2]),
        len(joins[1] & joins[2]),
    )


def keep_best(full: Compatibility) -> Compatibility:
    """Of all joins those that lists would keep, had they been looked at in full."""
    most = ScoringOptions().candidates
    is_kept = np.zeros(full.scores.shape, np.bool_)
    for scores, kept in ((full.scores, is_kept), (full.scores.T, is_kept.T)):
        best = np.argsort(-scores, axis=1, kind="stable")[:, :most]
        np.put_along_axis(kept, best, values=True, axis=1)
    return replace(full, scores=np.where(is_kept, full.scores, np.float32(-np.inf)))


def time_look(pile: Sketched, looks: tuple[Look, ...], edges: int, blocks: int) -> float:
    """Seconds of a processor for one join, of some blocks of a large pile: copies of edges, with noise."""
    rng = np.random.default_rng(0)
    seconds, joins = 0.0, 0
    for look, rights, lefts in zip(looks, pile.rights, pile.lefts, strict=True):
        some, others = (_copy(side, count, rng) for side, count in ((rights, blocks * BLOCK), (lefts, edges)))
        start = time.process_time()
        look_at_part(0, len(some), look=look, rights=some, lefts=others)
        seconds += time.process_time() - start
        joins = len(some) * edges
    return seconds / joins


def _copy(sketch: Sketch, count: int, rng: np.random.Generator) -> Sketch:
    chosen = sketch[rng.integers(0, len(sketch), count)]
    noise = rng.integers(-2, 3, chosen.values.shape, np.int8)
    return replace(chosen, values=(chosen.values + noise).astype(np.int16))


def make_pile(pages: int) -> KnownPile:
    """Drawn pages of all kinds, shredded and mixed."""
    rng = np.random.default_rng(0)
    drawn = [NamedPage(f"P{i}", draw_page(PAGE_KINDS[i % len(PAGE_KINDS)], rng)) for i in range(pages)]
    mixed = shred_pages(drawn, rng)
    shreds = [one.shred.to_shred(one.name) for one in mixed.shreds]
    return KnownPile(ShredSet(shreds), mixed.truth)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder that holds s-marques, s-isri-ocr, s-cdip")
    parser.add_argument("--pages", type=int, default=20, help="drawn pages of the made pile")
    parser.add_argument("--same", action="store_true", help="solve all piles in full and by lists instead")
    parser.add_argument("--edges", type=int, help="only time looks at a pile of so many shreds, a part of it")
    parser.add_argument("--blocks", type=int, default=4, help="of right-hand edges that are timed")
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    executor = default_executor()
    if arguments.edges:
        scorer = FusionScorer()
        made = sketch_piles([make_pile(arguments.pages)], scorer, executor)
        with threadpool_limits(1, "blas"):
            seconds = time_look(made, scorer.looks, arguments.edges, arguments.blocks)
        whole = seconds * arguments.edges**2
        print(f"{seconds * 1e6:.3f} µs a join; {whole:,.0f} s for all of {arguments.edges:,} shreds")
        return
    if arguments.same:
        for name, model in MODELS.items():
            documents = (
                read_document(one, executor=executor) for one in open_collection(arguments.data / name)
            )
            shreds = ShredSet([shred for document in documents for shred in document.shreds])
            print(compare_ways(name, shreds, FusionScorer(model), executor).to_text(), flush=True)
        shreds = make_pile(arguments.pages).shreds
        print(compare_ways("made", shreds, FusionScorer(), executor).to_text())
        return
    results: list[Recall] = []
    for name, model in MODELS.items():
        scorer = FusionScorer(model)
        collection = open_collection(arguments.data / name)
        documents = (read_document(document, executor=executor) for document in collection)
        results += measure_all(name, sketch_piles(documents, scorer, executor), scorer.looks)
    scorer = FusionScorer()
    made = sketch_piles([make_pile(arguments.pages)], scorer, executor)
    results += measure_all("made", made, scorer.looks)
    for result in results:
        print(
            f"{result.pile}, {result.looks}, best {result.candidates}: {result.found} of {result.joins} true "
            f"joins, {result.per_edge} listed per edge"
        )
    arguments.output.mkdir(parents=True, exist_ok=True)
    content = json.dumps([asdict(result) for result in results], indent=1)
    (arguments.output / "looking.json").write_text(content + "\n")


if __name__ == "__main__":
    main()
