"""Convolutions in whole numbers of 8 bits, as nodes of an ONNX graph: what all quantized models share.

Weights have 7 bits, so that no processor's sums overflow: without VNNI, products of 8 bits are added in pairs
of 16. So every machine computes the same. The weights as they were trained stay in the file, to go on
training from. Needs onnx.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deshred.errors import ModelError

_MOST_WEIGHT = 63
MOST_VALUE = 255


@dataclass(eq=False)
class WholeNumbers:
    """Nodes and tensors that are written one by one; what is whole numbers by now has a scale."""

    nodes: list[Any] = field(default_factory=list)
    tensors: dict[str, Any] = field(default_factory=dict)
    scales: dict[str, float] = field(default_factory=dict)  # of values in whole numbers, by name

    def convolve(
        self,
        node: Any,
        weights: NDArray[np.float64],  # (out, in, height, width)
        bias: NDArray[np.float64],  # (out,)
        *,
        top: float,
        output: str,
    ) -> None:
        """A convolution and the ReLU behind it, whose values reach up to `top`."""
        name, taken, given = node.output[0], self.scales[node.input[0]], top / MOST_VALUE
        steps = np.abs(weights).max(axis=(1, 2, 3)) / _MOST_WEIGHT
        steps = np.maximum(steps, np.finfo(np.float32).tiny)
        whole = np.rint(weights / steps[:, None, None, None]).astype(np.int8)
        whole_bias = np.rint(bias / (steps * np.float32(taken))).astype(np.int32)
        inputs = [
            *(node.input[0], self.scale(taken), self.zero),
            *(
                self.keep(f"{name}/weights", whole),
                self.keep(f"{name}/steps", steps.astype(np.float32)),
                self.keep(f"{name}/zeros", np.zeros(len(steps), np.int8)),
            ),
            *(self.scale(given), self.zero, self.keep(f"{name}/bias", whole_bias)),
        ]
        self.add("QLinearConv", inputs, output)
        self.nodes[-1].attribute.extend(node.attribute)
        self.scales[output] = given

    def quantize(self, name: str, output: str, *, scale: float) -> None:
        """Numbers to bytes."""
        self.add("QuantizeLinear", [name, self.scale(scale), self.zero], output)
        self.scales[output] = scale

    def dequantize(self, name: str) -> str:
        """Bytes to numbers; the name of the numbers."""
        self.add("DequantizeLinear", [name, self.scale(self.scales[name]), self.zero], f"{name}/numbers")
        return f"{name}/numbers"

    def add(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> None:
        """A node with one output."""
        from onnx import helper

        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))

    @property
    def zero(self) -> str:
        """The name of the byte that stands for 0."""
        return self.keep("quantized/zero", np.uint8(0))

    def scale(self, value: float) -> str:
        """The name of a scale."""
        return self.keep(f"quantized/scale {np.float32(value)!r}", np.float32(value))

    def keep(self, name: str, values: Any) -> str:
        """A tensor, by its name."""
        from onnx import numpy_helper

        self.tensors[name] = numpy_helper.from_array(np.asarray(values), name)
        return name


def read_weights(graph: Any) -> dict[str, NDArray[Any]]:
    """The tensors of a graph, by all of their names: the exporter keeps equal ones once."""
    from onnx import numpy_helper

    tensors = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    same = {node.output[0]: node.input[0] for node in graph.node if node.op_type == "Identity"}
    return tensors | {name: tensors[kept] for name, kept in same.items() if kept in tensors}


def observe(
    trained: Any, names: list[str], batches: Iterable[Mapping[str, NDArray[Any]]]
) -> dict[str, float]:
    """The largest number that each of these values of a model holds on the batches."""
    import onnx
    import onnxruntime

    probe = onnx.ModelProto()
    probe.CopyFrom(trained)
    probe.graph.output.extend(
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in names
    )
    session = onnxruntime.InferenceSession(probe.SerializeToString(), providers=["CPUExecutionProvider"])
    tops = dict.fromkeys(names, 0.0)
    for batch in batches:
        for name, values in zip(names, session.run(names, dict(batch)), strict=True):
            tops[name] = max(tops[name], float(values.max()))
    if not all(tops.values()):
        raise ModelError("a layer gave nothing on all windows, so it cannot be quantized. Show more ink.")
    return tops


def rewrite(model: Path, trained: Any, written: WholeNumbers) -> None:
    """Put the nodes in place of those of a trained model, and save it; its tensors stay."""
    import onnx

    del trained.graph.node[:]
    trained.graph.node.extend(written.nodes)
    trained.graph.initializer.extend(written.tensors.values())
    onnx.checker.check_model(trained)
    scratch = model.with_suffix(".part")
    onnx.save(trained, str(scratch))
    scratch.replace(model)
