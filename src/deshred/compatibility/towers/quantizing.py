"""A towers model in, the same with its layers in whole numbers of 8 bits out: two to three times as fast.

The last layer stays as it is, as nothing comes after it that could average its errors. How bits are spent is
in `whole_numbers.py`. Needs onnx.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deshred.compatibility.whole_numbers import MOST_VALUE, WholeNumbers, observe, read_weights, rewrite
from deshred.errors import ModelError

_INK = 1 / MOST_VALUE  # what one step of the input is worth: ink is 1, and exact
_SIDES = ("rights", "lefts")

Windows = Mapping[str, NDArray[np.uint8]]  # of `rights` and of `lefts`: (n, rows, width)


def quantize(model: Path, windows: Iterable[Windows]) -> None:
    """Rewrite a model file; the windows show how large values become between its layers."""
    import onnx

    trained = onnx.load(str(model))
    layers = _find_layers(trained.graph)
    batches = ({side: batch[side].astype(np.float32) for side in _SIDES} for batch in windows)
    tops = observe(trained, [layer.output for layer in layers.values()], batches)
    writer = _Writer(trained.graph, layers, tops)
    for node in trained.graph.node:
        writer.translate(node)
    rewrite(model, trained, writer.written)


@dataclass(frozen=True, eq=False)
class _Layer:
    """A convolution, its normalization and the ReLU behind it, as one."""

    convolution: Any
    weights: NDArray[np.float64]  # (out, in, height, width)
    bias: NDArray[np.float64]  # (out,)
    output: str


def _find_layers(graph: Any) -> dict[str, _Layer]:
    """Layers by the name of what their convolution gives."""
    tensors = {name: values.astype(np.float64) for name, values in read_weights(graph).items()}
    readers = {name: node for node in graph.node for name in node.input}
    layers = {}
    for node in graph.node:
        norm = readers.get(node.output[0])
        if node.op_type != "Conv" or norm is None or norm.op_type != "BatchNormalization":
            continue
        gain, shift, mean, variance = (tensors[name] for name in norm.input[1:])
        epsilon = next((entry.f for entry in norm.attribute if entry.name == "epsilon"), 1e-5)
        gain = gain / np.sqrt(variance + epsilon)
        relu = readers[norm.output[0]]
        layers[node.output[0]] = _Layer(
            node, tensors[node.input[1]] * gain[:, None, None, None], shift - mean * gain, relu.output[0]
        )
    if not layers:
        raise ModelError("the model has no layers to quantize: it is quantized already, or made elsewhere.")
    return layers


@dataclass(eq=False)
class _Writer:
    """Translates a graph node by node."""

    graph: Any
    layers: Mapping[str, _Layer]
    tops: Mapping[str, float]
    written: WholeNumbers = field(default_factory=WholeNumbers)
    _dropped: set[str] = field(default_factory=set)  # values that nothing gives any more

    def __post_init__(self) -> None:
        """The way to the first layer of each side is written anew, as it is quicker on bytes."""
        parents = {name: node for node in self.graph.node for name in node.output}
        for layer in self.layers.values():
            before, reached = [], layer.convolution.input[0]
            while reached in parents and reached not in {one.output for one in self.layers.values()}:
                before.append(reached)
                if parents[reached].op_type == "MaxPool":
                    break
                reached = parents[reached].input[0]
            if reached in _SIDES:
                self._dropped.update(before)
                self._unshuffle(reached, before[0], layer.weights.shape[1])

    def translate(self, node: Any) -> None:
        """Write a node as it is, in whole numbers, or not at all."""
        written = self.written
        if node.output[0] in self._dropped or node.op_type in ("BatchNormalization", "Relu"):
            return
        if node.output[0] in self.layers:
            layer = self.layers[node.output[0]]
            written.convolve(
                node, layer.weights, layer.bias, top=self.tops[layer.output], output=layer.output
            )
            return
        if node.op_type == "MaxPool" and node.input[0] in written.scales:
            written.scales[node.output[0]] = written.scales[node.input[0]]
            written.nodes.append(node)
            return
        for place, name in enumerate(node.input):
            if name in written.scales:
                node.input[place] = written.dequantize(name)
        written.nodes.append(node)

    def _unshuffle(self, side: str, name: str, channels: int) -> None:
        """Ink to bytes, and blocks of pixels to channels: in an order that convolutions on bytes want."""
        written, block = self.written, round(channels**0.5)
        width = next(
            value.type.tensor_type.shape.dim[2].dim_value for value in self.graph.input if value.name == side
        )
        written.quantize(side, f"{side}/bytes", scale=_INK)
        blocks = self._shape(0, -1, block, width // block, block)
        written.add("Reshape", [f"{side}/bytes", blocks], f"{side}/blocks")
        written.add("Transpose", [f"{side}/blocks"], f"{side}/swapped", perm=[0, 1, 3, 2, 4])
        last = self._shape(0, -1, width // block, channels)
        written.add("Reshape", [f"{side}/swapped", last], f"{side}/channels-last")
        written.add("Transpose", [f"{side}/channels-last"], name, perm=[0, 3, 1, 2])
        written.scales[name] = _INK

    def _shape(self, *sizes: int) -> str:
        return self.written.keep(f"quantized/shape {sizes}", np.array(sizes, np.int64))
