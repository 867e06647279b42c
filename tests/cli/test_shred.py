"""`deshred shred`: a pile whose truth lies beside it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from deshred.elements import ShredSet
from deshred.imaging.decoding import encode_png
from tests.commands import run


@pytest.fixture
def page(tiny_pile: ShredSet, tmp_path: Path) -> Path:
    file = tmp_path / "page.png"
    file.write_bytes(encode_png(np.hstack([shred.image[100:900] for shred in tiny_pile])))
    return file


def test_shred_writes_a_pile_and_apart_from_it_the_truth(page: Path, tmp_path: Path) -> None:
    result = run("shred", page, "-o", tmp_path / "pile", "--shreds", 5, "--seed", 1)
    assert result.exit_code == 0, result.stderr
    truth = json.loads((tmp_path / "pile" / "truth.json").read_text())
    files = {path.stem for path in (tmp_path / "pile" / "shreds").iterdir()}
    assert files == set(truth["shreds"])
    assert sorted(place["position"] for place in truth["shreds"].values()) == [0, 1, 2, 3, 4]


def test_the_same_seed_gives_the_same_shreds_and_another_gives_others(page: Path, tmp_path: Path) -> None:
    contents = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        done = run("shred", page, "-o", tmp_path / name, "--shreds", 4, "--seed", seed, "--json", "-q")
        told = json.loads(done.stdout)
        assert (told["shreds"], told["pages"]) == (4, 1)
        contents.append({file.name: file.read_bytes() for file in Path(told["folder"]).iterdir()})
    assert contents[0] == contents[1]
    assert not set(contents[0].values()) & set(contents[2].values())


@pytest.mark.parametrize("flags", [("--shreds", "0"), ("--seed", "-1"), ("--dpi", "7")])
def test_numbers_that_make_no_sense_have_exit_code_2(
    flags: tuple[str, str], page: Path, tmp_path: Path
) -> None:
    done = run("shred", page, "-o", tmp_path / "pile", *flags)
    assert done.exit_code == 2
    assert flags[0].strip("-") in done.stderr
    assert not (tmp_path / "pile").exists()
