"""`deshred experiment feedback`."""

from __future__ import annotations

from pathlib import Path

from deshred.cli import flags
from deshred.cli.console import progress_reporter
from deshred.cli.experiments import tell
from deshred.evaluation.experiments.feedback import FeedbackOptions, feedback


@flags.command("feedback", interrupted="the same command continues where it stopped")
@flags.inputs
@flags.output
@flags.option_flags(
    FeedbackOptions,
    "methods",
    "strategies",
    "loads",
    "rounds",
    "errors",
    "seeds",
    "documents",
    "again",
    "jobs",
)
@flags.quiet
@flags.as_json
def command(
    inputs: tuple[Path, ...], output: Path, options: FeedbackOptions, quiet: bool, as_json: bool
) -> None:
    """Show a share of the joins to a person, turn the answers into constraints, and solve the pile again.

    Each INPUT is the folder of a collection. People are simulated: perfect, or wrong now and then.

    \b
    Examples:
      deshred experiment feedback s-marques s-isri-ocr s-cdip -o out/ --loads 0.1
    """
    with progress_reporter(quiet=quiet) as progress:
        outcome = feedback(inputs, output, options=options, progress=progress)
    tell(outcome, as_json=as_json)
