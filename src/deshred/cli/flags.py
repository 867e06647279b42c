"""Flags made from options: every field of an options dataclass can become one, and is written only once.

`@command` makes a command of a function; `@settings_flags` and `@option_flags` give it the value that the
flags amount to.
"""

from __future__ import annotations

import dataclasses
import functools
import shlex
import sys
import types
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from deshred.cli.console import exit_codes
from deshred.errors import SettingsError
from deshred.executors import MOST_JOBS
from deshred.options import About, about
from deshred.settings import Settings, read_settings

Function = Callable[..., Any]


class OutputPath(click.ParamType[Any]):
    """A file or folder to write; a flag that was meant as one is not a name."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The path."""
        if str(value).startswith("-"):
            told = f"{value!r} looks like a flag. Name the file or folder; write ./{value} for such a name."
            self.fail(told, param, ctx)
        return Path(value)


class _Text(click.ParamType[Any]):
    """A text that is the value of an option only after it has been parsed."""

    name = "text"

    def __init__(self, parse: Callable[[str], Any]) -> None:
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value; what it must be is checked with all other settings."""
        try:
            return self._parse(value) if isinstance(value, str) else value
        except SettingsError as error:
            self.fail(str(error), param, ctx)


def command(
    name: str | None = None, *, interrupted: str = "run the command again"
) -> Callable[[Function], click.Command]:
    """Make a command that turns errors into exit codes and has --debug.

    `interrupted` says how to go on after Ctrl-C.
    """

    def register(function: Function) -> click.Command:
        @functools.wraps(function)
        def run(*args: Any, debug: bool, **kwargs: Any) -> None:
            with exit_codes(debug=debug, interrupted=interrupted):
                function(*args, **kwargs)

        made = click.command(name or function.__name__.replace("_", "-"), no_args_is_help=False)(run)
        made.params.append(
            click.Option(["--debug"], is_flag=True, help="Show the traceback when something fails.")
        )
        return made

    return register


case = click.argument("case", type=click.Path(path_type=Path))
inputs = click.argument(
    "inputs", metavar="INPUT...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
output = click.option(
    "-o", "--output", metavar="OUT", required=True, type=OutputPath(), help="The folder to write."
)
force = click.option("--force", is_flag=True, help="Replace what deshred wrote there before.")
quiet = click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
as_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
jobs = click.option("--jobs", type=click.IntRange(1, MOST_JOBS), help="Processors to use.  [default: all]")
seed = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed for everything random."
)
constraints = click.option(
    "--constraints",
    metavar="TOML",
    type=click.Path(path_type=Path),
    help="A file of what you know for sure; see docs/guide.md.",
)


model_output = click.option(
    "-o", "--output", metavar="MODEL", required=True, type=OutputPath(), help="The .onnx file to write."
)


def tell_command() -> str:
    """The command line as it was given, for the record."""
    return shlex.join(["deshred", *sys.argv[1:]])


def settings_flags(*keys: str) -> Callable[[Function], Function]:
    """Give a command `settings`: the defaults, changed by --settings TOML, changed by the flags given.

    A key is `option` or `stage.option` of Settings.
    """
    flags = [_Flag.of(_find_options(key), key) for key in keys]

    def add(function: Function) -> Function:
        @functools.wraps(function)
        def run(*args: Any, settings_file: Path | None, **given: Any) -> Any:
            settings = Settings() if settings_file is None else read_settings(settings_file)
            for key, flag in zip(keys, flags, strict=True):
                value = given.pop(flag.parameter)
                if value is not None:
                    settings = settings.change(key, value, where=flag.name)
            return function(*args, settings=settings, **given)

        file = click.option(
            "--settings",
            "settings_file",
            metavar="TOML",
            type=click.Path(path_type=Path),
            help="A file of settings; flags override it.",
        )
        return _decorate(file(run), flags)

    return add


def option_flags(options: type, *names: str, into: str = "options") -> Callable[[Function], Function]:
    """Give a command one value of an options dataclass, made from its defaults and the flags given."""
    flags = [_Flag.of(options, name) for name in names]

    def add(function: Function) -> Function:
        @functools.wraps(function)
        def run(*args: Any, **given: Any) -> Any:
            values = {name: given.pop(flag.parameter) for name, flag in zip(names, flags, strict=True)}
            chosen = {name: value for name, value in values.items() if value is not None}
            return function(*args, **{into: options(**chosen)}, **given)

        return _decorate(run, flags)

    return add


@dataclasses.dataclass(frozen=True)
class _Flag:
    """A flag, as the option behind it describes itself."""

    name: str  # such as --time-limit
    parameter: str
    details: dict[str, Any]

    @classmethod
    def of(cls, options: type, key: str) -> _Flag:
        """The flag of an option; `key` may have the name of a stage before it."""
        name = key.rpartition(".")[2]
        told = about(options, name)
        kind = typing.get_type_hints(options)[name]
        if kind is bool:
            details: dict[str, Any] = {"is_flag": True, "help": told.help}
        else:
            shown = told.shown or _show_default(options, name)
            help_text = f"{told.help}  [default: {shown}]"
            details = {"type": _find_type(kind, told), "metavar": told.metavar, "help": help_text}
        flag = told.flag or f"--{name.replace('_', '-')}"
        return cls(flag, key.replace(".", "_"), {"default": None, **details})


def _decorate(function: Function, flags: list[_Flag]) -> Function:
    for flag in reversed(flags):
        function = click.option(flag.name, flag.parameter, **flag.details)(function)
    return function


def _find_options(key: str) -> type:
    """The dataclass that holds the option behind a key of Settings."""
    stage = key.rpartition(".")[0]
    kind: type = typing.get_type_hints(Settings)[stage] if stage else Settings
    return kind


def _find_type(kind: Any, told: About) -> click.ParamType[Any]:
    if told.parse is not None:
        return _Text(told.parse)
    is_union = typing.get_origin(kind) in (typing.Union, types.UnionType)
    plain = next(one for one in (typing.get_args(kind) if is_union else (kind,)) if one is not type(None))
    if typing.get_origin(plain) is typing.Literal:
        return click.Choice(typing.get_args(plain))
    if typing.get_origin(plain) is tuple:
        return _Text(functools.partial(_parse_list, typing.get_args(plain)[0]))
    known: dict[Any, click.ParamType[Any]] = {
        int: click.INT,
        float: click.FLOAT,
        Path: click.Path(path_type=Path),
    }
    return known.get(plain, click.STRING)


def _parse_list(kind: Callable[[str], Any], text: str) -> tuple[Any, ...]:
    """Read `1,2,5`."""
    try:
        return tuple(kind(part.strip()) for part in text.split(",") if part.strip())
    except ValueError:
        raise SettingsError(f"{text!r} is not a list such as 1,2,5.") from None


def _show_default(options: type, name: str) -> str:
    value = getattr(options(), name)
    shown = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return "none" if value is None or not shown else shown
