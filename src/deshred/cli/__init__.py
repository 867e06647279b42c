"""The command line: one module per verb, loaded when it is asked for, so that help and completion are quick.

A command parses, calls one public function and prints. Errors become exit codes here and nowhere else.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from deshred.cli.console import exit_codes, prepare_streams, say
from deshred.errors import MissingDependencyError, SettingsError
from deshred.versions import VERSION

# name: what `deshred --help` says about it; the command is `command` in deshred.cli.<name>
COMMANDS = {
    "reconstruct": "Put shreds back together into pages.",
    "review": "Check and correct a case in the browser on this computer.",
    "segment": "Cut the shreds out of scanned sheets.",
    "export": "Write searchable PDF, text, tables, a case report or a sealed package.",
    "search": "Look for words in a case or an export.",
    "verify": "Check that a case, an export or a package has not changed.",
    "explain": "Show where the paper's network finds that joins fit.",
    "demo": "Draw a few pages, shred and mix them, and put them back together.",
    "shred": "Simulate shredding intact pages.",
    "arrange": "Find only the order, from scores that already exist.",
    "evaluate": "Measure accuracy on a collection with known answers.",
    "experiment": "Repeat an experiment from the paper (needs the extra deshred[plots]).",
    "train": "Train a model of your own (needs the extra deshred[train]).",
    "models": "List the shipped models with their cards.",
    "doctor": "Check the installation.",
}


class LazyGroup(click.Group):
    """A group whose commands are modules that are imported when they are called."""

    def __init__(self, *, package: str, summaries: dict[str, str], **others: object) -> None:
        super().__init__(no_args_is_help=True, **others)  # type: ignore[arg-type]
        self.package = package
        self.summaries = summaries

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of their use."""
        return list(self.summaries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now."""
        if cmd_name not in self.summaries:
            return None
        try:
            module = importlib.import_module(f"{self.package}.{cmd_name}")
        except ModuleNotFoundError as error:
            raise MissingDependencyError(
                f"{cmd_name} needs {error.name}, which is not installed. {find_remedy(str(error.name))}"
            ) from None
        command: click.Command = module.command
        return command

    def make_context(self, *args: Any, **others: Any) -> click.Context:
        """What was asked for; help is printed here."""
        with _before_click():
            return super().make_context(*args, **others)

    def invoke(self, ctx: click.Context) -> Any:
        """Load a command and run it."""
        with _before_click():
            return super().invoke(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What `--help` lists, without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.summaries.items()))


@contextmanager
def _before_click() -> Iterator[None]:
    """An interruption, or a reader that has gone, which click would give the code of the unexpected."""
    try:
        yield
    except (KeyboardInterrupt, BrokenPipeError):
        with exit_codes(debug="--debug" in sys.argv):
            raise


EXTRAS = {
    "torch": "train",
    "onnx": "train",
    "matplotlib": "plots",
    "pikepdf": "pdf",
    "reportlab": "pdf",
    "fontTools": "pdf",
    "tesserocr": "ocr",
    "starlette": "review",
    "uvicorn": "review",
}


def find_remedy(module: str) -> str:
    """How to get a module that an optional part needs."""
    extra = EXTRAS.get(module.partition(".")[0])
    return f"Try: pip install 'deshred[{extra}]'" if extra else "Install deshred again."


def _show_version(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        say(f"deshred {VERSION}")
        ctx.exit()


app = LazyGroup(
    package="deshred.cli",
    summaries=COMMANDS,
    name="deshred",
    help="Put strip-shredded paper back together: from scans of shreds to readable pages.",
    epilog="Every command has examples in its own --help. Exit codes: docs/exit-codes.md",
    context_settings={"help_option_names": ["-h", "--help"]},
    params=[
        click.Option(
            ["-v", "--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_show_version,
            help="Show the version.",
        )
    ],
)


def main() -> None:
    """The entry point of the command `deshred`."""
    prepare_streams()
    with exit_codes(debug="--debug" in sys.argv):  # loading a command can fail before it runs
        if "" in sys.argv[1:]:  # as paths, it would be the folder one stands in
            raise SettingsError('an argument is empty; is "$VARIABLE" not set? Give a file or folder, or "."')
        app(prog_name="deshred")
