"""`deshred experiment ablation`."""

from __future__ import annotations

from pathlib import Path

import click

from deshred.cli import flags
from deshred.cli.console import progress_reporter
from deshred.cli.experiments import tell
from deshred.evaluation.experiments.ablation import AblationOptions, ablation


@flags.command("ablation", interrupted="the same command continues where it stopped")
@flags.inputs
@flags.output
@flags.option_flags(
    AblationOptions, "steps", "ks", "factors", "documents", "max_shift", "seeds", "again", "jobs"
)
@click.option(
    "--pages",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Intact pages to train on: a folder with cdip/ and isri-ocr/.",
)
@flags.quiet
@flags.as_json
def command(
    inputs: tuple[Path, ...],
    output: Path,
    options: AblationOptions,
    pages: Path | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """What each choice of the paper, and of our own scorer, is worth.

    Each INPUT is the folder of a collection. Networks are trained within --steps and kept in OUT; what is
    already there is not measured again.

    \b
    Examples:
      deshred experiment ablation s-isri-ocr -o out/ --ks 1,2
      deshred experiment ablation s-isri-ocr -o out/ --steps 300 --pages pages/
    """
    with progress_reporter(quiet=quiet) as progress:
        outcome = ablation(inputs, output, pages=pages, options=options, progress=progress)
    tell(outcome, as_json=as_json)
