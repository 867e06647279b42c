"""`deshred models`: the shipped models."""

from __future__ import annotations

from deshred.cli import flags
from deshred.cli.console import say, say_json
from deshred.compatibility.models import list_models


@flags.command()
@flags.as_json
def command(as_json: bool) -> None:
    """List the shipped models with their cards.

    \b
    Examples:
      deshred models
      deshred reconstruct scans/ -o out/ --scorer towers --model towers-default
    """
    shipped = list_models()
    if as_json:
        say_json({"models": [{"name": one.name, "path": one.path, "card": one.card} for one in shipped]})
        return
    for one in shipped:
        say(f"{one.name}  ({one.path.stat().st_size / 1e6:.1f} MB)")
        for line in one.card.strip().splitlines():
            say(f"  {line}" if line else "")
        say("")
