"""A training of seconds, to be disturbed: takes the model to write, and perhaps `--resume`."""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> None:
    """Train tiny towers for a few steps; a checkpoint follows every second."""
    from deshred.cli.console import exit_codes
    from deshred.compatibility.towers.network import TowerTask, TowerTrainingOptions, WindowOptions
    from deshred.compatibility.towers.scorer import TowerOptions
    from deshred.compatibility.training import TrainingOptions, train
    from deshred.simulation.intact import IntactPage
    from tests.scribbles import scribble

    with exit_codes(debug=False):
        pages = [IntactPage.from_ink(f"page {seed}", scribble(seed)) for seed in range(4)]
        training = TowerTrainingOptions(
            steps=6,
            short=WindowOptions(pages=2, cuts=6, rows=128),
            long=WindowOptions(pages=1, cuts=4, rows=256, worth=0.5),
        )
        small = TowerOptions(width=32, channels=(4, 4, 6, 8), features=8)
        task = TowerTask(pages, options=small, training=training)
        task.validate_every = 3
        options = TrainingOptions(checkpoint_every=2, threads=1, resume="--resume" in sys.argv)
        train(task, Path(sys.argv[2]), options=options, average=0.9)
