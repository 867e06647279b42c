"""A convolution in whole numbers is what a plain loop over bytes gives, and close to that in numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

onnx = pytest.importorskip("onnx", reason="quantizing needs deshred[train]")

import onnxruntime  # noqa: E402

from deshred.compatibility.whole_numbers import (  # noqa: E402
    MOST_VALUE,
    WholeNumbers,
    observe,
    read_weights,
    rewrite,
)
from deshred.errors import ModelError  # noqa: E402

RNG = np.random.default_rng(0)
WEIGHTS = RNG.normal(size=(4, 3, 3, 3)).astype(np.float32)
BIAS = RNG.normal(size=4).astype(np.float32)
INPUT = RNG.random((1, 3, 6, 5)).astype(np.float32)


def make_model() -> onnx.ModelProto:
    """Input, convolution, ReLU."""
    helper, number = onnx.helper, onnx.TensorProto.FLOAT
    nodes = [
        helper.make_node("Conv", ["input", "weights", "bias"], ["raw"], kernel_shape=[3, 3]),
        helper.make_node("Relu", ["raw"], ["output"]),
    ]
    graph = helper.make_graph(
        nodes,
        "layer",
        [helper.make_tensor_value_info("input", number, [1, 3, 6, 5])],
        [helper.make_tensor_value_info("output", number, [1, 4, 4, 3])],
        [onnx.numpy_helper.from_array(WEIGHTS, "weights"), onnx.numpy_helper.from_array(BIAS, "bias")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def run(model: str | bytes) -> NDArray[np.float32]:
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    found: NDArray[np.float32] = session.run(["output"], {"input": INPUT})[0]
    return found


def convolve_plainly(top: float) -> NDArray[np.float64]:
    """One product after the other, as the bits are meant to be spent."""
    steps = np.abs(WEIGHTS).max(axis=(1, 2, 3)) / 63
    ink = np.clip(np.rint(INPUT * MOST_VALUE), 0, 255).astype(int)
    found = np.zeros((1, 4, 4, 3))
    for channel, y, x in np.ndindex(4, 4, 3):
        whole = np.rint(WEIGHTS[channel] / steps[channel]).astype(int)
        total = (ink[0, :, y : y + 3, x : x + 3] * whole).sum()
        total += int(np.rint(BIAS[channel] / (steps[channel] / MOST_VALUE)))
        value = total * steps[channel] / MOST_VALUE
        found[0, channel, y, x] = np.clip(np.rint(value / (top / MOST_VALUE)), 0, 255) * top / MOST_VALUE
    return found


def test_a_layer_is_a_plain_loop_over_bytes_and_nearly_the_layer_that_it_was(tmp_path: Path) -> None:
    trained = make_model()
    before = run(trained.SerializeToString())
    top = observe(trained, ["output"], [{"input": INPUT}])["output"]
    assert top == before.max()
    written = WholeNumbers()
    written.quantize("input", "bytes", scale=1 / MOST_VALUE)
    node = trained.graph.node[0]
    node.input[0] = "bytes"
    written.convolve(node, WEIGHTS.astype(np.float64), BIAS.astype(np.float64), top=top, output="whole")
    written.add("Identity", [written.dequantize("whole")], "output")
    file = tmp_path / "model.onnx"
    rewrite(file, trained, written)
    after = run(str(file))
    step = top / MOST_VALUE
    np.testing.assert_allclose(after, convolve_plainly(top), atol=1.01 * step)  # halves may round either way
    np.testing.assert_allclose(after, before, atol=0.05 * top)
    assert (after != before).any()


def test_the_tensors_as_they_were_trained_stay_and_equal_ones_have_all_their_names() -> None:
    trained = make_model()
    trained.graph.node.append(onnx.helper.make_node("Identity", ["bias"], ["other.bias"]))
    weights = read_weights(trained.graph)
    assert weights.keys() == {"weights", "bias", "other.bias"}
    np.testing.assert_array_equal(weights["other.bias"], BIAS)
    assert weights["weights"].dtype == np.float32


def test_a_layer_that_gives_nothing_is_refused() -> None:
    with pytest.raises(ModelError, match="Show more ink"):
        observe(make_model(), ["output"], [])
