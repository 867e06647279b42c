"""Files of intact pages in, a calibrated towers model out: the whole recipe behind `deshred train towers`.

Needs torch. What a model card names beside the pages is all in the options: the same options and pages give
the same model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from deshred.compatibility.fitting import calibrate, write_calibration, write_close_look
from deshred.compatibility.towers.closelook_training import fit_close_look
from deshred.compatibility.towers.network import (
    TowerTask,
    TowerTrainingOptions,
    hold_out,
    load_towers,
    load_weights,
)
from deshred.compatibility.towers.students import STUDENT, STUDENT_RATE
from deshred.compatibility.training import Report, TrainingOptions, train
from deshred.errors import SettingsError
from deshred.executors import Progress
from deshred.options import option
from deshred.simulation.intact import IntactPage, draw_intact, load_intact
from deshred.simulation.scripts import draw_script_pages


@dataclass(frozen=True)
class TowerRecipe:
    """Where a towers model comes from, beside files of pages."""

    init: str | None = option(None, "Start from a trained model.", metavar="MODEL")
    teacher: str | None = option(
        None, "Train a smaller network, which sees what this model sees.", metavar="MODEL"
    )
    drawn: int = option(0, "Add this many pages drawn by deshred.", metavar="N")
    scripts: int = option(
        0, "Add this many pages in all scripts, drawn with the machine's fonts.", metavar="N"
    )
    piles: int = option(36, "Simulated piles of held-out pages to calibrate on.", metavar="N")
    looks: int = option(40, "Simulated piles that teach a close look at joins; 0 for none.", metavar="N")

    def __post_init__(self) -> None:
        if min(self.drawn, self.scripts, self.looks) < 0 or self.piles < 1:
            raise SettingsError(
                f"drawn, scripts and looks must be at least 0 and piles at least 1, got {self.drawn}, "
                f"{self.scripts}, {self.looks} and {self.piles}."
            )


def train_towers(
    pages: Sequence[Path],
    output: Path,
    *,
    recipe: TowerRecipe | None = None,
    training: TowerTrainingOptions | None = None,
    options: TrainingOptions | None = None,
    progress: Progress | None = None,
    report: Report | None = None,
) -> Path:
    """Train towers on pages, and calibrate them on simulated piles of the pages held out."""
    recipe, training = recipe or TowerRecipe(), training or TowerTrainingOptions()
    seed = training.seed
    sources = [
        load_intact(pages, progress=progress) if pages else [],
        draw_intact(recipe.drawn, np.random.default_rng(seed), progress=progress),
        # a stream of its own, so that scripts can be added to a recipe without changing what else is drawn
        draw_script_pages(recipe.scripts, np.random.default_rng([seed, 1]), progress=progress),
    ]
    return train_on(sources, output, recipe=recipe, training=training, options=options, report=report)


def train_on(
    sources: Sequence[Sequence[IntactPage]],
    output: Path,
    *,
    recipe: TowerRecipe,
    training: TowerTrainingOptions,
    options: TrainingOptions | None = None,
    report: Report | None = None,
) -> Path:
    """Train towers on pages that were read or drawn before.

    Of every source a twentieth is held out, the same with every seed: models of several seeds, or with more
    drawn pages, are judged by the same scans.
    """
    splits = [hold_out(source, 0) for source in sources]
    weights = None if recipe.init is None else load_weights(recipe.init)
    teacher = None if recipe.teacher is None else load_towers(recipe.teacher)
    if teacher is not None:
        training = replace(training, learning_rate=STUDENT_RATE)
    task = TowerTask(
        [page for split in splits for page in split.training],
        options=None if teacher is None else STUDENT,
        training=training,
        init=weights,
        teacher=teacher,
        held_out=[page for split in splits for page in split.held_out],
    )

    def refine(model: Path) -> None:
        fitted = calibrate(model, task.validation_pages, seed=training.seed, piles=recipe.piles)
        write_calibration(model, fitted)
        if recipe.looks:
            pages = [page for source in sources for page in source]
            write_close_look(model, fit_close_look(model, pages, piles=recipe.looks, seed=training.seed))

    return train(
        task,
        output,
        options=replace(options or TrainingOptions(), seed=training.seed),
        average=training.average,
        refine=refine if training.anneal else None,  # what others start from is not for piles
        report=report,
    )
