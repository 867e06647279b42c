"""Scans of loose shreds in, composed pages out: five public verbs, one after the other.

    load -> prepare -> score -> arrange -> refine -> compose

Whatever happens here can be done with the same verbs one by one.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from deshred.arrangement import WarmStart, arrange, check_question
from deshred.cases import Store
from deshred.compatibility.contract import AnyScorer, ScorerCard
from deshred.compatibility.refinement import refine
from deshred.compatibility.scorers import load_scorer
from deshred.compatibility.scoring import score
from deshred.elements import Arrangement, Compatibility, Constraints, Page, Pile, ShredSet, Source
from deshred.executors import Executor, KeepingExecutor, Progress, default_executor
from deshred.imaging.composition import compose
from deshred.imaging.intakes import Intake, Sheet, load_intake
from deshred.imaging.preparation import prepare
from deshred.imaging.sheets.looks import Decision
from deshred.missing import find_missing
from deshred.orientation import orient
from deshred.settings import Settings
from deshred.shelf import Shelf
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
    pages: tuple[Page, ...]
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
    watch = Stopwatch()
    with watch.measure("decode"):
        intake = _take_in(shreds, settings, keeping, progress)
    with watch.measure("prepare"):
        pile = prepare(
            intake.shreds,
            blank=settings.blank,
            edges=scorer.edge_options,
            keep=constraints.ids,
            executor=keeping,
            progress=progress,
        )
        shelf.release()
        check_question(pile.shreds.ids, constraints, settings.arrangement)
        _warn_of_copies(pile.shreds)
    if settings.orientation == "any":
        oriented = orient(
            pile,
            scorer,
            scoring=settings.scoring,
            arrangement=settings.arrangement,
            store=store,
            executor=executor,
            progress=progress,
            stopwatch=watch,
        )
        pile, compatibility = oriented.pile, oriented.compatibility
    else:
        compatibility = score(
            pile,
            scorer,
            options=settings.scoring,
            store=store,
            executor=executor,
            progress=progress,
            stopwatch=watch,
        )
    shelf.release()
    with watch.measure("solve"):
        arrangement = arrange(compatibility, constraints, options=settings.arrangement, progress=progress)
    with watch.measure("refine"):
        arrangement = refine(arrangement, compatibility, pile)
    with watch.measure("compose"):
        pages = compose(
            pile.shreds,
            arrangement,
            options=settings.composition,
            missing=find_missing(arrangement, compatibility) if settings.show_missing else (),
            executor=keeping,
            progress=progress,
        )
    return Reconstruction(
        pile,
        intake.sheets,
        intake.sources,
        intake.decision,
        compatibility,
        constraints,
        arrangement,
        tuple(pages),
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


def _take_in(
    shreds: ShredSet | Iterable[str | Path],
    settings: Settings,
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
