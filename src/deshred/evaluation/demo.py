"""The demonstration: draw pages, shred and mix them, reconstruct the files, compare with the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

import numpy as np

from deshred.cases import find_case, working_on
from deshred.errors import SettingsError
from deshred.evaluation.metrics import PageMetrics, measure_accuracy, measure_pages
from deshred.executors import Progress
from deshred.export.results import reconstruct_into
from deshred.options import option
from deshred.pipeline import Reconstruction
from deshred.settings import Settings
from deshred.simulation.drawing import PAGE_KINDS, PageKind, draw_page
from deshred.simulation.piles import (
    SHREDS,
    TRUTH,
    NamedPage,
    NamedSheet,
    read_truth,
    save_pile,
    shred_pages,
    shred_sheets,
    worsen,
)
from deshred.simulation.shredding import ShreddingOptions

PILE = "pile"
RUN = "run"


@dataclass(frozen=True)
class DemoOptions:
    """What is drawn and shredded."""

    kinds: tuple[PageKind, ...] = option(
        ("text", "form", "table", "letter", "list", "sparse"),
        "Pages to draw.",
        metavar="KIND,...",
        parse=lambda text: tuple(text.split(",")),
    )
    shreds: int = option(25, "Shreds per page.")
    seed: int = option(0, "Seed for everything random.")
    hard: bool = option(
        False, "Print both sides, turn half of the shreds upside down, and leave out a tenth."
    )

    def __post_init__(self) -> None:
        if not self.kinds:
            raise SettingsError("a demonstration needs at least one page to draw.")
        unknown = [kind for kind in self.kinds if kind not in PAGE_KINDS]
        if unknown:
            known = ", ".join(PAGE_KINDS)
            raise SettingsError(f"there is no page of kind {', '.join(unknown)}. Try one of {known}.")
        if self.seed < 0:
            raise SettingsError(f"seed must be at least 0, got {self.seed}.")


@dataclass(frozen=True, eq=False)
class DemoResult:
    """What the demonstration reached, and where everything is."""

    reconstruction: Reconstruction
    accuracy: float  # the share of right joins, by the paper's rule
    pages: PageMetrics
    pile: Path  # the shreds and, apart from them, the truth
    run: Path  # the pages and the report

    def summary(self) -> str:
        """One line, such as `142 of 142 joins right (100.0 %), 6 of 6 pages complete and in order`."""
        joins = len(self.reconstruction.shreds) - 1
        right = round(self.accuracy * joins)
        complete = f"{self.pages.perfect} of {self.pages.documents} pages complete and in order"
        return f"{right} of {joins} joins right ({self.accuracy:.1%}), {complete}"


def run_demo(
    out: str | Path,
    *,
    options: DemoOptions | None = None,
    settings: Settings | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> DemoResult:
    """Write a pile of simulated shreds to `out`, reconstruct it from its files, and measure the answer."""
    options = options or DemoOptions()
    pile, run = Path(out) / PILE, Path(out) / RUN
    find_case(run, command="reconstruct", force=force)  # refuse a foreign folder before the work, not after
    save_demo_pile(pile, options=options, force=force, progress=progress)
    if options.hard:
        settings = replace(settings or Settings(), orientation="any", sides="double", show_missing=True)
    reconstruction = reconstruct_into(run, [pile / SHREDS], settings=settings, force=force, progress=progress)
    truth = read_truth(pile / TRUTH)
    return DemoResult(
        reconstruction,
        measure_accuracy(reconstruction.arrangement.order, truth),
        measure_pages(reconstruction.arrangement, truth),
        pile,
        run,
    )


def save_demo_pile(
    folder: Path, *, options: DemoOptions, force: bool = False, progress: Progress | None = None
) -> None:
    """Draw the pages, shred and mix them, and save the pile."""
    with working_on(folder, command="shred", force=force) as case:
        rng = np.random.default_rng(options.seed)
        pages = []
        for done, kind in enumerate(options.kinds, 1):
            pages.append(NamedPage(f"{done}-{kind}", draw_page(kind, rng)))
            if progress:
                progress("drawing pages", done, len(options.kinds))
        cutting = ShreddingOptions(shreds=options.shreds)
        if options.hard:
            pile = worsen(shred_sheets(print_both_sides(pages), rng, options=cutting), rng)
        else:
            pile = shred_pages(pages, rng, options=cutting, progress=progress)
        save_pile(pile, case, progress=progress)


def print_both_sides(pages: Sequence[NamedPage]) -> list[NamedSheet]:
    """Two pages to a sheet; the back of the last one stays blank where their number is odd."""
    sheets = []
    for front, back in zip_longest(pages[::2], pages[1::2]):
        behind = np.full_like(front.image, 255) if back is None else back.image
        sheets.append(NamedSheet(front.name, front.image, behind))
    return sheets
