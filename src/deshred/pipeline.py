"""Scans of loose shreds in, composed pages out: five public verbs, one after the other.

    load -> prepare -> score -> arrange -> refine -> compose

Whatever happens here can be done with the same verbs one by one.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from deshred.arrangement import WarmStart, arrange, check_question
from deshred.cases import Store
from deshred.compatibility.contract import AnyScorer, ScorerCard
from deshred.compatibility.refinement import refine
from deshred.compatibility.scorers import load_scorer
from deshred.compatibility.scoring import score
from deshred.elements import Arrangement, Compatibility, Constraints, Page, Pile, Placement, ShredSet, Source
from deshred.errors import MismatchError
from deshred.executors import Executor, KeepingExecutor, Progress, default_executor
from deshred.imaging.composition import LazyPages, compose
from deshred.imaging.intakes import Intake, Sheet, load_intake
from deshred.imaging.preparation import prepare
from deshred.imaging.sheets.looks import Decision
from deshred.missing import find_missing
from deshred.orientation import orient, score_both_ways, turn, turn_pile
from deshred.settings import Settings
from deshred.shelf import Shelf
from deshred.sides import Faces, add_faces, order_faces, pair_faces, set_blank_aside
from deshred.timing import Stopwatch

_SHELF_SHARE = 4  # of the budget is for pixels and edges that wait; the rest is for work on them


class CopiesWarning(UserWarning):
    """The same file was given under several names: the message says which."""


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """What `reconstruct` returns: every stage's result, and the seconds each took."""

    pile: Pile
    sheets: tuple[Sheet, ...]  # what the shreds were cut out of, where they were
    sources: tuple[Source, ...]  # every file that was read
    decision: Decision  # how files were read, and what speaks for it
    compatibility: Compatibility
    constraints: Constraints
    arrangement: Arrangement
    pages: Sequence[Page]  # as `reconstruct` returns them, each is composed when it is asked for
    scorer: ScorerCard
    settings: Settings
    seconds: Mapping[str, float]

    @property
    def shreds(self) -> ShredSet:
        """Those with ink, in the order of the compatibility."""
        return self.pile.shreds

    @property
    def blank(self) -> ShredSet:
        """Those set aside: without ink there is nothing to match."""
        return self.pile.blank

    @property
    def placements(self) -> list[tuple[Placement, ...]]:
        """Where the shreds of every page lie, from left to right."""
        if isinstance(self.pages, LazyPages):
            return [self.pages.find_placements(index) for index in range(len(self.pages))]
        return [page.placements for page in self.pages]

    def save(self, folder: str | Path, *, force: bool = False) -> Path:
        """Write pages, report and record into a case folder, as `deshred reconstruct` does."""
        from deshred.export.results import save_into  # what people take away lies above the pipeline

        return save_into(folder, self, force=force)

    def summary(self) -> str:
        """One line, such as `37 shreds, 2 pages, proven optimal, 2 joins worth a look`."""
        open_joins = sum(join.verdict == "open" for join in self.arrangement.joins)
        parts = [_count(len(self.shreds), "shred"), _count(len(self.pages), "page")]
        if self.blank:
            parts.append(f"{_count(len(self.blank), 'blank shred')} set aside")
        turned = sum(shred.is_turned for shred in self.shreds)
        if turned:
            parts.append(f"{_count(turned, 'shred')} turned")
        parts.append("proven optimal" if self.arrangement.is_optimal else f"gap {self.arrangement.gap:.3g}")
        parts.append(f"{_count(open_joins, 'join')} worth a look" if open_joins else "no open joins")
        return ", ".join(parts)

    def __repr__(self) -> str:
        return f"Reconstruction({self.summary()})"


def reconstruct(
    shreds: ShredSet | Iterable[str | Path],
    scorer: AnyScorer | None = None,
    *,
    constraints: Constraints | None = None,
    settings: Settings | None = None,
    store: Store | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Reconstruction:
    """Reconstruct pages from shreds, or from files and folders; a store keeps what can be used again."""
    settings = settings or Settings()
    constraints = constraints or Constraints()
    scorer = scorer or load_scorer(
        settings.scorer, settings.model, pairwise=settings.pairwise, threads=settings.jobs or 0
    )
    executor = executor or default_executor(settings.jobs)
    shelf = Shelf(room=settings.budget.memory_bytes // _SHELF_SHARE)
    keeping = KeepingExecutor(executor, shelf.keep)  # large piles lie on disk
    # pixels that are here take longer to travel than to be looked at
    near = executor if executor.shares_memory else default_executor(settings.jobs)
    ticking = _release_often(shelf, progress)
    watch = Stopwatch()
    with watch.measure("decode"):
        intake = _take_in(shreds, settings, store, keeping, progress)
    with watch.measure("prepare"):
        pile = prepare(
            intake.shreds,
            blank=settings.blank,
            edges=scorer.edge_options,
            keep=constraints.ids if settings.sides == "single" else intake.shreds.ids,
            executor=KeepingExecutor(near, shelf.keep),
            progress=progress,
        )
        faces = Faces(())
        if settings.sides == "double":
            faces = pair_faces(pile)
            pile = set_blank_aside(pile, faces, options=settings.blank)
        shelf.release()
        check_question(pile.shreds.ids, constraints, settings.arrangement)
        _warn_of_copies(pile.shreds)
        pile = turn_pile(pile, settings.orientation)
    if settings.orientation == "any":
        oriented = orient(
            pile,
            scorer,
            scoring=settings.scoring,
            arrangement=settings.arrangement,
            turned=constraints.turned,
            store=store,
            executor=executor,
            progress=ticking,
            stopwatch=watch,
        )
        pile, compatibility = oriented.pile, oriented.compatibility
    else:
        pile = turn(pile, constraints.turned)
        compatibility = score(
            pile,
            scorer,
            options=settings.scoring,
            store=store,
            executor=executor,
            progress=ticking,
            stopwatch=watch,
        )
    shelf.release()
    with watch.measure("solve"):
        if faces.pairs:
            compatibility = add_faces(compatibility, faces)
        arrangement = arrange(compatibility, constraints, options=settings.arrangement, progress=progress)
        if faces.pairs:
            arrangement = order_faces(arrangement, faces)
    with watch.measure("refine"):
        arrangement = refine(arrangement, compatibility, pile, executor=executor, progress=ticking)
    shelf.release()
    with watch.measure("compose"):
        pages = compose(
            pile.shreds,
            arrangement,
            options=settings.composition,
            missing=find_missing(arrangement, compatibility) if settings.show_missing else (),
            lazily=True,
        )
    return Reconstruction(
        pile,
        intake.sheets,
        intake.sources,
        intake.decision,
        compatibility,
        constraints,
        arrangement,
        pages,
        scorer.card,
        settings,
        MappingProxyType(watch.seconds),
    )


def rearrange(
    reconstruction: Reconstruction,
    constraints: Constraints,
    *,
    warm_start: WarmStart | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Reconstruction:
    """The same pile under other constraints: nothing is read or scored again."""
    if constraints.turned != reconstruction.constraints.turned:
        raise MismatchError("other shreds are turned than those that were scored. Call `rescore` first.")
    settings, pile = reconstruction.settings, reconstruction.pile
    compatibility = reconstruction.compatibility
    watch = Stopwatch()
    with watch.measure("solve"):
        arrangement = arrange(
            compatibility,
            constraints,
            options=settings.arrangement,
            progress=progress,
            warm_start=warm_start,
        )
    with watch.measure("refine"):
        arrangement = refine(arrangement, compatibility, pile)
    with watch.measure("compose"):
        pages = compose(
            pile.shreds,
            arrangement,
            options=settings.composition,
            missing=find_missing(arrangement, compatibility) if settings.show_missing else (),
            executor=executor,
            progress=progress,
        )
    return replace(
        reconstruction,
        constraints=constraints,
        arrangement=arrangement,
        pages=tuple(pages),
        seconds=MappingProxyType(watch.seconds),
    )


def _release_often(shelf: Shelf, progress: Progress | None) -> Progress:
    """Progress that gives back the memory of what lies on disk at every step: it was looked at."""

    def report(stage: str, done: int, total: int) -> None:
        shelf.release()
        if progress is not None:
            progress(stage, done, total)

    return report


def rescore(
    reconstruction: Reconstruction,
    turned: Collection[str],
    scorer: AnyScorer | None = None,
    *,
    store: Store | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Reconstruction:
    """The same pile with other shreds turned, and the scores of that; `rearrange` then finds its order."""
    settings, turned = reconstruction.settings, frozenset(turned)
    pile = turn(reconstruction.pile, reconstruction.constraints.turned ^ turned)
    scorer = scorer or load_scorer(
        settings.scorer, settings.model, pairwise=settings.pairwise, threads=settings.jobs or 0
    )
    look = score_both_ways if settings.orientation == "any" else score
    compatibility = look(
        pile, scorer, options=settings.scoring, store=store, executor=executor, progress=progress
    )
    return replace(
        reconstruction,
        pile=pile,
        compatibility=compatibility,
        constraints=replace(reconstruction.constraints, turned=turned),
    )


def _take_in(
    shreds: ShredSet | Iterable[str | Path],
    settings: Settings,
    store: Store | None,
    executor: Executor,
    progress: Progress | None,
) -> Intake:
    if isinstance(shreds, ShredSet):
        return Intake(shreds, (), tuple({shred.source.path: shred.source for shred in shreds}.values()))
    return load_intake(
        shreds,
        options=settings.scans,
        segmentation=settings.segmentation,
        budget=settings.budget,
        store=store,
        executor=executor,
        progress=progress,
    )


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


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
