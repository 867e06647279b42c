"""A towers model in, the same with its layers in whole numbers of 8 bits out: two to three times as fast.

Weights have 7 bits, so that no processor's sums overflow: without VNNI, products of 8 bits are added in pairs
of 16. So every machine computes the same. The last layer stays as it is, as nothing comes after it that could
average its errors. The weights as they were trained stay in the file, to go on training from. Needs onnx.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deshred.errors import ModelError

_MOST_WEIGHT, _MOST_VALUE = 63, 255
_INK = 1 / _MOST_VALUE  # what one step of the input is worth: ink is 1, and exact
_SIDES = ("rights", "lefts")

Windows = Mapping[str, NDArray[np.uint8]]  # of `rights` and of `lefts`: (n, rows, width)


def quantize(model: Path, windows: Iterable[Windows]) -> None:
    """Rewrite a model file; the windows show how large values become between its layers."""
    import onnx

    trained = onnx.load(str(model))
    layers = _find_layers(trained.graph)
    tops = _observe(trained, [layer.output for layer in layers.values()], windows)
    writer = _Writer(trained.graph, layers, tops)
    for node in trained.graph.node:
        writer.translate(node)
    del trained.graph.node[:]
    trained.graph.node.extend(writer.nodes)
    trained.graph.initializer.extend(writer.tensors.values())
    onnx.checker.check_model(trained)
    scratch = model.with_suffix(".part")
    onnx.save(trained, str(scratch))
    scratch.replace(model)


@dataclass(frozen=True, eq=False)
class _Layer:
    """A convolution, its normalization and the ReLU behind it, as one."""

    convolution: Any
    weights: NDArray[np.float64]  # (out, in, height, width)
    bias: NDArray[np.float64]  # (out,)
    output: str


def _find_layers(graph: Any) -> dict[str, _Layer]:
    """Layers by the name of what their convolution gives."""
    from onnx import numpy_helper

    tensors = {tensor.name: numpy_helper.to_array(tensor).astype(np.float64) for tensor in graph.initializer}
    # the exporter keeps equal tensors once, and refers to them under their other names
    same = {node.output[0]: node.input[0] for node in graph.node if node.op_type == "Identity"}
    tensors |= {name: tensors[kept] for name, kept in same.items() if kept in tensors}
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


def _observe(trained: Any, names: list[str], windows: Iterable[Windows]) -> dict[str, float]:
    """The largest value that each layer gives on the windows."""
    import onnx
    import onnxruntime

    probe = onnx.ModelProto()
    probe.CopyFrom(trained)
    probe.graph.output.extend(
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in names
    )
    session = onnxruntime.InferenceSession(probe.SerializeToString(), providers=["CPUExecutionProvider"])
    tops = dict.fromkeys(names, 0.0)
    for batch in windows:
        inputs = {side: batch[side].astype(np.float32) for side in _SIDES}
        for name, values in zip(names, session.run(names, inputs), strict=True):
            tops[name] = max(tops[name], float(values.max()))
    if not all(tops.values()):
        raise ModelError("a layer gave nothing on all windows, so it cannot be quantized. Show more ink.")
    return tops


@dataclass(eq=False)
class _Writer:
    """Translates a graph node by node; what is whole numbers by now has a scale."""

    graph: Any
    layers: Mapping[str, _Layer]
    tops: Mapping[str, float]
    nodes: list[Any] = field(default_factory=list)
    tensors: dict[str, Any] = field(default_factory=dict)
    _scales: dict[str, float] = field(default_factory=dict)  # of values in whole numbers, by name
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
        if node.output[0] in self._dropped or node.op_type in ("BatchNormalization", "Relu"):
            return
        if node.output[0] in self.layers:
            self._convolve(self.layers[node.output[0]])
            return
        if node.op_type == "MaxPool" and node.input[0] in self._scales:
            self._scales[node.output[0]] = self._scales[node.input[0]]
            self.nodes.append(node)
            return
        for place, name in enumerate(node.input):
            if name in self._scales:
                node.input[place] = self._dequantize(name)
        self.nodes.append(node)

    def _unshuffle(self, side: str, name: str, channels: int) -> None:
        """Ink to bytes, and blocks of pixels to channels: in an order that convolutions on bytes want."""
        block = round(channels**0.5)
        width = next(
            value.type.tensor_type.shape.dim[2].dim_value for value in self.graph.input if value.name == side
        )
        self._add("QuantizeLinear", [side, self._scale(_INK), self._zero], f"{side}/bytes")
        blocks = self._shape(0, -1, block, width // block, block)
        self._add("Reshape", [f"{side}/bytes", blocks], f"{side}/blocks")
        self._add("Transpose", [f"{side}/blocks"], f"{side}/swapped", perm=[0, 1, 3, 2, 4])
        last = self._shape(0, -1, width // block, channels)
        self._add("Reshape", [f"{side}/swapped", last], f"{side}/channels-last")
        self._add("Transpose", [f"{side}/channels-last"], name, perm=[0, 3, 1, 2])
        self._scales[name] = _INK

    def _convolve(self, layer: _Layer) -> None:
        node, name = layer.convolution, layer.convolution.output[0]
        taken = self._scales[node.input[0]]
        given = self.tops[layer.output] / _MOST_VALUE
        steps = np.abs(layer.weights).max(axis=(1, 2, 3)) / _MOST_WEIGHT
        steps = np.maximum(steps, np.finfo(np.float32).tiny)
        weights = np.rint(layer.weights / steps[:, None, None, None]).astype(np.int8)
        bias = np.rint(layer.bias / (steps * np.float32(taken))).astype(np.int32)
        inputs = [
            *(node.input[0], self._scale(taken), self._zero),
            *(
                self._keep(f"{name}/weights", weights),
                self._keep(f"{name}/steps", steps.astype(np.float32)),
                self._keep(f"{name}/zeros", np.zeros(len(steps), np.int8)),
            ),
            *(self._scale(given), self._zero, self._keep(f"{name}/bias", bias)),
        ]
        self._add("QLinearConv", inputs, layer.output)
        self.nodes[-1].attribute.extend(node.attribute)
        self._scales[layer.output] = given

    def _dequantize(self, name: str) -> str:
        self._add("DequantizeLinear", [name, self._scale(self._scales[name]), self._zero], f"{name}/numbers")
        return f"{name}/numbers"

    def _add(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> None:
        from onnx import helper

        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))

    @property
    def _zero(self) -> str:
        return self._keep("quantized/zero", np.uint8(0))

    def _scale(self, value: float) -> str:
        return self._keep(f"quantized/scale {np.float32(value)!r}", np.float32(value))

    def _shape(self, *sizes: int) -> str:
        return self._keep(f"quantized/shape {sizes}", np.array(sizes, np.int64))

    def _keep(self, name: str, values: Any) -> str:
        from onnx import numpy_helper

        self.tensors[name] = numpy_helper.from_array(np.asarray(values), name)
        return name
