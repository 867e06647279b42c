"""What an option says about itself is found by the name of the option, and only there."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from deshred.options import About, about, option


@dataclass(frozen=True)
class Options:
    limit: float | None = option(None, "Seconds.", flag="--seconds", metavar="S", shown="none")
    names: list[str] = option(help="Names.", factory=list)
    pages: int = option(1, "Pages.", parse=int)
    plain: int = 3
    made: list[int] = field(default_factory=list)


def test_an_option_tells_what_was_said_about_it() -> None:
    assert about(Options, "limit") == About("Seconds.", "--seconds", "S", "none", None)
    assert about(Options, "pages").parse is int


def test_an_option_is_a_field_with_its_default() -> None:
    options = Options()
    assert (options.limit, options.names, options.pages) == (None, [], 1)
    assert options.names is not Options().names


@pytest.mark.parametrize("name", ["plain", "made"])
def test_a_field_that_says_nothing_has_no_help(name: str) -> None:
    assert about(Options, name) == About("")


def test_a_name_that_is_no_option_is_told() -> None:
    with pytest.raises(KeyError, match="Options has no option depth"):
        about(Options, "depth")


def test_an_option_without_a_default_must_be_given() -> None:
    @dataclass(frozen=True)
    class Strict:
        size: int = option(help="Size.")

    with pytest.raises(TypeError, match="size"):
        Strict()
