"""One word per idea: the code and what people read keep to the glossary."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

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
    "displacement": ("compatibility/classical",),  # as its authors call it
    "contour": ("imaging/sheets",),  # OpenCV's
    "fragment": ("arrangement", "compatibility/classical"),  # of an order
    "piece": ("compatibility/classical", "simulation/scripts"),  # of a word
    "matrix": ("arrangement",),
}
TEXTS = ("run folder", "output dir", "ground truth", "displacement", "stripe", "similarity", "matcher")


def list_names() -> list[tuple[str, str]]:
    """Every name that the code defines, with the file that does."""
    found = []
    for file in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.append((file.relative_to(SOURCE).as_posix(), node.name))
            elif isinstance(node, ast.arg):
                found.append((file.relative_to(SOURCE).as_posix(), node.arg))
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


@pytest.mark.parametrize("page", ["README.md", "docs/guide.md", "docs/scanning.md", "docs/settings.md"])
def test_people_read_one_word_per_idea(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8").lower()
    assert [word for word in TEXTS if word in text] == []


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
