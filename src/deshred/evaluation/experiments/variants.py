"""What the ablation changes: one factor at a time, of the paper's network and of deshred's own scorer."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from deshred.arrangement import ArrangementOptions
from deshred.compatibility.contract import AnyScorer
from deshred.compatibility.fusion import FusionScorer
from deshred.compatibility.outline import OutlineScorer
from deshred.compatibility.pairwise.samples import SampleOptions
from deshred.compatibility.pairwise.scorer import PairwiseOptions, PairwiseScorer
from deshred.compatibility.towers.scorer import TowerOptions, TowersScorer
from deshred.executors import Progress
from deshred.imaging.files import find_images
from deshred.simulation.intact import IntactPage, load_intact
from deshred.simulation.shredding import Damage

_NEVER = -60.0  # nats: a shift that is not looked at
_STEPS_PER_EPOCH = 100  # at least: fewer would spend the time on drawing samples
_LEAST_FILES, _STEPS_PER_FILE = 24, 5  # reading pages must not cost more than learning from them


@dataclass(frozen=True)
class Training:
    """What a model is trained with; None stands for what deshred ships."""

    samples: SampleOptions | None = None  # the pairwise network
    towers: TowerOptions | None = None
    damage: Damage = field(default_factory=Damage)

    @property
    def family(self) -> str:
        return "pairwise" if self.samples is not None else "towers"

    def name(self, pages: str, steps: int) -> str:
        """A file name that tells all options apart."""
        digest = hashlib.sha256(f"{self} {pages} {steps}".encode()).hexdigest()[:12]
        return f"{self.family}-{pages}-{steps}-{digest}.onnx"


@dataclass(frozen=True)
class Variant:
    """One value of one factor."""

    factor: str
    value: str
    training: Training | None  # None: a shipped model will do
    build: Callable[[Path | str], AnyScorer]
    arrangement: ArrangementOptions = field(default_factory=lambda: ArrangementOptions(pages=1))

    def is_called(self, name: str) -> bool:
        """Whether a name means this value: that of its factor, or with the value, such as v_shift=5."""
        return name in (self.factor, f"{self.factor}={self.value}")


def list_paper_variants(shift: int = 10) -> list[Variant]:
    """The factors of the paper: rho_black, sample size and v_shift; `shift` holds for the first two."""

    def pairwise(samples: SampleOptions, factor: str, value: str, px: int = shift) -> Variant:
        return Variant(
            factor,
            value,
            Training(samples),
            lambda model: PairwiseScorer(model, options=PairwiseOptions(max_shift=px)),
        )

    return [
        *(pairwise(SampleOptions(), "v_shift", str(px), px) for px in (0, 5, 10, 20)),
        *(
            pairwise(SampleOptions(rows=rows, columns=columns), "sample", f"{rows}x{columns}")
            for rows in (32, 64)
            for columns in (32, 64)
        ),
        *(pairwise(SampleOptions(min_ink=rho), "rho_black", f"{rho:g}") for rho in (0.1, 0.2, 0.3)),
    ]


def list_own_variants() -> list[Variant]:
    """The factors of deshred's scorer: evidence, shifts, the pile's own prior, page ends, training."""
    free = ArrangementOptions(pages=1, free_ends=True)
    return [
        Variant("evidence", "ink and outline", None, FusionScorer),
        Variant("evidence", "ink", None, TowersScorer),
        Variant("evidence", "outline", None, lambda _: OutlineScorer()),
        *(Variant("shifts", f"{px} px", None, partial(limit_shifts, reach_px=px)) for px in (0, 8, 20)),
        Variant("page ends at k = 1", "weighed", None, FusionScorer),
        Variant("page ends at k = 1", "free", None, FusionScorer, free),
        *(
            Variant("features", str(count), Training(towers=TowerOptions(features=count)), TowersScorer)
            for count in (8, 16, 32)
        ),
        Variant("damage in training", "all", Training(towers=TowerOptions()), TowersScorer),
        Variant(
            "damage in training",
            "shift only",
            Training(towers=TowerOptions(), damage=_shift_only()),
            TowersScorer,
        ),
    ]


def limit_shifts(model: Path | str, reach_px: int) -> FusionScorer:
    """The default scorer, which looks at shifts up to so many px only."""
    scorer = copy(FusionScorer(model))
    is_near = np.abs(scorer.towers.shifts_px) <= reach_px
    scorer.log_prior = np.where(is_near, scorer.log_prior, np.float32(_NEVER)).astype(np.float32)
    return scorer


def _shift_only() -> Damage:
    return replace(Damage(), lost=0, ink_loss=0.0, ragged=0.0, fray=0.0, specks=0.0)


def require_training() -> None:
    """Fail at once, and with a remedy, where a training would."""
    import deshred.compatibility.training  # noqa: F401


def train_variant(
    training: Training, pages: Path, output: Path, *, steps: int, threads: int, progress: Progress | None
) -> Path:
    """Train what is not there yet; an unfinished training goes on. Needs torch."""
    from deshred.compatibility.pairwise.training import PairwiseTask, PairwiseTrainingOptions
    from deshred.compatibility.towers.network import TowerTask, TowerTrainingOptions
    from deshred.compatibility.training import TrainingOptions, train

    if output.exists():
        return output
    intact = _read_pages(tuple(spread_files(pages, steps)), progress)
    options = TrainingOptions(threads=threads, resume=True)
    if training.samples is None:
        chosen = TowerTrainingOptions(steps=steps, damage=training.damage)
        towers = TowerTask(intact, options=training.towers, training=chosen)
        return train(towers, output, options=options, average=chosen.average)
    epochs = min(PairwiseTrainingOptions().epochs, max(1, steps // _STEPS_PER_EPOCH))
    recipe = PairwiseTrainingOptions(epochs=epochs)
    # as many samples of each page as fill the steps: the paper has 1,000 of each class
    share = 2 * epochs * len(intact) * (1 - recipe.validation_share)
    samples = replace(training.samples, max_positives=min(1000, math.ceil(steps * recipe.batch / share)))
    task = PairwiseTask(intact, options=samples, training=recipe)
    return train(task, output, options=options)


@lru_cache(maxsize=1)  # one variant after the other learns from the same pages
def _read_pages(files: tuple[Path, ...], progress: Progress | None) -> tuple[IntactPage, ...]:
    return tuple(load_intact(files, progress=progress))


def spread_files(pages: Path, steps: int) -> list[Path]:
    """Files to train on: all of them, or for a short training some, evenly spread."""
    files = find_images([pages])
    most = max(_LEAST_FILES, steps // _STEPS_PER_FILE)
    return [files[i * len(files) // most] for i in range(most)] if len(files) > most else list(files)
