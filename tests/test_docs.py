"""What the documents show comes from the code and from measured results."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

from deshred.cli import COMMANDS
from deshred.imaging.scans import read_scans
from tests.commands import list_commands, run
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


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=str)
def test_commands_that_documents_show_can_be_parsed(page: Path) -> None:
    known = list_commands()
    blocks = re.findall(r"```(?:sh|)\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    for line in re.findall(r"^deshred .*", "\n".join(blocks), re.MULTILINE):
        words = shlex.split(line.partition(" > ")[0], comments=True)[1:]
        parts = 1 if words[0] in known else 2
        known[" ".join(words[:parts])].make_context(line, words[parts:])


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=str)
def test_flags_of_commands_within_a_line_exist(page: Path) -> None:
    known = list_commands()
    for words in map(shlex.split, re.findall(r"`deshred ([^`\n]+)`", page.read_text(encoding="utf-8"))):
        name = next((" ".join(words[:parts]) for parts in (2, 1) if " ".join(words[:parts]) in known), "")
        assert name or words[0] in COMMANDS, words
        flags = {word for word in words if re.match(r"--?[a-z]", word)}
        if name:
            params = known[name].get_params(click.Context(known[name]))
            assert flags <= {flag for one in params for flag in one.opts}, words


def test_the_tests_that_guard_repairs_exist() -> None:
    page = (ROOT / "docs/reliability.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(test_\w+)`", page))
    tests = "\n".join(file.read_text(encoding="utf-8") for file in ROOT.glob("tests/**/test_*.py"))
    assert named
    assert {name for name in named if f"def {name}(" not in tests} == set()
