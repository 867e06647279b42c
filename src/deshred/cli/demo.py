"""`deshred demo`: draw, shred, reconstruct, and compare with the truth."""

from __future__ import annotations

from pathlib import Path

import click

from deshred.cli import flags
from deshred.cli.console import progress_reporter, say, say_json
from deshred.evaluation.demo import DemoOptions, run_demo
from deshred.export.exporting import export_searchable_pdf
from deshred.export.results import describe


@flags.command()
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    type=flags.OutputPath(),
    default=Path("demo"),
    show_default=True,
    help="The folder to write.",
)
@flags.option_flags(DemoOptions, "kinds", "shreds", "seed", "hard")
@flags.force
@flags.quiet
@flags.as_json
def command(output: Path, options: DemoOptions, force: bool, quiet: bool, as_json: bool) -> None:
    """Draw a few pages, shred and mix them, reconstruct them, and say how well it went.

    \b
    Examples:
      deshred demo
      deshred demo -o elsewhere/ --seed 5
      deshred demo -o hard/ --hard
      deshred demo -o forms/ --kinds form,invoice,table --shreds 40
    """
    with progress_reporter(quiet=quiet) as progress:
        result = run_demo(output, options=options, force=force, progress=progress)
    if as_json:
        say_json({"demo": result.summary(), **describe(result.reconstruction)})
        return
    say(result.reconstruction.summary())
    say(result.summary())
    say(f"shreds: {result.pile / 'shreds'}")
    say(f"pages:  {result.run / 'pages'}")
    say(f"report: {result.run / 'report.html'}")
    with progress_reporter(quiet=quiet) as progress:
        pdf = export_searchable_pdf(result.run, output / "pdf", force=force, progress=progress)
    say(f"pdf:    {pdf}")
