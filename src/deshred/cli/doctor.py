"""`deshred doctor`: is everything there, and does it work."""

from __future__ import annotations

from deshred.cli import flags
from deshred.cli.console import say, say_json
from deshred.doctor import examine


@flags.command()
@flags.as_json
def command(as_json: bool) -> None:
    """Check the installation: what is there, what is missing, and how to get it; do a tiny reconstruction.

    \b
    Examples:
      deshred doctor
      deshred doctor --json
    """
    diagnosis = examine()
    if as_json:
        say_json(diagnosis.to_dict())
    else:
        say(diagnosis.to_text())
    if not diagnosis.is_well:
        raise SystemExit(1)
