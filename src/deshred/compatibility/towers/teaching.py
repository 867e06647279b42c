"""A pile of shreds in, towers that have learned from it out: the pile teaches the scorer.

A shred is cut down its middle, and the network learns to find both halves again: virtual cuts, whose truth is
known without any page. They teach what print, script and wear look like here. Shreds held back decide whether
what was learned is kept: it helps weak models, and can harm good ones. Needs torch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from deshred.compatibility.fitting import copy_calibration
from deshred.compatibility.models import find_model, open_model
from deshred.compatibility.towers.network import TowerTask, TowerTrainingOptions, load_weights
from deshred.compatibility.towers.scorer import TowerOptions
from deshred.compatibility.training import Report, TrainingOptions, check_output, train
from deshred.elements import Shred
from deshred.errors import InputError, SettingsError
from deshred.imaging.binarization import is_blank
from deshred.imaging.edges import find_ink
from deshred.imaging.preparation import to_working_resolution
from deshred.options import option
from deshred.simulation.intact import IntactPage

_SHREDS_PER_ROW = 24  # that stand side by side, as if they were a page
_DEALS = 4  # each shred gets other neighbors so many times
_MIN_HALF = 24  # px; less than a letter or two tells nothing
_WANDER = 6  # px around the middle of a shred, where it is cut
_HELD_BACK = 5  # one shred of so many
_BETTER = 0.98  # of the loss before: less than this is luck


@dataclass(frozen=True)
class TeachingOptions:
    """How long a pile teaches, and whom."""

    init: str = option("towers-default", "The model to teach.", metavar="MODEL")
    steps: int = option(200, "Batches of virtual cuts to learn from.")
    seed: int = option(0, "Seed for everything random.")
    learning_rate: float = 5e-4

    def __post_init__(self) -> None:
        if self.steps < 1 or self.seed < 0:
            raise SettingsError(
                f"steps must be at least 1 and seed at least 0, got {self.steps} and {self.seed}."
            )


@dataclass(frozen=True)
class Lesson:
    """What came of it: losses on virtual cuts of shreds held back, before and after."""

    model: Path  # the taught one, or the one it began with
    before: float
    after: float
    is_kept: bool


def teach(
    shreds: Sequence[Shred],
    output: Path,
    *,
    options: TeachingOptions | None = None,
    training: TrainingOptions | None = None,
    report: Report | None = None,
) -> Lesson:
    """Teach a model on virtual cuts; it is written only if it does better on shreds held back."""
    options, training = options or TeachingOptions(), training or TrainingOptions()
    check_output(output, force=training.force)
    task = _make_task(shreds, options)
    before = task.validate(task.network)["loss"]
    with TemporaryDirectory(dir=output.parent) as scratch:
        taught = train(
            task,
            Path(scratch) / output.name,
            options=replace(training, seed=options.seed),
            average=task.training.average,
            refine=lambda model: copy_calibration(find_model(options.init), model),
            report=report,
        )
        after = float(open_model(taught, "towers").card["validation_loss"])
        if after > _BETTER * before:
            return Lesson(find_model(options.init), before, after, is_kept=False)
        taught.replace(output)
    return Lesson(output, before, after, is_kept=True)


def _make_task(shreds: Sequence[Shred], options: TeachingOptions) -> TowerTask:
    card = open_model(options.init, "towers").card["options"]
    rng = np.random.default_rng(options.seed)
    inks = [ink for shred in shreds if (ink := _inside(shred)) is not None]
    if len(inks) < 2 * _HELD_BACK:
        raise InputError(
            f"{len(inks)} of {len(shreds)} shreds have ink and are at least {2 * _MIN_HALF} px wide; a pile "
            f"to learn from needs {2 * _HELD_BACK} or more. Use the model as it is, or train on whole pages: "
            "deshred train towers."
        )
    order = rng.permutation(len(inks))
    back = len(inks) // _HELD_BACK
    task = TowerTask(
        list(_deal([inks[i] for i in order[back:]], rng)),
        options=TowerOptions(**{**card, "channels": tuple(card["channels"])}),
        training=TowerTrainingOptions(
            steps=options.steps, seed=options.seed, learning_rate=options.learning_rate
        ),
        init=load_weights(options.init),
        held_out=list(_deal([inks[i] for i in order[:back]], rng)),
    )
    task.validate_every = max(1, options.steps // 4)
    return task


def _inside(shred: Shred) -> NDArray[np.uint8] | None:
    """The ink of a shred; None where there is nothing to learn from."""
    shred = to_working_resolution(shred)
    columns = np.flatnonzero(shred.mask.mean(axis=0) > 0.5)
    if len(columns) < 2 * _MIN_HALF or is_blank(shred):
        return None
    return find_ink(shred)[:, columns[0] : columns[-1] + 1]


def _deal(inks: Sequence[NDArray[np.uint8]], rng: np.random.Generator) -> Iterator[IntactPage]:
    """Shreds side by side as rows, to be cut where each has its middle."""
    for deal in range(_DEALS):
        order = rng.permutation(len(inks))
        for start in range(0, len(order), _SHREDS_PER_ROW):
            row = [inks[i] for i in order[start : start + _SHREDS_PER_ROW]]
            if len(row) > 1:
                yield _lay_out(row, rng, f"deal {deal}, {start}")


def _lay_out(row: Sequence[NDArray[np.uint8]], rng: np.random.Generator, name: str) -> IntactPage:
    height = max(len(ink) for ink in row)
    level = [np.pad(ink, ((0, height - len(ink)), (0, 0))) for ink in row]
    ends = np.cumsum([ink.shape[1] for ink in row])
    middles = ends - np.array([ink.shape[1] for ink in row]) / 2
    places = (middles + rng.uniform(-_WANDER, _WANDER, len(row))) / ends[-1]
    return IntactPage.from_ink(name, np.hstack(level), places)
