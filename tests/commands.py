"""The command line as a test runs it."""

from __future__ import annotations

from click.testing import CliRunner, Result

from deshred.cli import app


def run(*args: object) -> Result:
    """Run a command; its exit code, stdout and stderr are in the result."""
    return CliRunner().invoke(app, [str(arg) for arg in args])
