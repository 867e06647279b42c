"""`deshred train pairwise`: the network of the paper."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from deshred.cli import flags
from deshred.cli.console import show_training
from deshred.compatibility.pairwise.samples import SampleOptions
from deshred.compatibility.pairwise.training import PairwiseTrainingOptions, train_pairwise
from deshred.compatibility.training import TrainingOptions


@flags.command("pairwise", interrupted="continue from the last checkpoint with --resume")
@flags.inputs
@flags.model_output
@flags.option_flags(
    PairwiseTrainingOptions, "epochs", "batch", "learning_rate", "seed", "init", into="training"
)
@flags.option_flags(
    SampleOptions, "max_positives", "min_ink", "faint_share", "rows", "columns", into="samples"
)
@flags.option_flags(TrainingOptions, "threads", "resume", "force")
@flags.quiet
@flags.as_json
def command(
    inputs: tuple[Path, ...],
    output: Path,
    training: PairwiseTrainingOptions,
    samples: SampleOptions,
    options: TrainingOptions,
    quiet: bool,
    as_json: bool,
) -> None:
    """Train the network of the paper, which judges one join at a time, on intact pages.

    \b
    Examples:
      deshred train pairwise pages/ -o mine.onnx
      deshred train pairwise pages/ -o mine.onnx --epochs 3 --seed 7 --resume
      deshred reconstruct scans/ -o out/ --scorer pairwise --model mine.onnx
    """
    train = partial(train_pairwise, inputs, output, samples=samples, training=training, options=options)
    show_training(train, quiet=quiet, as_json=as_json)
