"""`deshred explain`: where the network of the paper says that joins fit."""

from __future__ import annotations

from pathlib import Path

import click

from deshred.cli import flags
from deshred.cli.console import progress_reporter, say, say_json
from deshred.compatibility.pairwise.scorer import PairwiseScorer
from deshred.executors import default_executor
from deshred.export.explanations import explain


@flags.command()
@flags.case
@click.option("--page", type=int, default=1, show_default=True, help="Number of the page.")
@click.option(
    "--model",
    default="pairwise-cdip",
    show_default=True,
    help="A pairwise model: a file, or the name of a shipped one.",
)
@flags.jobs
@flags.quiet
@flags.as_json
def command(case: Path, page: int, model: str, jobs: int | None, quiet: bool, as_json: bool) -> None:
    """Show where the paper's network finds that joins fit (green) or do not (red).

    CASE is the folder of a finished reconstruct.

    \b
    Examples:
      deshred explain out/
      deshred explain out/ --page 3 --model pairwise-cdip
    """
    scorer = PairwiseScorer(model, threads=jobs or 0)
    with progress_reporter(quiet=quiet) as progress:
        picture = explain(case, page, scorer, executor=default_executor(jobs), progress=progress)
    if as_json:
        say_json({"picture": picture})
        return
    say(str(picture))
