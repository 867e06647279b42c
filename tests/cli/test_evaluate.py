"""`deshred evaluate`: the published protocol, for people and programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deshred.elements import ShredSet
from deshred.imaging.decoding import encode_png
from tests.commands import run
from tests.evaluation.drawn_collections import write_collection


def test_evaluate_prints_the_accuracy_for_people_and_programs(tiny_pile: ShredSet, tmp_path: Path) -> None:
    for kind in ("strips", "masks"):
        (tmp_path / "set" / "D001" / kind).mkdir(parents=True)
    for position, shred in enumerate(tiny_pile):
        name = f"D001{position:02d}.png"
        (tmp_path / "set/D001/strips" / name).write_bytes(encode_png(shred.image))
        (tmp_path / "set/D001/masks" / name).write_bytes(encode_png(_to_image(shred.mask)))
    flags = ("--scorer", "outline", "--k", 1, "--cache", tmp_path / "cache")
    result = run("evaluate", tmp_path / "set", *flags)
    assert result.exit_code == 0, result.stderr
    assert "D001  " in "".join(result.stdout.splitlines()[4:])  # a table has lines
    content = json.loads(run("evaluate", tmp_path / "set", *flags, "--json", "-q").stdout)
    assert content["accuracy"]["1"]["mean"] == 1.0
    assert content["accuracy"]["1"]["instances"][0]["documents"] == ["D001"]
    assert content["accuracy"]["1"]["instances"][0]["optimal"] is True
    assert set(content["seconds"]) >= {"decode", "score"}


def _to_image(mask: np.ndarray) -> np.ndarray:
    return np.repeat(mask[..., None], 3, axis=2).astype(np.uint8) * 255


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_collection(tmp_path_factory.mktemp("data") / "drawn", [3, 4])


def evaluated(collection: Path, *flags: object) -> dict[str, Any]:
    done = run("evaluate", collection, "--scorer", "marques", "--json", "-q", *flags)
    assert done.exit_code == 0, done.stderr
    content: dict[str, Any] = json.loads(done.stdout)
    return content


def test_only_the_documents_asked_for_are_measured(collection: Path) -> None:
    content = evaluated(collection, "--k", "1", "--documents", "D002")
    assert [one["documents"] for one in content["accuracy"]["1"]["instances"]] == [["D002"]]


def test_all_is_as_many_documents_as_there_are(collection: Path) -> None:
    found = evaluated(collection, "--k", "2,all")["accuracy"]
    assert found["all"] == found["2"]


def test_a_pile_is_one_path_unless_pages_are_asked_for(collection: Path, tmp_path: Path) -> None:
    told = {}
    (tmp_path / "two.toml").write_text("[arrangement]\npages = 2\n")
    for name, flags in {
        "nothing": (),
        "file": ("--settings", tmp_path / "two.toml"),
        "flag": ("--settings", tmp_path / "two.toml", "--pages", "auto"),
    }.items():
        told[name] = evaluated(collection, "--k", "all", *flags)["settings"]["arrangement"]["pages"]
    assert told == {"nothing": 1, "file": 2, "flag": "auto"}


@pytest.mark.parametrize(
    ("flags", "code", "told"),
    [
        (("--documents", "D009"), 3, "D009"),
        (("--k", "0"), 2, "k"),
        (("--k", "some"), 2, "some"),
        (("--scorer", "magic"), 2, "magic"),
        (("--model", "nowhere.onnx", "--scorer", "towers"), 6, "nowhere.onnx"),
    ],
)
def test_what_cannot_be_measured_has_its_own_exit_code(
    flags: tuple[str, ...], code: int, told: str, collection: Path
) -> None:
    done = run("evaluate", collection, *flags)
    assert (done.exit_code, done.stdout) == (code, "")
    assert told in done.stderr
