"""Whole pages of mixed piles whose number of pages is not told: what a person sees. JSON out.

    python benchmarks/pages.py ../shared/data -o benchmarks/results/pages.json --cache /tmp/scores
    python benchmarks/pages.py ../shared/data --collections s-isri-ocr --missing 0.1
    python benchmarks/pages.py ../shared/data --collections s-isri-ocr --turned 0.5
    python benchmarks/pages.py ../shared/data --collections s-cdip --astray 0.02

All documents of a collection are mixed; models are cross-database. `sheets` are the raw scans of some S-CDIP
documents, segmented as anybody's would be. `--turned` turns a share of the shreds upside down and lets any
shred be turned back. `--astray` turns a share, too, but only what is left over may be turned back, as it is
by default. `--missing` takes a share of the shreds away. Joins with a probability of at least 0.8 count as
asserted.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deshred.arrangement import ArrangementOptions, arrange
from deshred.cases import Folder, FolderStore, MemoryStore, Store, to_json, write_atomically
from deshred.compatibility.calibration import rate
from deshred.compatibility.contract import AnyScorer
from deshred.compatibility.lines import weigh_lines
from deshred.compatibility.scorers import load_scorer
from deshred.compatibility.scoring import score
from deshred.elements import Arrangement, Compatibility, Pile, Shred, ShredSet
from deshred.evaluation.collections import open_collection, read_document
from deshred.evaluation.metrics import measure_accuracy, measure_pages
from deshred.gathering import gather
from deshred.imaging.binarization import BlankOptions
from deshred.imaging.intakes import load_intake
from deshred.imaging.preparation import prepare
from deshred.imaging.turning import turn, turn_shred
from deshred.leftovers import find_upside_down
from deshred.orientation import orient
from deshred.simulation.truth import Place, Truth

MODELS = {
    "s-isri-ocr": "towers-cdip",
    "s-cdip": "towers-isri",
    "s-marques": "towers-cdip",
    "sheets": "towers-isri",
}
PROBABLE = 0.8  # joins that a reader is told are likely


@dataclass(frozen=True, eq=False)
class KnownShreds:
    """Shreds of one collection with their truth; the rule that calls them blank is the collection's."""

    shreds: list[Shred]
    truth: Truth
    blank: BlankOptions


def read_collection(folder: Path) -> KnownShreds:
    shreds: list[Shred] = []
    places: dict[str, Place] = {}
    for document in open_collection(folder):
        known = read_document(document)
        shreds += known.shreds
        places |= known.truth.places
    return KnownShreds(shreds, Truth(places), BlankOptions(rule="paper"))


def read_sheets(folder: Path) -> KnownShreds:
    """Raw sheets: what was cut out belongs to the true shred whose middle it covers."""
    truth = json.loads((folder / "truth.json").read_text())
    intake = load_intake([folder])
    places: dict[str, Place] = {}
    for sheet in intake.sheets:
        for cutout in sheet.segmentation.cutouts:
            name = cutout.name.sheet
            document = name.partition("-")[0]
            middle = cutout.box.as_list()[0] + cutout.box.as_list()[2] / 2
            for shred in truth[document]["shreds"]:
                left, _, width, _ = shred["bbox_xywh"]
                if Path(shred["sheet"]).stem == name and left <= middle < left + width:
                    places[str(cutout.name)] = Place(document, shred["n"])
    known = [shred for shred in intake.shreds if shred.id in places]
    print(f"{len(known)} of {len(intake.shreds)} shreds on {len(intake.sheets)} sheets are known", flush=True)
    return KnownShreds(known, Truth(places), BlankOptions())


def disturb(known: KnownShreds, turned: float, missing: float, rng: np.random.Generator) -> list[Shred]:
    """The shreds in random order, some of them taken away and some turned."""
    kept = [known.shreds[i] for i in rng.permutation(len(known.shreds)) if rng.random() >= missing]
    return [turn_shred(shred) if rng.random() < turned else shred for shred in kept]


def look(
    pile: Pile, scorer: AnyScorer, store: Store, arguments: argparse.Namespace
) -> tuple[Pile, Compatibility]:
    """The pile as it is to be arranged, and its scores."""
    if arguments.turned:
        found = orient(pile, scorer, store=store)
        pile, compatibility = found.pile, found.compatibility
    else:
        compatibility = score(pile, scorer, store=store)
        astray = find_upside_down(pile, compatibility, scorer)
        if astray:
            pile = turn(pile, astray)
            compatibility = score(pile, scorer, store=store)
    return pile, compatibility


def judge(arrangement: Arrangement, truth: Truth, whole: Truth) -> dict[str, Any]:
    """Pages against documents; and joins against those that touched before anything was taken away."""
    pages = measure_pages(arrangement, truth)
    asserted = [join for join in arrangement.joins if (join.probability or 0) >= PROBABLE]
    touching = whole.joins & truth.joins
    right = sum((join.left, join.right) in touching for join in asserted)
    return {
        **asdict(pages),
        "accuracy": measure_accuracy(arrangement.order, truth),
        "gap": arrangement.gap,
        "asserted": len(asserted),
        "asserted_right": right,
        "touching": len(touching),
    }


def measure(name: str, known: KnownShreds, arguments: argparse.Namespace) -> dict[str, Any]:
    rng = np.random.default_rng(arguments.seed)
    scorer = load_scorer("default", MODELS[name])
    store: Store = MemoryStore() if arguments.cache is None else FolderStore(Folder(arguments.cache), name)
    blank = prepare(known.shreds, blank=known.blank, edges=scorer.edge_options).blank
    inked = KnownShreds([s for s in known.shreds if s.id not in set(blank.ids)], known.truth, known.blank)
    shreds = disturb(inked, max(arguments.turned, arguments.astray), arguments.missing, rng)
    pile = prepare(shreds, blank=known.blank, edges=scorer.edge_options, keep=[s.id for s in shreds])
    start = time.perf_counter()
    pile, compatibility = look(pile, scorer, store, arguments)
    scored = time.perf_counter()
    options = ArrangementOptions(time_limit=arguments.time_limit)
    compatibility = weigh_lines(compatibility, pile, scorer=scorer.card)
    compatibility = gather(pile, compatibility, options=options)
    arrangement = rate(arrange(compatibility, options=options), compatibility)
    solved = time.perf_counter()
    truth = known.truth.restrict(pile.shreds.ids)
    result = judge(arrangement, truth, known.truth.restrict([s.id for s in inked.shreds]))
    if arguments.turned or arguments.astray:
        result["upright"] = count_upright(arrangement, pile.shreds)
    seconds = {"score": round(scored - start, 1), "solve": round(solved - scored, 1)}
    return {"collection": name, "shreds": len(pile), **result, "seconds": seconds}


def count_upright(arrangement: Arrangement, shreds: ShredSet) -> int:
    """Pages with all shreds the way they were before some were turned: turned back, or left alone."""
    turned = {shred.id for shred in shreds if shred.is_turned}
    return sum(not any(slot.shred_id in turned for slot in page) for page in arrangement.pages)


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--collections", default=",".join(MODELS), help="some of " + ",".join(MODELS))
    parser.add_argument("-o", "--out", type=Path)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--turned", type=float, default=0.0)
    parser.add_argument("--astray", type=float, default=0.0)
    parser.add_argument("--missing", type=float, default=0.0)
    parser.add_argument("--time-limit", type=float, default=60.0)
    arguments = parser.parse_args(given)
    results = []
    for name in arguments.collections.split(","):
        is_raw = name == "sheets"
        known = (
            read_sheets(arguments.data / "s-cdip-sheets")
            if is_raw
            else read_collection(arguments.data / name)
        )
        results.append(measure(name, known, arguments))
        print(json.dumps(results[-1]), flush=True)
    if arguments.out:
        content = {"turned": arguments.turned, "missing": arguments.missing, "results": results}
        write_atomically(arguments.out, to_json(content).encode())


if __name__ == "__main__":
    main()
