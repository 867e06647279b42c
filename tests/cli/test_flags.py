"""Flags are what the options behind them say, and what is not given stays at its default."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import click
import pytest
from click.testing import CliRunner, Result

from deshred.cli.flags import OutputPath, command, option_flags, settings_flags
from deshred.errors import SettingsError
from deshred.options import option
from deshred.settings import Settings


@dataclass(frozen=True)
class Options:
    depth: int = option(3, "How deep.")
    share: float | None = option(None, "How much.", shown="all")
    kind: Literal["plain", "fancy"] = option("plain", "Which kind.", flag="--sort")
    sizes: tuple[int, ...] = option((1, 2), "Which sizes.")
    is_loud: bool = option(False, "Say more.", flag="--loud")
    folder: Path | None = option(None, "Where.")

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise SettingsError(f"depth is {self.depth}; it is at least 1.")


def run(*args: str, names: tuple[str, ...] = ("depth", "share", "kind", "sizes", "is_loud", "folder")) -> Any:
    """What the command got, or the result where it did not run."""
    got: list[Any] = []

    @command("try")
    @option_flags(Options, *names)
    def attempt(options: Options) -> None:
        """Try."""
        got.append(options)

    result: Result = CliRunner().invoke(attempt, list(args))
    return got[0] if got else result


def test_without_flags_all_is_at_its_default() -> None:
    assert run() == Options()


def test_every_kind_of_option_is_read() -> None:
    numbers = ("--depth", "5", "--share", "0.5", "--sizes", "3,4,5")
    given = run(*numbers, "--sort", "fancy", "--loud", "--folder", "x")
    assert given == Options(5, 0.5, "fancy", (3, 4, 5), True, Path("x"))


@pytest.mark.parametrize(
    "wrong", ["--depth two", "--sort odd", "--sizes 1,two", "--share much", "--unknown 1", "--kind plain"]
)
def test_what_no_option_takes_is_a_usage_error(wrong: str) -> None:
    result = run(*wrong.split())
    assert result.exit_code == 2
    assert "Error" in result.stderr


def test_what_the_options_themselves_refuse_is_told_with_their_code() -> None:
    result = run("--depth", "0")
    assert result.exit_code == 2
    assert "error: depth is 0; it is at least 1." in result.stderr


def test_help_tells_the_words_and_the_defaults_of_the_options() -> None:
    told = " ".join(run("--help").output.split())
    assert "How deep. [default: 3]" in told
    assert "How much. [default: all]" in told
    assert "[plain|fancy]" in told
    assert "[default: 1,2]" in told


def test_only_options_that_are_named_become_flags() -> None:
    assert run("--sizes", "1", names=("depth",)).exit_code == 2


def chosen(*args: str) -> Any:
    got: list[Settings] = []

    @command("try")
    @settings_flags("jobs", "arrangement.pages", "arrangement.solver")
    def attempt(settings: Settings) -> None:
        """Try."""
        got.append(settings)

    result = CliRunner().invoke(attempt, list(args))
    return got[0] if got else result


def test_a_flag_overrides_the_file_of_settings_and_the_file_the_defaults(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('[arrangement]\npages = 4\nsolver = "greedy"\n')
    settings = chosen("--settings", str(file), "--pages", "2")
    assert settings.arrangement.pages == 2
    assert settings.arrangement.solver == "greedy"
    assert settings.jobs == Settings().jobs
    assert chosen().arrangement == Settings().arrangement


def test_a_setting_that_cannot_be_is_told_with_its_flag() -> None:
    result = chosen("--pages", "0")
    assert result.exit_code == 2
    assert "--pages" in result.stderr


def test_a_flag_is_no_name_of_an_output() -> None:
    @click.command()
    @click.option("-o", "target", type=OutputPath())
    def write(target: Path) -> None:
        click.echo(target)

    assert CliRunner().invoke(write, ["-o", "out"]).output == "out\n"
    wrong = CliRunner().invoke(write, ["-o", "--force"])
    assert wrong.exit_code == 2
    assert "looks like a flag" in wrong.output
