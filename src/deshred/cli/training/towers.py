"""`deshred train towers`: the network that looks at every edge once."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from deshred.cli import flags
from deshred.cli.console import show_training
from deshred.compatibility.towers.network import TowerTrainingOptions
from deshred.compatibility.towers.training import TowerRecipe, train_towers
from deshred.compatibility.training import TrainingOptions


@flags.command("towers", interrupted="continue from the last checkpoint with --resume")
@flags.inputs
@flags.model_output
@flags.option_flags(TowerTrainingOptions, "steps", "seed", "precision", "learning_rate", into="training")
@flags.option_flags(TowerRecipe, "init", "teacher", "drawn", "scripts", "piles", "looks", into="recipe")
@flags.option_flags(TrainingOptions, "threads", "resume", "force")
@flags.quiet
@flags.as_json
def command(
    inputs: tuple[Path, ...],
    output: Path,
    training: TowerTrainingOptions,
    recipe: TowerRecipe,
    options: TrainingOptions,
    quiet: bool,
    as_json: bool,
) -> None:
    """Train the towers, which judge all joins by matrix products, on intact pages.

    \b
    Examples:
      deshred train towers pages/ -o mine.onnx
      deshred train towers pages/ -o mine.onnx --steps 8000 --init towers-default
      deshred train towers pages/ -o mine.onnx --scripts 400
      deshred reconstruct scans/ -o out/ --model mine.onnx
    """
    train = partial(train_towers, inputs, output, recipe=recipe, training=training, options=options)
    show_training(train, quiet=quiet, as_json=as_json)
