"""The steps of one run, bound to its settings, to where it works, and to the clock that times each step.

Large piles lie on disk while they wait; their memory is given back between the stages.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from deshred.arrangement import WarmStart, arrange, check_question
from deshred.blanks import anchor_blanks
from deshred.cases import SharedStore, Store
from deshred.compatibility.contract import AnyScorer
from deshred.compatibility.lines import weigh_lines
from deshred.compatibility.refinement import refine
from deshred.compatibility.scoring import score
from deshred.elements import Arrangement, Compatibility, Constraints, Copy, Page, Pile, ShredSet
from deshred.executors import Executor, KeepingExecutor, Progress, default_executor
from deshred.gathering import gather
from deshred.imaging.composition import compose
from deshred.imaging.intakes import Intake, cut_ahead, load_intake
from deshred.imaging.preparation import prepare
from deshred.imaging.turning import turn
from deshred.leftovers import find_upside_down
from deshred.missing import find_missing
from deshred.orientation import Scored, orient, turn_pile
from deshred.settings import Settings
from deshred.shelf import Shelf, return_freed_memory
from deshred.sides import match_sides
from deshred.timing import Stopwatch

_SHELF_SHARE = 4  # of the budget is for pixels and edges that wait; the rest is for work on them


class CopiesWarning(UserWarning):
    """The same file was given under several names: the message says which."""


class Run:
    """The way from files to pages, verb by verb."""

    def __init__(
        self,
        settings: Settings,
        *,
        store: Store | None = None,
        executor: Executor | None = None,
        progress: Progress | None = None,
        shelf: Shelf | None = None,
    ) -> None:
        self.settings = settings
        self.watch = Stopwatch()
        self._store = store
        self._executor = executor or default_executor(settings.jobs)
        # pixels that are here take longer to travel than to be looked at
        self._near = self._executor if self._executor.shares_memory else default_executor(settings.jobs)
        self._progress = progress
        self._stage = ""  # as progress names it
        self._warm_start = WarmStart()  # parts are gathered by an order that is then the answer, mostly
        self._shelf = shelf or Shelf(room=settings.budget.memory_bytes // _SHELF_SHARE)

    def load(self, shreds: ShredSet | Iterable[str | Path]) -> Intake:
        """Shreds as they are given, or those of files and folders."""
        with self.watch.measure("decode"):
            if isinstance(shreds, ShredSet):
                files = {shred.source.path: shred.source for shred in shreds}
                return Intake(shreds, (), tuple(files.values()))
            paths = list(shreds)
            if not self._executor.shares_memory and isinstance(self._store, SharedStore):
                cut_ahead(
                    paths,
                    options=self.settings.scans,
                    segmentation=self.settings.segmentation,
                    budget=self.settings.budget,
                    store=self._store,
                    executor=self._executor,
                    progress=self._progress,
                )
            return load_intake(
                paths,
                options=self.settings.scans,
                segmentation=self.settings.segmentation,
                budget=self.settings.budget,
                store=self._store,
                executor=KeepingExecutor(self._near, self._shelf.keep),
                progress=self._progress,
            )

    def prepare(self, shreds: ShredSet, scorer: AnyScorer, constraints: Constraints) -> Pile:
        """`prepare` and `anchor_blanks`; sides are paired, sheets turned, and what must be wrong is said."""
        settings = self.settings
        is_double = settings.sides == "double"
        keeping = KeepingExecutor(self._near, self._shelf.keep)
        with self.watch.measure("prepare"):
            pile = prepare(
                shreds,
                blank=settings.blank,
                edges=scorer.edge_options,
                keep=shreds.ids if is_double else constraints.ids,
                executor=keeping,
                progress=self._tick,
            )
            if is_double:
                pile = match_sides(pile, options=settings.blank)
            check_question(pile.shreds.ids, constraints, settings.arrangement)
            _warn_of_copies(pile.shreds)
            if settings.blank.anchored and not is_double and settings.orientation != "any":
                pile = anchor_blanks(
                    pile, scorer, scoring=settings.scoring, executor=keeping, progress=self._tick
                )
            pile = turn_pile(pile, settings.orientation)
        self._tidy_up()
        return pile

    def score(
        self, pile: Pile, scorer: AnyScorer, *, turned: Collection[str] = (), is_upright: bool = False
    ) -> Scored:
        """`score`, `weigh_lines` and `gather`, with the shreds in `turned` the other way up; or both ways up,
        where any may be wrong."""

        def score_way(some: Pile) -> Scored:
            compatibility = score(
                some,
                scorer,
                options=self.settings.scoring,
                store=self._store,
                executor=self._executor,
                progress=self._tick,
                stopwatch=self.watch,
            )
            return Scored(some, compatibility)

        if self.settings.orientation == "any":
            scored = orient(
                pile,
                scorer,
                scoring=self.settings.scoring,
                arrangement=self.settings.arrangement,
                turned=turned,
                is_upright=is_upright,
                store=self._store,
                executor=self._executor,
                progress=self._tick,
                stopwatch=self.watch,
            )
        else:
            scored = score_way(turn(pile, turned))
            if self.settings.orientation == "sheets" and not is_upright:
                astray = self._find_upside_down(scored, scorer, turned)
                scored = score_way(turn(scored.pile, astray)) if astray else scored
        self._tidy_up()
        pages = self.settings.arrangement.pages
        with self.watch.measure("score"):
            compatibility = weigh_lines(scored.compatibility, scored.pile, scorer=scorer.card, pages=pages)
        with self.watch.measure("solve"):
            gathered = gather(
                scored.pile,
                compatibility,
                options=self.settings.arrangement,
                progress=self._progress,
                warm_start=self._warm_start,
            )
        return Scored(scored.pile, gathered)

    def _find_upside_down(self, scored: Scored, scorer: AnyScorer, known: Collection[str]) -> frozenset[str]:
        """Shreds that fit nowhere, but clearly do when they are turned."""
        with self.watch.measure("solve"):
            return find_upside_down(
                scored.pile,
                scored.compatibility,
                scorer,
                options=self.settings.arrangement,
                scoring=self.settings.scoring,
                but=known,
                store=self._store,
                executor=self._executor,
                warm_start=self._warm_start,
            )

    def arrange(self, compatibility: Compatibility, constraints: Constraints) -> Arrangement:
        """`arrange`."""
        with self.watch.measure("solve"):
            return arrange(
                compatibility,
                constraints,
                options=self.settings.arrangement,
                progress=self._progress,
                warm_start=self._warm_start,
            )

    def refine(self, arrangement: Arrangement, compatibility: Compatibility, pile: Pile) -> Arrangement:
        """`refine`."""
        with self.watch.measure("refine"):
            refined = refine(arrangement, compatibility, pile, executor=self._near, progress=self._tick)
        self._tidy_up()
        return refined

    def compose(
        self,
        pile: Pile,
        arrangement: Arrangement,
        compatibility: Compatibility,
        *,
        copy: Copy = "evidence",
    ) -> Sequence[Page]:
        """`compose`, each page when it is asked for."""
        with self.watch.measure("compose"):
            is_shown = self.settings.show_missing
            return compose(
                pile.shreds,
                arrangement,
                options=self.settings.composition,
                copy=copy,
                missing=find_missing(arrangement, compatibility, blank=pile.blank) if is_shown else (),
                lazily=True,
            )

    def _tidy_up(self) -> None:
        """Give back what a stage does not need any more."""
        self._shelf.release()
        return_freed_memory()

    def _tick(self, stage: str, done: int, total: int) -> None:
        """Give back the memory of what lies on disk at every step: it was looked at."""
        if stage == self._stage:
            self._shelf.release()
        else:
            self._tidy_up()
            self._stage = stage
        if self._progress is not None:
            self._progress(stage, done, total)


def _warn_of_copies(shreds: ShredSet) -> None:
    """Equal files are rarely meant: nothing can tell their shreds apart, and one of them is in the way."""
    files: dict[str, dict[Path, None]] = {}
    for shred in shreds:
        files.setdefault(shred.source.sha256, {})[shred.source.path] = None
    for digest, copies in files.items():
        if digest and len(copies) > 1:
            first, second, *more = copies
            others = f" and {len(more)} more" if more else ""
            warnings.warn(
                f"{first} and {second}{others} are the same file; all are kept. Leave copies out.",
                CopiesWarning,
                3,
            )
