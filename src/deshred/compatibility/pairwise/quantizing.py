"""A pairwise model in, the same with the layers behind its pairing in whole numbers of 8 bits out.

What comes before is computed once per edge, and is added up before its ReLU, so it stays as it is; so does
the last layer. How bits are spent is in `whole_numbers.py`. Needs onnx.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deshred.compatibility.models import open_model
from deshred.compatibility.pairwise.network import PairwiseNetwork
from deshred.compatibility.pairwise.samples import SampleOptions, cut_page
from deshred.compatibility.whole_numbers import MOST_VALUE, WholeNumbers, observe, read_weights, rewrite
from deshred.errors import ModelError
from deshred.simulation.intact import IntactPage

_FIRST = "two.wide.weight"  # of the first layers that see whole joins
_PAGES, _EDGES = 12, 6  # joins of so many pages and so many edges of each side show how large values become
_ROWS = 3000

Edges = Mapping[str, NDArray[np.uint8]]  # `rights` and `lefts`: (n, rows, width)


def quantize_pairwise(model: Path, edges: Iterable[Edges]) -> None:
    """Rewrite a model file; the edges show how large values become between its layers."""
    import onnx

    trained = onnx.load(str(model))
    tail = _find_tail(trained.graph)
    network = PairwiseNetwork(open_model(model, "pairwise", 1))
    tops = observe(trained, [tail.start, *dict.fromkeys(tail.relus.values())], _join_edges(network, edges))
    rewrite(model, trained, _translate(trained.graph, tail, tops))


def quantize_alike(model: Path, quantized: Path) -> None:
    """Rewrite a model file as another was that has the same weights, laid out in this or in another way."""
    import onnx

    trained, graph = onnx.load(str(model)), onnx.load(str(quantized)).graph
    tail = _find_tail(trained.graph)
    tensors = read_weights(graph)
    steps = [node.input[1] for node in graph.node if node.op_type == "QuantizeLinear"]
    steps += [node.input[6] for node in graph.node if node.op_type == "QLinearConv"]
    names = [tail.start, *tail.relus.values()]
    tops = {name: float(tensors[step]) * MOST_VALUE for name, step in zip(names, steps, strict=True)}
    rewrite(model, trained, _translate(trained.graph, tail, tops))


def _join_edges(network: PairwiseNetwork, edges: Iterable[Edges]) -> Iterator[dict[str, NDArray[Any]]]:
    for some in edges:
        lefts = network.look("left", some["lefts"])
        for right in some["rights"]:
            yield network.feed(network.look("right", right[None]), lefts)


def sample_edges(pages: Sequence[IntactPage], options: SampleOptions, *, seed: int) -> Iterable[Edges]:
    """Joins of the kind that a model learns from, true and false ones, to quantize it on."""
    rng = np.random.default_rng(seed)
    for i in np.linspace(0, len(pages) - 1, min(_PAGES, len(pages))).round().astype(int):
        cut = cut_page(pages[i].ink, rng, options=options)
        rights = rng.permutation(options.shreds - 1)[:_EDGES]
        lefts = np.where(
            np.arange(len(rights)) % 2, rights + 1, rng.permutation(options.shreds)[: len(rights)]
        )
        yield {"rights": cut.rights[rights, :_ROWS], "lefts": cut.lefts[lefts, :_ROWS]}


@dataclass(frozen=True)
class _Tail:
    """The layers that see whole joins."""

    start: str  # what they are given
    relus: Mapping[str, str]  # the ReLU behind each of their convolutions, by what the convolution gives


def _find_tail(graph: Any) -> _Tail:
    readers = {name: node for node in graph.node for name in node.input}
    start = next((node.input[0] for node in graph.node if _FIRST in node.input[1:]), None)
    if start is None or any(node.op_type == "QLinearConv" for node in graph.node):
        raise ModelError("the model has no layers to quantize: it is quantized already, or made elsewhere.")
    reached, relus = {start}, {}
    for node in graph.node:
        if reached.isdisjoint(node.input):
            continue
        reached.update(node.output)
        if node.op_type == "Conv":
            behind = readers[node.output[0]]
            while behind.op_type != "Relu":  # both halves of a Fire module are put together before it
                behind = readers[behind.output[0]]
            relus[node.output[0]] = behind.output[0]
    return _Tail(start, relus)


def _translate(graph: Any, tail: _Tail, tops: Mapping[str, float]) -> WholeNumbers:
    tensors = {name: values.astype(np.float64) for name, values in read_weights(graph).items()}
    written = WholeNumbers()
    same: dict[str, str] = {}  # a ReLU is done where bytes end, so what it gives is what it is given
    for node in graph.node:
        for place, name in enumerate(node.input):
            node.input[place] = same.get(name, name)
        if node.output[0] in tail.relus:
            weights, bias = (tensors[name] for name in node.input[1:])
            top = tops[tail.relus[node.output[0]]]
            written.convolve(node, weights, bias, top=top, output=node.output[0])
        elif node.op_type == "Relu" and node.input[0] in written.scales:
            same[node.output[0]] = node.input[0]
        elif node.op_type in ("Concat", "MaxPool") and node.input[0] in written.scales:
            written.scales[node.output[0]] = written.scales[node.input[0]]
            written.nodes.append(node)
        else:
            for place, name in enumerate(node.input):
                if name in written.scales:
                    node.input[place] = written.dequantize(name)
            written.nodes.append(node)
        if node.output[0] == tail.start:
            same[tail.start] = f"{tail.start}/bytes"
            written.quantize(tail.start, same[tail.start], scale=tops[tail.start] / MOST_VALUE)
    return written
