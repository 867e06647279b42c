"""What an option says about itself: its default, what it is for, and how it is written on the command line.

Options are fields of frozen dataclasses. Whoever needs a flag, a table of settings or a form reads it here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

_KEY = "deshred"


@dataclass(frozen=True)
class About:
    """What is known about an option besides its type and default."""

    help: str
    flag: str | None = None  # where it is not the name of the option
    metavar: str | None = None
    shown: str | None = None  # the default as people should read it
    parse: Callable[[str], Any] | None = None  # where the text of a flag is not yet the value


def option(
    default: Any = MISSING,
    help: str = "",
    *,
    factory: Callable[[], Any] | None = None,
    flag: str | None = None,
    metavar: str | None = None,
    shown: str | None = None,
    parse: Callable[[str], Any] | None = None,
) -> Any:
    """A field of an options dataclass that tells what it is for."""
    metadata = {_KEY: About(help, flag, metavar, shown, parse)}
    if factory is not None:
        return field(default_factory=factory, metadata=metadata)
    return field(default=default, metadata=metadata)


def about(options: type, name: str) -> About:
    """What an option of a dataclass says about itself."""
    for entry in fields(options):
        if entry.name == name:
            told: About = entry.metadata.get(_KEY) or About("")
            return told
    raise KeyError(f"{options.__name__} has no option {name}")
