"""The command line as a test runs it."""

from __future__ import annotations

from functools import cache

import click
from click.testing import CliRunner, Result

from deshred.cli import COMMANDS, app


def run(*args: object) -> Result:
    """Run a command; its exit code, stdout and stderr are in the result."""
    return CliRunner().invoke(app, [str(arg) for arg in args])


@cache
def list_commands() -> dict[str, click.Command]:
    """Every command there is by its words, such as `train towers`."""
    context = click.Context(app)
    found: dict[str, click.Command] = {}
    for name in COMMANDS:
        command = app.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            inner = {one: command.get_command(context, one) for one in command.list_commands(context)}
            found |= {f"{name} {one}": known for one, known in inner.items() if known is not None}
        else:
            found[name] = command
    return found
