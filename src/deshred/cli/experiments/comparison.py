"""`deshred experiment comparison`."""

from __future__ import annotations

from pathlib import Path

from deshred.cli import flags
from deshred.cli.console import progress_reporter
from deshred.cli.experiments import tell
from deshred.evaluation.experiments.comparison import ComparisonOptions, comparison


@flags.command("comparison", interrupted="the same command continues where it stopped")
@flags.inputs
@flags.output
@flags.option_flags(
    ComparisonOptions, "methods", "ks", "seeds", "piles", "pairwise_most_k", "documents", "again", "jobs"
)
@flags.quiet
@flags.as_json
def command(
    inputs: tuple[Path, ...], output: Path, options: ComparisonOptions, quiet: bool, as_json: bool
) -> None:
    """All scorers and solvers on the same piles in one run: accuracy and seconds, as ratios to the default.

    Each INPUT is the folder of a collection; what OUT already holds is not measured again.

    \b
    Examples:
      deshred experiment comparison s-marques s-isri-ocr -o out/ --ks 1,2,3
      deshred experiment comparison s-cdip -o out/ --methods default,marques --piles 5
    """
    with progress_reporter(quiet=quiet) as progress:
        outcome = comparison(inputs, output, options=options, progress=progress)
    tell(outcome, as_json=as_json)
