"""`deshred verify`: is everything as it was?"""

from __future__ import annotations

from pathlib import Path

import click

from deshred.cli import flags
from deshred.cli.console import progress_reporter, say, say_json
from deshred.export.verification import verify


@flags.command()
@flags.case
@click.option(
    "--head", metavar="SHA256", help="The hash of a line of the journal, as export or verify printed it."
)
@click.option(
    "--seal", "sealed", metavar="SHA256", help="The seal of a package, 64 digits, as export printed it."
)
@click.option(
    "--inputs",
    metavar="PATH",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Scans to compare with those that were read; can be given several times.",
)
@click.option("--repeat", is_flag=True, help="Reconstruct again from the scans, and compare.")
@flags.quiet
@flags.as_json
def command(
    case: Path,
    head: str | None,
    sealed: str | None,
    inputs: tuple[Path, ...],
    repeat: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Check a case, an export or a package: journal, hashes, seal.

    \b
    Examples:
      deshred verify out/
      deshred verify sealed/ --seal 294bccc2...
      deshred verify sealed/ --inputs scans/ --repeat
    """
    with progress_reporter(quiet=quiet or not repeat) as progress:
        found = verify(case, head=head, sealed=sealed, inputs=inputs, repeat=repeat, progress=progress)
    if as_json:
        say_json(found.to_dict())
    else:
        say(found.to_text())
    found.require()
