"""What the documents show comes from the code and from measured results."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

from deshred.cli import app
from deshred.imaging.scans import read_scans
from tests.commands import run
from tests.conftest import SavedPile

ROOT = Path(__file__).parents[1]
PAGES = sorted(ROOT.glob("docs/**/*.md")) + sorted(ROOT.glob("*.md"))


@pytest.mark.parametrize("script", ["benchmarks/figures.py", "docs/architecture.py"])
def test_figures_and_diagrams_are_up_to_date(script: str) -> None:
    command = [sys.executable, str(ROOT / script), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_the_ten_lines_of_the_readme_give_exactly_the_pages_of_the_command(
    saved_pile: SavedPile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (script,) = re.findall(
        r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL
    )
    monkeypatch.chdir(tmp_path)
    shutil.copytree(saved_pile.folder, "demo/pile/shreds")
    done = run("reconstruct", "demo/pile/shreds", "-o", "case", "-q")
    assert done.exit_code == 0, done.stderr
    made: dict[str, Any] = {}
    exec(script, made)
    files = sorted(Path("case/pages").iterdir())
    assert len(made["pages"]) == len(files)
    for page, file in zip(made["pages"], files, strict=True):
        np.testing.assert_array_equal(page.image, read_scans(file)[0].image)


def list_commands(page: Path) -> Iterator[list[str]]:
    """The words of every command that a document shows, in a block of code or within a line."""
    text = page.read_text(encoding="utf-8")
    for block in re.findall(r"```(?:sh|)\n(.*?)```", text, re.DOTALL):
        for line in re.findall(r"^deshred .*", block, re.MULTILINE):
            yield shlex.split(line, comments=True)[1:]
    for line in re.findall(r"`deshred ([^`\n]+)`", text):
        yield shlex.split(line)


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=str)
def test_commands_that_documents_show_exist_with_all_their_flags(page: Path) -> None:
    for words in list_commands(page):
        command: click.Command | None = app
        context = click.Context(app)
        while isinstance(command, click.Group) and words and not words[0].startswith("-"):
            found = command.get_command(context, words[0])
            assert found is not None, words
            command, words = found, words[1:]
        assert command is not None
        known = {flag for one in command.get_params(context) for flag in one.opts}
        assert {word for word in words if re.match(r"--?[a-z]", word)} <= known, (command.name, words)
