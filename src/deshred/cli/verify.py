"""`deshred verify`: is everything as it was?"""

from __future__ import annotations

from pathlib import Path

import click

from deshred.cli import flags
from deshred.cli.console import say, say_json
from deshred.export.verification import verify


@flags.command()
@flags.case
@click.option("--head", metavar="SHA256", help="The last line of the journal, as it was noted.")
@click.option("--seal", "sealed", metavar="SHA256", help="The seal of a package, as it was noted.")
@click.option(
    "--inputs",
    metavar="PATH",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Scans to compare with what was read; may be given several times.",
)
@flags.as_json
def command(
    case: Path, head: str | None, sealed: str | None, inputs: tuple[Path, ...], as_json: bool
) -> None:
    """Check a case, an export or a package: journal, hashes, seal.

    \b
    Examples:
      deshred verify out/
      deshred verify sealed/ --seal 3f0c7a
    """
    found = verify(case, head=head, sealed=sealed, inputs=inputs)
    if as_json:
        say_json(found.to_dict())
    else:
        say(found.to_text())
    found.require()
