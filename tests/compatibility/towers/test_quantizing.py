"""A quantized model sees nearly what the model saw, everywhere the same, and can be trained on."""

from __future__ import annotations

import shutil
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

onnx = pytest.importorskip("onnx", reason="quantizing needs deshred[train]")
torch = pytest.importorskip("torch", reason="the network needs deshred[train]")

import onnxruntime  # noqa: E402
from torch import Tensor  # noqa: E402

from deshred.compatibility.models import find_model, open_model  # noqa: E402
from deshred.compatibility.towers.network import (  # noqa: E402
    Towers,
    TowerTask,
    TowerTrainingOptions,
    WindowOptions,
    load_weights,
    sample_windows,
)
from deshred.compatibility.towers.quantizing import quantize  # noqa: E402
from deshred.compatibility.towers.scorer import TowerOptions  # noqa: E402
from deshred.compatibility.training import export_onnx  # noqa: E402
from deshred.errors import ModelError  # noqa: E402
from deshred.simulation.intact import IntactPage, draw_intact  # noqa: E402

SMALL = TowerOptions(width=32, channels=(4, 4, 6, 8), features=8)
SHORT = WindowOptions(pages=1, cuts=4, rows=64)
TINY = TowerTrainingOptions(steps=3, short=SHORT, long=SHORT)
CARD = {"options": asdict(SMALL)}


class Named(torch.nn.Module):
    """Towers under the name that a model file gives them."""

    def __init__(self, towers: Towers) -> None:
        super().__init__()
        self.towers = towers

    def forward(self, rights: Tensor, lefts: Tensor) -> tuple[Tensor, Tensor]:
        features: tuple[Tensor, Tensor] = self.towers(rights, lefts)
        return features


@pytest.fixture(scope="module")
def pages() -> list[IntactPage]:
    return draw_intact(2, np.random.default_rng(0))


@pytest.fixture(scope="module")
def trained(pages: list[IntactPage], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model as it is trained: with numbers of single precision."""
    path = tmp_path_factory.mktemp("model") / "small.onnx"
    torch.manual_seed(0)
    network = Towers(SMALL).train()
    for batch in sample_windows(pages, SMALL, TINY):  # so that its normalization has seen ink
        network(*(torch.from_numpy(batch[side]).float() for side in ("rights", "lefts")))
    export_onnx(
        Named(network.eval()),
        {"rights": torch.zeros(2, 16, 32), "lefts": torch.zeros(3, 32, 32)},
        ["right_features", "left_features"],
        {name: {0: name[0], 1: f"{name}_rows"} for name in ("rights", "lefts")},
        path,
        kind="towers",
        card={**CARD, "shift_bias": [0.0] * 11},
    )
    return path


@pytest.fixture
def quantized(trained: Path, pages: list[IntactPage], tmp_path: Path) -> Path:
    path = tmp_path / "small.onnx"
    shutil.copy(trained, path)
    quantize(path, sample_windows(pages, SMALL, TINY))
    return path


def see(model: Path, pages: list[IntactPage]) -> list[NDArray[np.float32]]:
    batch = next(iter(sample_windows(pages[::-1], SMALL, TINY)))
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    features: list[NDArray[np.float32]] = session.run(
        ["right_features", "left_features"], {name: ink.astype(np.float32) for name, ink in batch.items()}
    )
    return features


def test_features_are_nearly_those_of_the_model_as_it_was_trained(
    trained: Path, quantized: Path, pages: list[IntactPage]
) -> None:
    for before, after in zip(see(trained, pages), see(quantized, pages), strict=True):
        error = np.sqrt(np.mean((after - before) ** 2)) / before.std()
        assert 0 < error < 0.05


def test_every_layer_but_the_last_works_in_whole_numbers_that_no_processor_overflows(quantized: Path) -> None:
    graph = onnx.load(str(quantized)).graph
    kinds = [node.op_type for node in graph.node]
    assert kinds.count("QLinearConv") == 12
    assert kinds.count("Conv") == 2
    weights = [
        onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer if tensor.name.endswith("/weights")
    ]
    assert len(weights) == 12
    for tensor in weights:
        assert tensor.dtype == np.int8
        # two products of a byte and a weight, as processors without VNNI add them
        assert 2 * 255 * np.abs(tensor.astype(int)).max() <= np.iinfo(np.int16).max


def test_the_weights_stay_in_the_file_to_go_on_training_from(trained: Path, quantized: Path) -> None:
    before, after = load_weights(trained), load_weights(quantized)
    assert before.keys() == after.keys()
    assert all(bool((before[name] == after[name]).all()) for name in before)


def test_a_model_is_quantized_once(quantized: Path, pages: list[IntactPage]) -> None:
    content = quantized.read_bytes()
    with pytest.raises(ModelError, match="quantized already"):
        quantize(quantized, sample_windows(pages, SMALL, TINY))
    assert quantized.read_bytes() == content


def test_windows_without_ink_are_refused(trained: Path, tmp_path: Path) -> None:
    path = tmp_path / "small.onnx"
    shutil.copy(trained, path)
    with pytest.raises(ModelError, match="Show more ink"):
        quantize(path, [])


def test_a_trained_model_is_quantized_when_it_is_written(pages: list[IntactPage], tmp_path: Path) -> None:
    task = TowerTask(pages, options=SMALL, training=TINY)
    task.export(task.network.eval(), tmp_path / "small.onnx", CARD)
    assert open_model(tmp_path / "small.onnx", "towers").card["options"]["width"] == 32
    kinds = {node.op_type for node in onnx.load(str(tmp_path / "small.onnx")).graph.node}
    assert "QLinearConv" in kinds


@pytest.mark.parametrize("name", ["towers-default", "towers-cdip", "towers-isri"])
def test_shipped_towers_are_quantized(name: str) -> None:
    kinds = [node.op_type for node in onnx.load(str(find_model(name))).graph.node]
    assert kinds.count("QLinearConv") == 12
