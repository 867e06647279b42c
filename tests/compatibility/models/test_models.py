from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deshred.compatibility.models import Model, find_model, list_models, open_model, try_models
from deshred.compatibility.models.externals import uses_other_files
from deshred.compatibility.scorers import load_scorer
from deshred.errors import ModelError

MODELS = {model.name: model.path for model in list_models()}


def replant(name: str, change: Callable[[dict[str, Any]], object], folder: Path) -> Path:
    """A shipped model with another card."""
    onnx = pytest.importorskip("onnx")
    graph = onnx.load(str(MODELS[name]))
    properties = {entry.key: entry.value for entry in graph.metadata_props}
    card = json.loads(properties["deshred.card"])
    changed = change(card)
    card = changed if changed is not None else card
    text = card if isinstance(card, str) else json.dumps(card)
    onnx.helper.set_model_props(graph, {**properties, "deshred.card": text})
    path = folder / "changed.onnx"
    onnx.save(graph, str(path))
    return path


def test_every_shipped_model_opens_and_runs() -> None:
    assert [tried.name for tried in try_models()] == list(MODELS)
    assert not any(tried.problem for tried in try_models())
    assert not any(uses_other_files(path.read_bytes()) for path in MODELS.values())


CHANGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "no options": lambda card: card.pop("options") and None,
    "options of text": lambda card: card.update(options="wide"),
    "an unknown option": lambda card: card["options"].update(depth=3),
    "another width": lambda card: card["options"].update(width=128),
    "a width of text": lambda card: card["options"].update(width="64"),
    "a huge width": lambda card: card["options"].update(width=10**9),
    "shifts below zero": lambda card: card["options"].update(shifts=-1),
    "a truth value": lambda card: card["options"].update(shifts=True),
    "too few channels": lambda card: card["options"].update(channels=[1, 2]),
    "other features": lambda card: card["options"].update(features=31),
    "a short bias": lambda card: card.update(shift_bias=[0.0]),
    "a bias of text": lambda card: card.update(shift_bias=["a"] * 11),
    "no bias": lambda card: card.pop("shift_bias") and None,
    "a strange weight": lambda card: card["fusion"].update(ink=None),
    "half a fusion": lambda card: card["fusion"].pop("ink") and None,
    "a list of curves": lambda card: card.update(calibration=[1]),
    "a strange curve": lambda card: card["calibration"].update(towers={"slope": 1, "bend": 2}),
    "a close look of numbers": lambda card: card.update(close_look=7),
    "no card": lambda _: "",
    "no JSON": lambda _: "{",
    "a list": lambda _: "[]",
    "a deep card": lambda _: "[" * 10**5,
    "numbers without end": lambda card: json.dumps(card).replace("64", "9" * 5000),
    "no numbers": lambda card: json.dumps(card).replace('"ink": ', '"ink": NaN, "x": '),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_card_that_makes_no_sense_is_a_model_error(change: str, tmp_path: Path) -> None:
    path = replant("towers-default", CHANGES[change], tmp_path)
    with pytest.raises(ModelError, match=r"changed\.onnx: "):
        open_model(path, "towers")


@pytest.mark.parametrize("change", [{"columns": 3.5}, {"columns": 64}, {"columns": None}])
def test_a_pairwise_card_is_checked_as_well(change: dict[str, Any], tmp_path: Path) -> None:
    path = replant("pairwise-cdip", lambda card: card["options"].update(change), tmp_path)
    with pytest.raises(ModelError, match=r"changed\.onnx: "):
        open_model(path, "pairwise")


def test_weights_in_other_files_are_refused_and_not_opened(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    graph = onnx.load(str(MODELS["towers-default"]))
    path = tmp_path / "outside.onnx"
    onnx.save(graph, str(path), save_as_external_data=True, location="weights.bin", size_threshold=0)
    assert uses_other_files(path.read_bytes())
    with pytest.raises(ModelError, match=r"outside\.onnx: keeps its weights in other files"):
        open_model(path, "towers")


def test_damaged_files_are_model_errors(tmp_path: Path) -> None:
    content = MODELS["towers-default"].read_bytes()
    rng = np.random.default_rng(0)
    path = tmp_path / "damaged.onnx"
    for _ in range(40):
        damaged = bytearray(content[: rng.integers(len(content))] if rng.random() < 0.3 else content)
        for place in rng.integers(0, max(len(damaged), 1), 4):
            damaged[place : place + 1] = rng.bytes(1)
        path.write_bytes(damaged)
        try:
            model = open_model(path, "towers")
            ink = np.zeros((1, 256, 64), np.float32)
            model.run(None, {"rights": ink, "lefts": ink})
        except ModelError as error:
            assert "damaged" in str(error)  # noqa: PT017


class Broken:
    """A session that gives what is no number."""

    def run(self, _outputs: object, _inputs: object) -> list[np.ndarray]:
        return [np.array([1.0, np.nan])]


def test_what_is_no_number_is_the_fault_of_the_model() -> None:
    with pytest.raises(ModelError, match="mine: the model gives values that are not numbers"):
        Model("mine", "towers", {}, "", Broken(), Path("mine.onnx")).run(None, {})


def test_a_network_that_gives_another_shape_than_it_declares_is_a_model_error(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    graph = onnx.load(str(MODELS["towers-default"]))
    del graph.graph.initializer[:], graph.graph.node[:]
    sides = zip(graph.graph.input, graph.graph.output, strict=True)
    graph.graph.node.extend(onnx.helper.make_node("Identity", [a.name], [b.name]) for a, b in sides)
    onnx.save(graph, str(tmp_path / "other.onnx"))
    scorer = load_scorer("towers", str(tmp_path / "other.onnx"))
    with pytest.raises(ModelError, match="other: the model gives 1 x 8 x 64 values, not what its card says"):
        scorer._run(np.zeros((8, 64), np.uint8), "rights", "lefts")


@pytest.mark.parametrize("name", ["", "nowhere", "x" * 5000, "a\0b", "/dev/zero"])
def test_what_is_no_model_is_told(name: str) -> None:
    with pytest.raises(ModelError, match="shipped models"):
        find_model(name)


def test_a_network_whose_names_are_not_text_is_refused(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.onnx"
    damaged.write_bytes(MODELS["towers-isri"].read_bytes().replace(b"rights", b"r\xffghts"))
    with pytest.raises(ModelError, match="names in its network are not text"):
        open_model(damaged, "towers")
