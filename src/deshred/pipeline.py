"""Loose shreds in, composed pages out: the whole story on one screen."""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from deshred import __version__
from deshred.arrangement import arrange
from deshred.compatibility.alignment import align
from deshred.compatibility.calibration import rate
from deshred.compatibility.models import Model
from deshred.compatibility.scorers import load_scorer
from deshred.compatibility.scoring import ScoreBlock, Scorer, compare, cut_edges, describe
from deshred.elements import Arrangement, Compatibility, Constraints, Page, ShredSet, Source
from deshred.errors import InputError
from deshred.executors import Executor, KeepingExecutor, Progress, default_executor
from deshred.imaging.binarization import is_blank
from deshred.imaging.composition import compose
from deshred.imaging.edges import EdgePair
from deshred.imaging.intakes import Intake, Sheet, load_intake
from deshred.settings import Settings
from deshred.shelf import Shelf
from deshred.store import RunFolder


class CopiesWarning(UserWarning):
    """The same file was given under several names: the message says which."""


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """What `reconstruct` returns: every stage's result, and the seconds each took."""

    shreds: ShredSet  # those with ink, in the order of the compatibility
    blank: ShredSet  # set aside: without ink there is nothing to match
    sheets: tuple[Sheet, ...]  # what the shreds were cut out of, where they were
    sources: tuple[Source, ...]  # every file that was read
    compatibility: Compatibility
    constraints: Constraints
    arrangement: Arrangement
    pages: tuple[Page, ...]
    scorer: ScorerCard
    settings: Settings
    seconds: Mapping[str, float]

    def summary(self) -> str:
        """One line, such as `37 shreds, 2 pages, proven optimal, 2 joins worth a look`."""
        open_joins = sum(join.verdict == "open" for join in self.arrangement.joins)
        parts = [_count(len(self.shreds), "shred"), _count(len(self.pages), "page")]
        if self.blank:
            parts.append(f"{_count(len(self.blank), 'blank shred')} set aside")
        parts.append("proven optimal" if self.arrangement.is_optimal else f"gap {self.arrangement.gap:.3g}")
        parts.append(f"{_count(open_joins, 'join')} worth a look" if open_joins else "no open joins")
        return ", ".join(parts)

    def __repr__(self) -> str:
        return f"Reconstruction({self.summary()})"


def reconstruct(
    shreds: ShredSet | Iterable[str | Path],
    scorer: Scorer | None = None,
    *,
    constraints: Constraints | None = None,
    settings: Settings | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    store: RunFolder | None = None,
) -> Reconstruction:
    """Reconstruct pages from shreds or from files and folders; a store lets a killed run resume."""
    settings = settings or Settings()
    constraints = constraints or Constraints()
    executor = executor or default_executor(settings.jobs)
    scorer = scorer or load_scorer(
        settings.scorer, settings.model, pairwise=settings.pairwise, threads=settings.jobs or 0
    )
    shelf = Shelf(None if store is None else store.path)
    keeping = KeepingExecutor(executor, shelf.keep)
    stopwatch = Stopwatch()
    with stopwatch.measure("decode"):
        intake = _gather(shreds, settings, keeping, progress)
    with stopwatch.measure("blank"):
        piles = set_aside_blank(intake.shreds, executor=executor, progress=progress)
    _warn_of_copies(piles.inked)
    if store is not None:
        store.begin()  # not earlier: bad input leaves no folder behind
    with stopwatch.measure("edges"):
        edges = cut_edges(piles.inked, scorer, executor=keeping, progress=progress)
    compatibility = _score_or_resume(piles.inked, edges, scorer, settings, progress, store, stopwatch)
    with stopwatch.measure("solve"):
        arrangement = arrange(compatibility, constraints, options=settings.arrangement, progress=progress)
    with stopwatch.measure("align"):
        arrangement = rate(arrangement, compatibility, scorer.calibration)
        arrangement = align(arrangement, piles.inked, edges)
    with stopwatch.measure("compose"):
        pages = compose(
            piles.inked, arrangement, options=settings.composition, executor=keeping, progress=progress
        )
    return Reconstruction(
        piles.inked,
        piles.blank,
        intake.sheets,
        intake.sources,
        compatibility,
        constraints,
        arrangement,
        tuple(pages),
        ScorerCard.of(scorer),
        settings,
        MappingProxyType(stopwatch.seconds),
    )


@dataclass(frozen=True)
class ScorerCard:
    """Which scorer it was: its name, its model where it learned, and what identifies it exactly."""

    name: str
    fingerprint: str
    model: str | None = None
    model_sha256: str | None = None

    @classmethod
    def of(cls, scorer: Scorer) -> ScorerCard:
        """The card of a scorer."""
        model = getattr(scorer, "model", None)
        if isinstance(model, Model):
            return cls(scorer.name, scorer.fingerprint, model.name, model.sha256)
        return cls(scorer.name, scorer.fingerprint)


@dataclass(frozen=True)
class Piles:
    """A pile parted in two: shreds that can be matched, and blank ones."""

    inked: ShredSet
    blank: ShredSet


def set_aside_blank(
    shreds: ShredSet, *, executor: Executor | None = None, progress: Progress | None = None
) -> Piles:
    """Part the shreds that carry ink from those that do not; fewer than two with ink cannot be joined."""
    executor = executor or default_executor()
    verdicts = executor.map(is_blank, shreds, stage="finding blank shreds", progress=progress)
    inked = [shred for shred, blank in zip(shreds, verdicts, strict=True) if not blank]
    blank = [shred for shred, blank in zip(shreds, verdicts, strict=True) if blank]
    if len(inked) < 2:
        found = f"{_count(len(shreds), 'shred')}, {len(blank)} of them blank"
        raise InputError(
            f"found {found}; at least two shreds with ink are needed to join anything. "
            "Give more files or folders, or scan with more contrast if the shreds are not blank."
        )
    return Piles(ShredSet(inked), ShredSet(blank))


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


@dataclass
class Stopwatch:
    """Seconds of wall time per stage, in the order they ran."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def measure(self, stage: str) -> Iterator[None]:
        """Add the time spent inside to a stage."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - start


def _gather(
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
        executor=executor,
        progress=progress,
    )


def _score_or_resume(
    shreds: ShredSet,
    edges: Sequence[EdgePair],
    scorer: Scorer,
    settings: Settings,
    progress: Progress | None,
    store: RunFolder | None,
    stopwatch: Stopwatch,
) -> Compatibility:
    """Score all joins, or take what an interrupted run has scored already."""
    key = ""
    if store is not None:
        parts = (__version__, shreds.fingerprint, scorer.fingerprint, repr(settings.scoring))
        key = hashlib.sha256("\n".join(parts).encode()).hexdigest()
        kept = store.load_compatibility(key)
        if kept is not None:
            store.log("scores are those of an earlier run", shreds=len(shreds))
            return kept
    with stopwatch.measure("encode"):
        descriptions = describe(shreds, edges, scorer, progress=progress)
    with stopwatch.measure("score"):
        resuming = scorer if store is None else _ResumingScorer(scorer, store, key)
        compatibility = compare(descriptions, resuming, options=settings.scoring, progress=progress)
    if store is not None:
        store.save_compatibility(compatibility, key)
        store.remove_blocks()
    return compatibility


class _ResumingScorer:
    """A scorer that keeps its blocks on disk, where they take long enough to be worth it."""

    WORTH_KEEPING = 2.0  # seconds

    def __init__(self, scorer: Scorer, store: RunFolder, key: str) -> None:
        self.name = scorer.name
        self.fingerprint = scorer.fingerprint
        self.calibration = scorer.calibration
        self.edge_options = scorer.edge_options
        self.encode_rights = scorer.encode_rights
        self.encode_lefts = scorer.encode_lefts
        self._scorer = scorer
        self._store = store
        self._key = key
        self._calls = 0

    def adapt(self, rights: Any, lefts: Any) -> _ResumingScorer:
        return _ResumingScorer(self._scorer.adapt(rights, lefts), self._store, self._key)

    def score_block(self, rights: Any, lefts: Any) -> ScoreBlock:
        # Blocks come in the same order in every run with the same key, so their number identifies them.
        name = f"{self._calls:05d}"
        self._calls += 1
        kept = self._store.load_block(name, self._key)
        if kept is not None:
            return ScoreBlock(kept["scores"], kept["offsets"])
        start = time.perf_counter()
        block = self._scorer.score_block(rights, lefts)
        if time.perf_counter() - start >= self.WORTH_KEEPING:
            self._store.save_block(name, self._key, scores=block.scores, offsets=block.offsets)
        return block


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
