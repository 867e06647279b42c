"""All commands at once: what is true of each of them, and how they are found and loaded."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest

import deshred.cli
from deshred.cli import COMMANDS, EXTRAS, find_remedy
from deshred.compatibility.scorers import SCORER_NAMES
from tests.commands import list_commands, run

ALL = list_commands()

ROOT = Path(__file__).parents[2]


def test_the_version_is_shown() -> None:
    for flag in ("--version", "-v"):
        assert run(flag).stdout == f"deshred {deshred.__version__}\n"


def test_the_module_is_the_command() -> None:
    command = [sys.executable, "-m", "deshred", "segment", "nowhere", "-o", "out"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr == "error: nowhere: there is no such file or folder. Check the name.\n"


def test_an_interruption_while_a_command_is_loaded_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("deshred.cli.importlib.import_module", interrupt)
    done = run("doctor")
    assert (done.exit_code, done.stderr) == (130, "error: interrupted; run the command again.\n")


def test_an_empty_argument_is_not_taken_for_the_folder_one_stands_in(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "deshred", "reconstruct", "", "-o", "out"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 2
    assert "an argument is empty" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["reconstruct", "evaluate"])
def test_every_scorer_is_named_in_the_help(command: str) -> None:
    text = run(command, "--help").stdout
    assert all(name in text for name in SCORER_NAMES)


@pytest.mark.parametrize("name", ALL)
def test_every_command_has_examples_that_can_be_parsed(name: str) -> None:
    text = run(*name.split(), "--help").stdout
    examples = [line.strip() for line in text.splitlines() if line.strip().startswith("deshred ")]
    assert examples
    for example in examples:
        words = shlex.split(example.partition(" > ")[0])[1:]
        parts = 1 if words[0] in ALL else 2
        ALL[" ".join(words[:parts])].make_context(example, words[parts:])


@pytest.mark.parametrize("name", ALL)
def test_json_is_a_switch_of_every_command(name: str) -> None:
    (switch,) = (one for one in ALL[name].params if "--json" in one.opts)
    assert isinstance(switch, click.Option)
    assert switch.is_flag
    assert switch.help == "Print the result as JSON."


def test_help_loads_nothing_heavy() -> None:
    script = "import sys; from deshred.cli import main\ntry: main()\nexcept SystemExit: print(*sys.modules)"
    command = [sys.executable, "-c", script, "--help"]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert not {"cv2", "scipy", "torch", "onnxruntime", "highspy"}.intersection(loaded)


def test_the_names_of_scorers_are_completed() -> None:
    environment = {**os.environ, "_DESHRED_COMPLETE": "bash_complete", "COMP_CWORD": "3"}
    environment["COMP_WORDS"] = "deshred reconstruct --scorer ma"
    command = [sys.executable, "-m", "deshred"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert "marques" in done.stdout


def test_a_command_that_nobody_knows_has_exit_code_2(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        done = run("frobnicate")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "No such command 'frobnicate'" in done.stderr


def test_every_module_that_is_a_command_is_listed() -> None:
    folder = Path(deshred.cli.__file__).parent
    modules = {file.stem for file in folder.glob("*.py")} - {"__init__", "console", "flags"}
    assert modules == set(COMMANDS)


def test_the_remedy_for_a_missing_module_is_an_extra_that_exists() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert set(EXTRAS.values()) <= set(project["project"]["optional-dependencies"])
    assert find_remedy("starlette.routing") == "Try: pip install 'deshred[review]'"
    assert find_remedy("numpy") == "Install deshred again."
