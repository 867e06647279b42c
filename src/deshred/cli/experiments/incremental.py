"""`deshred experiment incremental`."""

from __future__ import annotations

from pathlib import Path

from deshred.cli import flags
from deshred.cli.console import progress_reporter
from deshred.cli.experiments import tell
from deshred.evaluation.experiments.incremental import IncrementalOptions, incremental


@flags.command("incremental", interrupted="the same command continues where it stopped")
@flags.inputs
@flags.output
@flags.option_flags(
    IncrementalOptions, "methods", "ks", "seeds", "pairwise_most_k", "documents", "again", "jobs"
)
@flags.quiet
@flags.as_json
def command(
    inputs: tuple[Path, ...], output: Path, options: IncrementalOptions, quiet: bool, as_json: bool
) -> None:
    """Accuracy at k = 1, 2, 3, ... mixed documents: all windows of a sequence, mean and 95 % interval.

    Each INPUT is the folder of a collection. OUT gets raw results, a table next to the published numbers,
    plots and a page that shows all of them; what is already there is not measured again.

    \b
    Examples:
      deshred experiment incremental s-marques s-isri-ocr s-cdip -o out/
      deshred experiment incremental s-cdip -o out/ --methods default,towers --ks 1,2,5
    """
    with progress_reporter(quiet=quiet) as progress:
        outcome = incremental(inputs, output, options=options, progress=progress)
    tell(outcome, as_json=as_json)
