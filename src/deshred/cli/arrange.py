"""`deshred arrange`: the order alone, from scores."""

from __future__ import annotations

from pathlib import Path

import click

from deshred.cases import load_constraints
from deshred.cli import flags
from deshred.cli.console import progress_reporter, say, say_json
from deshred.elements import Constraints
from deshred.export.answers import arrange_file
from deshred.settings import Settings


@flags.command()
@click.argument("file", type=click.Path(path_type=Path))
@flags.settings_flags(
    "arrangement.solver", "arrangement.pages", "arrangement.free_ends", "arrangement.time_limit"
)
@flags.constraints
@flags.quiet
@flags.as_json
def command(file: Path, settings: Settings, constraints: Path | None, quiet: bool, as_json: bool) -> None:
    """Find only the order, from scores that already exist.

    FILE holds scores (compatibility.npz of a case) or is a TSPLIB instance (.atsp), which asks for the
    shortest round trip.

    \b
    Examples:
      deshred arrange out/compatibility.npz
      deshred arrange out/compatibility.npz --pages 1 --time-limit 60 --json
      deshred arrange ftv33.atsp
    """
    known = Constraints() if constraints is None else load_constraints(constraints)
    with progress_reporter(quiet=quiet) as progress:
        found = arrange_file(file, known, options=settings.arrangement, progress=progress)
    if as_json:
        say_json(found.to_dict())
        return
    say(found.to_text())
