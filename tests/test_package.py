from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import deshred

ROOT = Path(__file__).parents[1]
HEAVY = {"torch", "onnx", "onnxruntime", "matplotlib", "cv2", "scipy", "highspy", "fastapi", "flask"}


def test_the_public_names_are_these() -> None:
    assert sorted(deshred.__all__) == [
        "Arrangement",
        "ArrangementOptions",
        "Compatibility",
        "Constraints",
        "DeshredError",
        "Page",
        "Pile",
        "Reconstruction",
        "Scan",
        "Settings",
        "Shred",
        "ShredSet",
        "__version__",
        "anchor_blanks",
        "arrange",
        "arrange_file",
        "compose",
        "evaluate",
        "examine",
        "explain",
        "gather",
        "list_models",
        "load_compatibility",
        "load_constraints",
        "load_scans",
        "load_scorer",
        "load_shreds",
        "open_case",
        "open_collection",
        "prepare",
        "read_settings",
        "rearrange",
        "reconstruct",
        "reconstruct_into",
        "refine",
        "reopen",
        "rescore",
        "run_demo",
        "score",
        "search",
        "segment",
        "segment_into",
        "shred_into",
        "teach",
        "train_pairwise",
        "train_towers",
        "verify",
        "weigh_lines",
    ]


@pytest.mark.parametrize("name", deshred.__all__)
def test_every_public_name_is_there(name: str) -> None:
    found = getattr(deshred, name)
    assert getattr(found, "__name__", name) == name
    assert name in dir(deshred)


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'reconstuct'"):
        _ = deshred.reconstuct


def loaded_after(code: str) -> set[str]:
    script = f"{code}\nimport sys\nprint(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    command = [sys.executable, "-c", script]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


def test_importing_deshred_loads_nothing_heavy() -> None:
    assert not loaded_after("import deshred").intersection(HEAVY)


def test_the_command_line_loads_nothing_heavy_before_it_must() -> None:
    assert not loaded_after("import deshred.cli").intersection(HEAVY)


def test_reconstructing_needs_no_torch() -> None:
    loaded = loaded_after("import deshred\ndeshred.reconstruct, deshred.load_scorer, deshred.segment")
    assert not loaded.intersection({"torch", "onnx", "matplotlib"})


def test_every_dependency_of_the_project_is_pinned() -> None:
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {re.split("==", line)[0].lower().replace("_", "-") for line in pins if "==" in line}
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    wanted = set(re.findall(r'"([a-z][\w-]*)>=', project)) - {"python"}
    assert wanted - pinned == set()
    assert not any("+" in line or "//" in line for line in pins)
