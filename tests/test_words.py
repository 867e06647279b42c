"""One word per idea: the code and what people read keep to the glossary."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from deshred.cli import COMMANDS
from tests.commands import run

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "deshred"

# Words for things that have another name, and the rooms where they mean something else.
NAMES = {
    "stripe": (),
    "similarity": (),
    "matcher": (),
    "permutation": (),
    "foreground": (),
    "hint": (),
    "confidence": ("reading", "compatibility/classical", "export"),  # of words that were read
    "displacement": ("compatibility/classical", "evaluation/experiments/contestants.py"),  # of its authors
    "contour": ("imaging/sheets",),  # OpenCV's
    "fragment": ("arrangement", "compatibility/classical"),  # of an order
    "piece": (
        "compatibility/classical",  # of a word
        "simulation/scripts",
        "evaluation/experiments/contestants.py",
        "imaging/sheets",  # of paper, before anybody knows whether it is a shred
        "imaging/intakes.py",
        "arrangement/problem/fixings.py",  # of a pile
        "orientation.py",
        "gathering.py",  # of a page
        "leftovers.py",
    ),
    "matrix": (
        *("arrangement", "compatibility/pairwise/windows.py", "evaluation/experiments/contestants.py"),
        "imaging/sheets/photos.py",  # of a camera
    ),
}
# Words of the glossary that are easily taken for something else, and where they may stand. What a room means
# by its word where it is not that of the glossary is said here, and no other room may follow it.
HOMES = {
    "lead": (
        "arrangement",
        "compatibility",
        "elements.py",
        "review/layout.py",
        "sides.py",
        "blanks.py",
        "leftovers.py",
    ),
    "evidence": (
        "compatibility",
        "evaluation/experiments/contestants.py",
        "imaging/composition",  # the evidence copy
        "export",
        "imaging/sheets/contacts.py",  # that two shreds touch
        "review",  # what a person is shown
    ),
    "cutout": (
        "imaging",
        "export/cutouts.py",
        "export/finding.py",  # the picture of a hit
        "review/view.py",
    ),
    "margin": (
        "arrangement",
        "cases/records.py",
        "compatibility",
        "elements.py",
        "gathering.py",
        "missing.py",
        "orientation.py",
        "questions.py",
        "review/view.py",
        "sides.py",
        "imaging",  # white around a page or a shred
        "simulation",
        "export/casereport.py",
        "evaluation",  # half of an interval
    ),
    "shift": (
        "compatibility",
        "gathering.py",
        "imaging/composition",
        "evaluation",
        "simulation/shredding.py",  # how far a simulated shred lies too low
        "arrangement",  # a constant that is added to costs
    ),
    "offset": (
        "arrangement",
        "compatibility",
        "elements.py",
        "evaluation/metrics.py",
        "imaging/composition",
        "review",
        "export",
        "imaging/decoding.py",  # bytes of a file, as TIFF calls it
    ),
}
TEXTS = (
    *("run folder", "output dir", "ground truth", "displacement", "stripe", "similarity", "matcher"),
    *("permutation", "checkpoint folder", "hint", "foreground"),
)
PAGES = ("README.md", "docs/guide.md", "docs/scanning.md", "docs/settings.md", "docs/review.md")


@cache
def list_names() -> list[tuple[str, str]]:
    """Every name that the code defines, with the file that does."""
    found = []
    for file in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.append((file.relative_to(SOURCE).as_posix(), node.name))
            elif isinstance(node, ast.arg):
                found.append((file.relative_to(SOURCE).as_posix(), node.arg))
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.append((file.relative_to(SOURCE).as_posix(), node.id))
    return found


def split(name: str) -> set[str]:
    """The words of a name, without the s of several."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().split("_")
    return {word.removesuffix("s") for word in words} | set(words)


@pytest.mark.parametrize("word", NAMES)
def test_the_code_has_one_word_per_idea(word: str) -> None:
    rooms = NAMES[word]
    wrong = [
        (file, name)
        for file, name in list_names()
        if word in split(name) and not file.startswith(rooms or ("?",))
    ]
    assert wrong == []


@pytest.mark.parametrize("word", HOMES)
def test_a_word_stands_only_where_its_meaning_is_known(word: str) -> None:
    found = [(file, name) for file, name in list_names() if word in split(name)]
    assert [one for one in found if not one[0].startswith(HOMES[word])] == []


@pytest.mark.parametrize("page", PAGES)
def test_people_read_one_word_per_idea(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8").lower()
    assert [word for word in TEXTS if re.search(rf"\b{word}", text)] == []


def test_joins_have_a_probability_and_words_a_confidence() -> None:
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        lines = [line for line in text.splitlines() if "confidence" in line.lower()]
        assert [line for line in lines if "join" in line] == [], page


@pytest.mark.parametrize("name", [*COMMANDS, "train towers", "train pairwise", "experiment incremental"])
def test_help_keeps_to_the_glossary_and_hides_what_only_python_says(name: str) -> None:
    text = run(*name.split(), "--help").stdout
    assert [word for word in TEXTS if re.search(rf"\b{word}", text.lower())] == []
    assert "[default: None]" not in text
    assert "[default: ]" not in text
    assert "INPUT are" not in text


def test_the_glossary_is_a_table_of_words_meanings_and_words_not_used() -> None:
    rows = [
        row
        for row in (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()
        if "| **" in row
    ]
    assert len(rows) > 30
    assert all(row.count("|") == 4 for row in rows)
    words = re.findall(r"^\| \*\*([^*]+)\*\*", "\n".join(rows), re.MULTILINE)
    assert len(set(words)) == len(words)
