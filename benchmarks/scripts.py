"""Mixes simulated piles in every script and counts the joins that are found, before and after a training.

    python benchmarks/scripts.py -o benchmarks/results --models before=OLD.onnx after=towers-default
    python benchmarks/scripts.py -o benchmarks/results --models before=OLD.onnx after=towers-default --wear

Pages are drawn with faces that no training draws (`simulation/scripts/fonts.py`), Latin ones with the fonts
that ship. The number of pages is given. Running text (text, columns, small print) tells which script is hard;
with --any-kind there are also tables, forms and nearly empty pages, where many cuts meet nothing but rules or
blank paper in whatever script, and ink alone cannot tell them apart; the gutters between columns are counted
apart, for the same reason. With --wear pages of four scripts are
worn in each way, at three strengths, and joined from ink alone. Rows that the output holds already are kept.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np

from deshred.arrangement import ArrangementOptions, arrange
from deshred.compatibility.calibration import rate
from deshred.compatibility.lines import weigh_lines
from deshred.compatibility.scorers import load_scorer
from deshred.compatibility.scoring import score
from deshred.elements import Image, Pile, Shred, ShredSet
from deshred.evaluation.collections import KnownPile
from deshred.evaluation.metrics import measure_pages, measure_reliability
from deshred.imaging.binarization import is_blank
from deshred.imaging.preparation import prepare
from deshred.simulation.drawing import PAGE_KINDS, PageKind, draw_page
from deshred.simulation.scripts import SCRIPT_NAMES, Faces, ScriptName, draw_script_page
from deshred.simulation.shredding import ShreddingOptions, shred_page
from deshred.simulation.truth import Place, Truth
from deshred.simulation.wear import WEARS, Wear, wear_page

AnyScript = ScriptName | Literal["latin"]
SCRIPTS: tuple[AnyScript, ...] = ("latin", *SCRIPT_NAMES)
WORN_SCRIPTS: tuple[AnyScript, ...] = ("latin", "arabic", "devanagari", "chinese-simplified")
STRENGTHS = (0.2, 0.5, 0.8)
GUTTER, LINE = 8, 50  # px from the cut, and px of a line of 12 points
RUNNING: tuple[PageKind, ...] = ("text", "columns", "small-print")


@dataclass(frozen=True)
class Row:
    """What came out of one pile."""

    model: str
    scorer: str
    script: str
    kinds: str  # running text, or any
    wear: str
    strength: float
    pages: int
    shreds: int
    joins: int
    found: int  # true joins
    precision: float
    perfect: int  # pages
    calibration_error: float
    sure: int  # joins with a probability of at least 0.9
    sure_wrong: int
    gutters: int | None = None  # true joins where a side shows less than a line of print at the cut
    gutters_found: int | None = None
    seed: int = 0

    @property
    def key(self) -> tuple[Any, ...]:
        return (
            self.model,
            self.scorer,
            self.script,
            self.kinds,
            self.wear,
            self.strength,
            self.pages,
            self.seed,
        )


@dataclass(frozen=True)
class Job:
    """A pile to measure: pages of these scripts in turn."""

    name: str
    scripts: tuple[AnyScript, ...]
    kinds: tuple[PageKind, ...] = RUNNING  # none is any
    wear: Wear | None = None
    strength: float = 0.0

    @property
    def kinds_name(self) -> str:
        return "running text" if self.kinds else "any"


def draw(
    script: AnyScript, kinds: tuple[PageKind, ...], rng: np.random.Generator, faces: Faces = "held-out"
) -> Image:
    if script == "latin":
        choice = kinds or PAGE_KINDS
        return draw_page(choice[int(rng.integers(len(choice)))], rng)
    return draw_script_page(script, rng, faces=faces, kinds=kinds)


def make_pile(job: Job, pages: int, seed: int, *, faces: Faces = "held-out") -> KnownPile:
    """Of each page the longest run of shreds with ink; the same pages and cuts for every model and wear."""
    shreds: list[Shred] = []
    places: dict[str, Place] = {}
    for page in range(pages):
        rng = np.random.default_rng([seed, page, *job.name.encode()])
        image = draw(job.scripts[page % len(job.scripts)], job.kinds, rng, faces)
        if job.wear is not None:
            image = wear_page(image, job.wear, job.strength, np.random.default_rng([seed, page]))
        cut = [
            s.to_shred(f"{page}-{i}")
            for i, s in enumerate(
                shred_page(image, rng, options=ShreddingOptions(shreds=int(rng.integers(20, 31))))
            )
        ]
        inked = np.flatnonzero([not is_blank(shred) for shred in cut])
        for i in max(np.split(inked, np.flatnonzero(np.diff(inked) > 1) + 1), key=len):
            shreds.append(cut[i])
            places[cut[i].id] = Place(str(page), int(i))
    order = np.random.default_rng(seed).permutation(len(shreds))
    return KnownPile(ShredSet([shreds[i] for i in order]), Truth(places))


def find_gutters(pile: Pile, truth: Truth) -> set[tuple[str, str]]:
    """True joins that were cut through (nearly) blank paper: between two columns, or in a margin."""
    printed = {
        shred.id: [int(edge.ink[:, :GUTTER].any(axis=1).sum()) >= LINE for edge in (pair.left, pair.right)]
        for shred, pair in zip(pile.shreds, pile.edges, strict=True)
    }
    return {(a, b) for a, b in truth.joins if not (printed[a][1] and printed[b][0])}


def measure(
    job: Job, pile: KnownPile, label: str, model: str, scorer_name: str, pages: int, seed: int
) -> Row:
    scorer = load_scorer(scorer_name, model)
    prepared = prepare(pile.shreds, edges=scorer.edge_options)
    gutters = find_gutters(prepared, pile.truth)
    compatibility = weigh_lines(score(prepared, scorer), prepared, scorer=scorer.card)
    options = ArrangementOptions(pages=pages, time_limit=120)
    arrangement = rate(arrange(compatibility, options=options), compatibility)
    found = measure_pages(arrangement, pile.truth)
    promised = np.array([join.probability for join in arrangement.joins], np.float64)
    kept = np.array([(join.left, join.right) in pile.truth.joins for join in arrangement.joins])
    return Row(
        label,
        scorer_name,
        job.name,
        job.kinds_name,
        job.wear or "",
        job.strength,
        pages,
        len(pile.shreds),
        len(pile.truth.joins),
        round(found.recall * len(pile.truth.joins)),
        round(found.precision, 4),
        found.perfect,
        round(measure_reliability(promised, kept).error, 4),
        int((promised >= 0.9).sum()),
        int((promised[~kept] >= 0.9).sum()),
        len(gutters),
        sum((join.left, join.right) in gutters for join in arrangement.joins),
        seed,
    )


def list_jobs(arguments: argparse.Namespace) -> Iterator[Job]:
    if not arguments.wear:
        kinds = () if arguments.any_kind else RUNNING
        yield from (Job(script, (script,), kinds) for script in arguments.scripts)
        return
    yield Job("four scripts", WORN_SCRIPTS)
    for wear in WEARS:
        for strength in STRENGTHS:
            yield Job("four scripts", WORN_SCRIPTS, wear=wear, strength=strength)


def to_text(row: dict[str, Any]) -> str:
    return (
        f"{row['model']:8} {row['scorer']:8} {row['script']:20} {row['kinds']:12} {row['wear']:14} "
        f"{row['strength']:.1f} seed {row['seed']} "
        f"{row['found']:4} of {row['joins']:4} = {100 * row['found'] / row['joins']:5.1f} %, "
        f"{row['perfect']} of {row['pages']} pages, "
        f"calibration error {100 * row['calibration_error']:.1f} %, "
        f"{row['sure_wrong']} of {row['sure']} sure ones wrong"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, required=True, help="a folder")
    parser.add_argument("--models", nargs="+", default=["after=towers-default"], metavar="LABEL=MODEL")
    parser.add_argument("--pages", type=int, help="pages in a pile (10; 4 with --wear)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="a pile each; default: 0")
    parser.add_argument("--scripts", nargs="+", default=SCRIPTS, choices=SCRIPTS)
    parser.add_argument("--scorers", nargs="+", default=None, help="towers and default; towers with --wear")
    parser.add_argument("--any-kind", action="store_true", help="all kinds of pages")
    parser.add_argument("--wear", action="store_true")
    arguments = parser.parse_args()
    pages = arguments.pages or (4 if arguments.wear else 10)
    scorers = arguments.scorers or (["towers"] if arguments.wear else ["towers", "default"])
    arguments.output.mkdir(parents=True, exist_ok=True)
    file = arguments.output / ("wear.json" if arguments.wear else "scripts.json")
    rows: list[dict[str, Any]] = json.loads(file.read_text()) if file.is_file() else []
    models = [entry.split("=", 1) for entry in arguments.models]
    known = {Row(**row).key for row in rows}
    for job, seed in product(list_jobs(arguments), arguments.seeds):
        pile = None
        for (label, model), scorer in product(models, scorers):
            wear = job.wear or ""
            if (label, scorer, job.name, job.kinds_name, wear, job.strength, pages, seed) in known:
                continue
            pile = pile or make_pile(job, pages, seed)
            rows.append(asdict(measure(job, pile, label, model, scorer, pages, seed)))
            print(to_text(rows[-1]), flush=True)
            file.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
