"""A quantized pairwise model scores nearly as it did, everywhere the same, and can be trained on."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

onnx = pytest.importorskip("onnx", reason="quantizing needs deshred[train]")
torch = pytest.importorskip("torch", reason="the network needs deshred[train]")

from deshred.compatibility.models import find_model, open_model  # noqa: E402
from deshred.compatibility.pairwise.network import PairwiseNetwork  # noqa: E402
from deshred.compatibility.pairwise.quantizing import (  # noqa: E402
    quantize_alike,
    quantize_pairwise,
    sample_edges,
)
from deshred.compatibility.pairwise.samples import SampleOptions  # noqa: E402
from deshred.compatibility.pairwise.training import PairwiseTask, export_pairwise, import_pairwise  # noqa: E402
from deshred.compatibility.training import read_tensors  # noqa: E402
from deshred.errors import ModelError  # noqa: E402
from deshred.simulation.intact import IntactPage  # noqa: E402
from tests.compatibility.pairwise.networks import lively_network  # noqa: E402

# torch's exporter warns about itself
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

OPTIONS = SampleOptions(shreds=10)
LAYERS = 20  # all but those that see one edge, and the last


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "pairwise.onnx"
    export_pairwise(lively_network(32), path, options=OPTIONS, card={})
    return path


@pytest.fixture
def quantized(trained: Path, scribbled_pages: list[IntactPage], tmp_path: Path) -> Path:
    path = tmp_path / "pairwise.onnx"
    shutil.copy(trained, path)
    quantize_pairwise(path, sample_edges(scribbled_pages[:3], OPTIONS, seed=0))
    return path


def map_joins(model: Path, pages: list[IntactPage]) -> NDArray[np.float32]:
    edges = next(iter(sample_edges(pages, OPTIONS, seed=1)))
    network = PairwiseNetwork(open_model(model, "pairwise", 1))
    lefts = network.look("left", edges["lefts"])
    return np.stack([network.join(network.look("right", right[None]), lefts) for right in edges["rights"]])


def list_kinds(model: Path) -> list[str]:
    return [node.op_type for node in onnx.load(str(model)).graph.node]


@pytest.mark.parametrize("name", ["pairwise-cdip", "pairwise-isri"])
def test_shipped_networks_are_quantized_and_score_joins_as_their_weights_say(
    name: str, scribbled_pages: list[IntactPage], tmp_path: Path
) -> None:
    assert list_kinds(find_model(name)).count("QLinearConv") == LAYERS
    plain = tmp_path / "plain.onnx"
    export_pairwise(import_pairwise(name, options=SampleOptions()).eval(), plain, options=OPTIONS, card={})
    before, after = (
        map_joins(model, scribbled_pages).mean(axis=2).ravel() for model in (plain, find_model(name))
    )
    spread = before.std()
    assert abs(np.mean(after - before)) < 0.1 * spread
    assert 0 < np.std(after - before) < 0.05 * spread


def test_all_layers_that_see_whole_joins_but_the_last_work_in_whole_numbers(
    trained: Path, quantized: Path
) -> None:
    assert list_kinds(quantized).count("QLinearConv") == LAYERS
    assert list_kinds(quantized).count("Conv") == list_kinds(trained).count("Conv") - LAYERS
    for tensor in onnx.load(str(quantized)).graph.initializer:
        if tensor.name.endswith("/weights"):
            weights = onnx.numpy_helper.to_array(tensor)
            assert weights.dtype == np.int8
            # two products of a byte and a weight, as processors without VNNI add them
            assert 2 * 255 * np.abs(weights.astype(int)).max() <= np.iinfo(np.int16).max


def test_the_weights_stay_in_the_file_to_go_on_training_from(trained: Path, quantized: Path) -> None:
    before, after = read_tensors(trained), read_tensors(quantized)
    assert all(bool((before[name] == after[name]).all()) for name in before)


def test_a_model_is_quantized_once(quantized: Path, scribbled_pages: list[IntactPage]) -> None:
    content = quantized.read_bytes()
    with pytest.raises(ModelError, match="quantized already"):
        quantize_pairwise(quantized, sample_edges(scribbled_pages, OPTIONS, seed=0))
    assert quantized.read_bytes() == content


def test_a_model_is_quantized_as_another_with_its_weights_was(
    trained: Path, quantized: Path, tmp_path: Path
) -> None:
    path = tmp_path / "alike.onnx"
    shutil.copy(trained, path)
    quantize_alike(path, quantized)
    assert path.read_bytes() == quantized.read_bytes()


def test_edges_without_ink_are_refused(trained: Path, tmp_path: Path) -> None:
    path = tmp_path / "pairwise.onnx"
    shutil.copy(trained, path)
    with pytest.raises(ModelError, match="Show more ink"):
        quantize_pairwise(path, [])


def test_edges_of_every_page_hold_true_and_false_joins(scribbled_pages: list[IntactPage]) -> None:
    options = SampleOptions(shreds=10, noise_columns=0)
    batches = list(sample_edges(scribbled_pages, options, seed=0))
    assert len(batches) == len(scribbled_pages)
    for page, edges in zip(scribbled_pages, batches, strict=True):
        width = page.width // 10
        ink = page.ink[:3000]
        cuts = [ink[:, x - 16 : x + 16] for x in range(width, page.width - width + 1, width)]
        joins = [np.hstack([right, left]) for right, left in zip(*edges.values(), strict=True)]
        true = sum(any((join == cut).all() for cut in cuts) for join in joins)
        assert 3 <= true < len(joins)


def test_a_trained_model_is_quantized_when_it_is_written(
    scribbled_pages: list[IntactPage], tmp_path: Path
) -> None:
    task = PairwiseTask(scribbled_pages, options=SampleOptions(shreds=10, max_positives=8))
    task.export(task.network.eval(), tmp_path / "pairwise.onnx", {})
    assert list_kinds(tmp_path / "pairwise.onnx").count("QLinearConv") == LAYERS
