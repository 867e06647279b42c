"""`deshred train pile`: the shreds at hand teach a model."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from deshred.cli import flags
from deshred.cli.console import figure_reporter, progress_reporter, say, say_json
from deshred.compatibility.towers.teaching import TeachingOptions, teach
from deshred.compatibility.training import TrainingOptions
from deshred.imaging.intakes import load_shreds


@flags.command("pile")
@flags.inputs
@flags.model_output
@flags.option_flags(TeachingOptions, "init", "steps", "seed")
@flags.option_flags(TrainingOptions, "threads", "force", into="training")
@flags.quiet
@flags.as_json
def command(
    inputs: tuple[Path, ...],
    output: Path,
    options: TeachingOptions,
    training: TrainingOptions,
    quiet: bool,
    as_json: bool,
) -> None:
    """Teach a model on the shreds of a pile, for scripts and print that it has never seen.

    Shreds are cut down their middle, and the model learns to match the halves. MODEL is written only if
    it then does better on shreds that were held back.

    \b
    Examples:
      deshred train pile scans/ -o mine.onnx
      deshred reconstruct scans/ -o out/ --model mine.onnx
    """
    with progress_reporter(quiet=quiet) as progress:
        lesson = teach(
            list(load_shreds(inputs, progress=progress)),
            output,
            options=options,
            training=training,
            report=figure_reporter(progress),
        )
    if as_json:
        say_json(asdict(lesson))
        return
    say(f"loss on shreds held back: {lesson.before:.3f} before, {lesson.after:.3f} after")
    told = f"model: {lesson.model}" if lesson.is_kept else f"not written: {options.init} did not get better"
    say(told)
