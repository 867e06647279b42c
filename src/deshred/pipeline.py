"""Scans of loose shreds in, composed pages out: five public verbs, one after the other.

    load -> prepare -> score -> arrange -> refine -> compose

Whatever happens here can be done with the same verbs one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from deshred.cases import Store
from deshred.compatibility.contract import AnyScorer, ScorerCard
from deshred.elements import Arrangement, Compatibility, Constraints, Page, Pile, Placement, ShredSet, Source
from deshred.errors import MismatchError
from deshred.executors import Executor, Progress
from deshred.imaging.composition import LazyPages
from deshred.imaging.intakes import Sheet
from deshred.imaging.sheets.looks import Decision
from deshred.missing import find_parts
from deshred.runs import Run
from deshred.settings import Settings


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
        pages = _count(len(self.pages), "page")
        narrow = find_parts(
            self.arrangement, self.compatibility, page_width_mm=self.settings.arrangement.page_width_mm
        )
        if narrow:
            pages += f" ({len(narrow)} of them only a part of one)"
        parts = [_count(len(self.shreds), "shred"), pages]
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
    scorer = scorer or settings.load_scorer()
    run = Run(settings, store=store, executor=executor, progress=progress)
    intake = run.load(shreds)
    pile = run.prepare(intake.shreds, scorer, constraints)
    scored = run.score(pile, scorer, turned=constraints.turned)
    pile, compatibility = scored.pile, scored.compatibility
    arrangement = run.arrange(compatibility, constraints)
    arrangement = run.refine(arrangement, compatibility, pile)
    pages = run.compose(pile, arrangement, compatibility)
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
        MappingProxyType(run.watch.seconds),
    )


def rearrange(
    reconstruction: Reconstruction,
    constraints: Constraints,
    *,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Reconstruction:
    """Solve the same pile under other constraints; nothing is read or scored again."""
    if constraints.turned != reconstruction.constraints.turned:
        raise MismatchError("other shreds are turned than those that were scored. Call `rescore` first.")
    run = Run(reconstruction.settings, executor=executor, progress=progress)
    pile, compatibility = reconstruction.pile, reconstruction.compatibility
    arrangement = run.arrange(compatibility, constraints)
    arrangement = run.refine(arrangement, compatibility, pile)
    return replace(
        reconstruction,
        constraints=constraints,
        arrangement=arrangement,
        pages=run.compose(pile, arrangement, compatibility),
        seconds=MappingProxyType(run.watch.seconds),
    )


def rescore(
    reconstruction: Reconstruction,
    turned: Collection[str],
    scorer: AnyScorer | None = None,
    *,
    store: Store | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Reconstruction:
    """Score the same pile with other shreds turned; `rearrange` then finds its order."""
    settings, turned = reconstruction.settings, frozenset(turned)
    run = Run(settings, store=store, executor=executor, progress=progress)
    scored = run.score(
        reconstruction.pile,
        scorer or settings.load_scorer(),
        turned=reconstruction.constraints.turned ^ turned,
        is_upright=True,
    )
    return replace(
        reconstruction,
        pile=scored.pile,
        compatibility=scored.compatibility,
        constraints=replace(reconstruction.constraints, turned=turned),
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
