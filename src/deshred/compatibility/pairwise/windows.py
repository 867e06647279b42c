"""SqueezeNet as it learns from windows: plain matrix products and batch norm; folds into the plain network.

On maps of a few pixels convolution kernels are mostly overhead. Here activations are (B * H * W, channels)
matrices, and a Fire module keeps its two halves apart instead of joining them. Needs torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from deshred.compatibility.pairwise.squeezenet import Fire, SqueezeNet, reachable_taps

_MOMENTUM, _EPSILON = 0.02, 1e-3


@dataclass(frozen=True)
class _Maps:
    """A batch of maps, channels last, as one matrix per group of channels."""

    groups: Sequence[Tensor]  # one or two, each (B * rows * columns, channels)
    rows: int
    columns: int


class WindowNetwork(nn.Module):
    """The weights of a `SqueezeNet`, with batch norm in front of them while they are trained.

    Only the first convolution and the squeezes are normalized: they are few and narrow, and no activation is
    further than one layer from them. There is no learned scale: the ReLU and the layer behind it make it
    redundant, and a positive scale can be moved to the other side of max pooling.
    """

    def __init__(self, plain: SqueezeNet, *, normalize: bool = True) -> None:
        super().__init__()
        self.plain = plain
        self.norms = nn.ModuleDict()
        if normalize:
            for name, layer in _normalized_layers(plain).items():
                self.norms[name] = _Norm(layer.out_channels)

    def forward(self, ink: Tensor) -> Tensor:  # (B, 1, H, W) of 0 and 1 -> (B, 2)
        """Logits: the map, averaged."""
        maps = self._first(ink)
        for name, layer in self.plain.features.named_children():
            if isinstance(layer, Fire):
                maps = self._fire(name, layer, maps)
            elif int(name) > 1 and isinstance(layer, nn.MaxPool2d):
                maps = _pool(maps)
        dropout, last = self.plain.classifier
        assert isinstance(last, nn.Conv2d)
        logits = _multiply([dropout(group) for group in maps.groups], last) + _bias(last)
        return logits.view(len(ink), -1, 2).mean(dim=1)

    @torch.no_grad()
    def fold(self) -> SqueezeNet:
        """A copy of the plain network with the running statistics inside its weights."""
        folded = SqueezeNet()
        folded.load_state_dict(self.plain.state_dict())
        for name, layer in _normalized_layers(folded).items():
            if name in self.norms:
                norm = self.norms[name]
                assert isinstance(norm, _Norm)
                assert layer.bias is not None
                scale = torch.rsqrt(norm.variance + _EPSILON)
                layer.weight.mul_(scale.view(-1, 1, 1, 1))
                layer.bias.sub_(norm.mean * scale)
        return folded.eval()

    def _first(self, ink: Tensor) -> _Maps:
        """The first convolution, pooled: one channel through the sum of the filter's planes."""
        layer = self.plain.features[0]
        assert isinstance(layer, nn.Conv2d)
        patches = ink[:, 0].unfold(1, 3, 2).unfold(2, 3, 2)  # (B, h, w, 3, 3)
        matrix = patches.reshape(-1, 9).to(layer.weight.dtype)
        product = matrix @ layer.weight.sum(1).flatten(1).t()
        maps = _pool(_Maps([product], patches.shape[1], patches.shape[2]))
        return _Maps([self._activate("0", maps.groups[0], layer)], maps.rows, maps.columns)

    def _fire(self, name: str, fire: Fire, maps: _Maps) -> _Maps:
        squeezed = self._activate(name, _multiply(maps.groups, fire.squeeze), fire.squeeze)
        narrow = torch.addmm(_bias(fire.expand1x1), squeezed, fire.expand1x1.weight.flatten(1).t())
        taps = reachable_taps(fire.expand3x3.weight, maps.rows, maps.columns)
        if taps.shape[2:] == (1, 1):
            patches = squeezed
        else:
            taps = fire.expand3x3.weight
            shape = (-1, maps.rows, maps.columns, squeezed.shape[1])
            patches = _Patches.apply(squeezed.view(shape))  # type: ignore[no-untyped-call]
        wide = torch.addmm(_bias(fire.expand3x3), patches, taps.permute(2, 3, 1, 0).flatten(0, 2))
        return _Maps([narrow.relu_(), wide.relu_()], maps.rows, maps.columns)

    def _activate(self, name: str, product: Tensor, layer: nn.Conv2d) -> Tensor:
        bias = _bias(layer)
        return (self.norms[name](product, bias) if name in self.norms else product + bias).relu_()


class _Norm(nn.Module):
    """Batch norm without a scale, its bias that of the convolution."""

    mean: Tensor
    variance: Tensor
    scale: Tensor

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(channels))
        self.register_buffer("variance", torch.ones(channels))
        self.register_buffer("scale", torch.ones(channels), persistent=False)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:  # (n, channels)
        return F.batch_norm(x, self.mean, self.variance, self.scale, bias, self.training, _MOMENTUM, _EPSILON)


class _Patches(torch.autograd.Function):
    """The 3x3 surroundings of every place, zero outside. (B, H, W, C) -> (B * H * W, 9 * C)"""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        b, h, w, c = ctx.shape = x.shape
        padded = F.pad(x, (0, 0, 1, 1, 1, 1))
        image, row, column, _ = padded.stride()
        # three neighbors in a row lie side by side in memory
        return padded.as_strided((b, h, w, 3, 3 * c), (image, row, column, row, 1)).reshape(-1, 9 * c)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        b, h, w, c = ctx.shape
        taps = gradients[0].view(b, h, w, 3, 3, c)
        padded = taps.new_zeros(b, h + 2, w + 2, c)
        for i in range(3):
            for j in range(3):
                padded[:, i : i + h, j : j + w] += taps[:, :, :, i, j]
        return padded[:, 1:-1, 1:-1]


def _normalized_layers(network: SqueezeNet) -> dict[str, nn.Conv2d]:
    """The convolutions that are normalized, by the name of their layer."""
    layers = {}
    for name, layer in network.features.named_children():
        if isinstance(layer, nn.Conv2d):
            layers[name] = layer
        elif isinstance(layer, Fire):
            layers[name] = layer.squeeze
    return layers


def _multiply(groups: Sequence[Tensor], layer: nn.Conv2d) -> Tensor:
    """A 1x1 convolution over one or two groups of channels, without bias."""
    weight = layer.weight.flatten(1).t()
    first = groups[0].shape[1]
    product = groups[0] @ weight[:first]
    return torch.addmm(product, groups[1], weight[first:]) if len(groups) == 2 else product


def _pool(maps: _Maps) -> _Maps:
    pooled = [
        F.max_pool2d(
            group.view(-1, maps.rows, maps.columns, group.shape[1]).permute(0, 3, 1, 2), 3, 2, ceil_mode=True
        ).permute(0, 2, 3, 1)
        for group in maps.groups
    ]
    _, rows, columns, _ = pooled[0].shape
    return _Maps([group.reshape(-1, group.shape[3]) for group in pooled], rows, columns)


def _bias(layer: nn.Conv2d) -> Tensor:
    assert layer.bias is not None
    return layer.bias
