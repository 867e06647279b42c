"""`deshred reconstruct`: shreds in, pages out."""

from __future__ import annotations

from pathlib import Path

import click

from deshred.cases import load_constraints
from deshred.cli import flags
from deshred.cli.console import progress_reporter, say, say_json, warn_of_sheets
from deshred.export.results import describe, reconstruct_into
from deshred.settings import Settings


@flags.command(interrupted="the same command continues where it stopped")
@flags.inputs
@flags.output
@flags.settings_flags(
    "scorer",
    "model",
    "orientation",
    "sides",
    "show_missing",
    "jobs",
    "cluster",
    "store",
    "budget.memory_gb",
    "scans.dpi",
    "scans.max_megapixels",
    "scans.kind",
    "segmentation.background",
    "segmentation.min_width_mm",
    "blank.rule",
    "pairwise.max_shift",
    "arrangement.solver",
    "arrangement.pages",
    "arrangement.free_ends",
    "arrangement.time_limit",
)
@flags.constraints
@click.option("--add", is_flag=True, help="Add these files to a case; only new joins are scored.")
@flags.force
@flags.quiet
@flags.as_json
def command(
    inputs: tuple[Path, ...],
    output: Path,
    settings: Settings,
    constraints: Path | None,
    add: bool,
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Put shreds back together into pages.

    Each INPUT is a file or a folder: single shreds, scanned sheets with many shreds, or both.
    Together they make one mixed pile. OUT gets pages/, arrangement.json and report.html. A run that was
    interrupted continues where it stopped.

    \b
    Examples:
      deshred reconstruct scans/ -o out/
      deshred reconstruct monday/ tuesday/ -o out/ --pages 12
      deshred reconstruct wednesday/ -o out/ --add
      deshred reconstruct sheets/*.jpg -o out/ --as sheets --background '#ff9933'
      deshred reconstruct scans/ -o out/ --constraints known.toml --force
      deshred reconstruct scans/ -o out/ --scorer marques --solver greedy --json
    """
    known = None if constraints is None else load_constraints(constraints)
    with progress_reporter(quiet=quiet) as progress:
        done = reconstruct_into(
            output,
            inputs,
            constraints=known,
            settings=settings,
            force=force,
            add=add,
            command=flags.tell_command(),
            progress=progress,
        )
    warn_of_sheets(done.sheets)
    if as_json:
        say_json(describe(done))
        return
    say(str(done.decision))
    say(done.summary())
    say(f"pages:  {output / 'pages'}")
    say(f"report: {output / 'report.html'}")
