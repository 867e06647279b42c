"""Every module has a test file of its own, at the same place of the tree: `tests/<room>/test_<module>.py`."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE, TESTS = ROOT / "src" / "deshred", ROOT / "tests"

# Modules that need none, and why. A file `__init__.py` is a face: what it shows is tested where it lives.
EXEMPT: dict[str, str] = {}


def find_modules() -> list[str]:
    files = (file.relative_to(SOURCE) for file in SOURCE.rglob("*.py"))
    return sorted(file.as_posix() for file in files if not file.name.startswith("__"))


def find_mirrors(module: str) -> list[Path]:
    """`test_<module>.py`; one that is tested from many sides may have several, `test_<module>_<side>.py`."""
    room = TESTS / Path(module).parent
    stem = f"test_{Path(module).stem}"
    return [*room.glob(f"{stem}.py"), *room.glob(f"{stem}_*.py")]


def list_tests(file: Path) -> list[str]:
    nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    return [
        node.name for node in nodes if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]


@pytest.mark.parametrize("module", find_modules())
def test_every_module_has_a_mirror_that_claims_something(module: str) -> None:
    if module in EXEMPT:
        pytest.skip(EXEMPT[module])
    claims = [name for file in find_mirrors(module) for name in list_tests(file)]
    assert claims, f"src/deshred/{module} has no tests/{Path(module).parent}/test_{Path(module).name}"


def test_exceptions_are_few_and_still_needed() -> None:
    assert len(EXEMPT) <= 3
    assert [module for module in EXEMPT if not (SOURCE / module).exists()] == []
    assert [module for module in EXEMPT if find_mirrors(module)] == []


def test_helpers_are_imported_from_modules_that_are_not_tests() -> None:
    """So that a test file can be read, moved and deleted alone."""
    for file in TESTS.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, file
                assert not (node.module or "").rpartition(".")[2].startswith("test_"), file


def test_no_claim_is_made_twice_in_one_file() -> None:
    """Python would keep the last and forget the others without a word."""
    for file in TESTS.rglob("test_*.py"):
        names = list_tests(file)
        assert sorted(set(names)) == sorted(names), file
