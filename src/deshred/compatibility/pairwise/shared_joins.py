"""SqueezeNet over all joins of a block, rearranged so that what joins share is computed once.

A joined image is [right-hand edge | left-hand edge]. Up to the squeeze of the second Fire module most
columns see one edge only and are computed once per edge. A convolution is linear before its ReLU, so a
column that sees both edges is a sum of one part per edge. Exact up to rounding; `SqueezeNet` is the plain
twin. Tensors are (batch, channels, columns, rows): kernels are fastest along the long axis when it is last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from deshred.compatibility.pairwise.squeezenet import Fire, SqueezeNet, reachable_taps

# Rows of the image that a value of the map sees, with 1x1 or with 3x3 kernels behind the last pooling.
_NARROW_FIELD, _WIDE_FIELD = 79, 207


@dataclass(frozen=True)
class _Side:
    """What one edge contributes to every join that it is part of; parts are before bias and ReLU."""

    seam: Tensor  # part of the only column of the first convolution that sees both edges
    beside: Tensor  # the first convolution's column next to it, pooled along the rows
    expanded: Tensor  # part of the three columns of the first Fire module around the mixed one
    squeezed: Tensor  # part of the same three columns, squeezed by the second Fire module
    own: Tensor  # the squeezed columns that never see the other edge, complete


class SharedJoins(nn.Module):
    """Every right-hand edge joined with every left-hand edge."""

    def __init__(self, network: SqueezeNet, *, columns: int) -> None:
        super().__init__()
        first, last = network.features[0], network.classifier[1]
        assert isinstance(first, nn.Conv2d)
        assert isinstance(last, nn.Conv2d)
        self.first = _Convolution(first.weight.sum(1, keepdim=True), first.bias)
        fires = [layer for layer in network.features if isinstance(layer, Fire)]
        self.one, self.two = _Fire(fires[0]), _Fire(fires[1])
        self.mirrored_one = nn.Parameter(self.one.wide.weight.flip(2))
        self.middle = nn.Sequential(*map(_Fire, fires[2:4]))
        deep = [_Fire(fire, map_columns=columns // 32 * 2 - 1) for fire in fires[4:]]
        self.deep = nn.Sequential(*deep)
        self.last = _Convolution(last.weight, last.bias)
        is_narrow = all(fire.wide.weight.shape[3] == 1 for fire in deep)
        self.receptive_rows = _NARROW_FIELD if is_narrow else _WIDE_FIELD

    def forward(self, rights: Tensor, lefts: Tensor) -> Tensor:
        """The map of the last convolution for every join; edges look as they do in the page.

        (a, rows, width), (b, rows, width) -> (a, b, 2, steps)
        """
        count = (rights.shape[0], lefts.shape[0])
        ours, theirs = self._right_side(rights), self._left_side(lefts)
        one, squeeze = self.one, self.two.squeeze
        mixed = torch.maximum(
            _pool_rows(_pair(ours.seam, theirs.seam)), _pair(ours.beside, theirs.beside, torch.maximum)
        )
        mixed = F.relu(one.squeeze(F.relu(mixed)))  # (ab, 16, 1, h)
        # padded by two, one column gives the three columns that see it
        wide = F.conv2d(mixed, one.wide.weight, one.wide.bias, padding=(2, 1))
        wide = F.relu(wide + _pair(ours.expanded, theirs.expanded))
        narrow = _widen(squeeze.first_half(F.relu(one.narrow(mixed))), 1, 1)
        squeezed = squeeze.second_half(wide) + narrow + _pair(ours.squeezed, theirs.squeezed)
        columns = [_repeat(ours.own, theirs.own), F.relu(squeezed + squeeze.column_bias)]
        x = self.two.expand(torch.cat([*columns, _repeat(theirs.own, ours.own, swapped=True)], dim=2))
        x = self.deep(_pool(self.middle(_pool(x))))
        out: Tensor = self.last(x).mean(dim=2).reshape(*count, 2, -1)
        return out

    def _right_side(self, ink: Tensor) -> _Side:
        x = ink.transpose(1, 2).unsqueeze(1).float()  # (n, 1, width, rows)
        seam = F.conv2d(x[:, :, -2:], self.first.weight[:, :, :2], self.first.bias, stride=2)
        columns = F.conv2d(x, self.first.weight, self.first.bias, stride=2)
        return self._side(columns, seam, self.one.wide.weight)

    def _left_side(self, ink: Tensor) -> _Side:
        x = ink.transpose(1, 2).unsqueeze(1).float()
        seam = F.conv2d(x[:, :, :1], self.first.weight[:, :, 2:], stride=2)
        columns = F.conv2d(x, self.first.weight, self.first.bias, stride=2)
        # mirrored, so that the tear lies behind the last column as on the other side
        side = self._side(columns.flip(2), seam, self.mirrored_one)
        return _Side(seam, side.beside, side.expanded.flip(2), side.squeezed.flip(2), side.own.flip(2))

    def _side(self, columns: Tensor, seam: Tensor, wide_kernel: Tensor) -> _Side:
        """Follow the columns of one edge as far as they do not need the other edge behind the last one."""
        one, squeeze = self.one, self.two.squeeze
        x = F.relu(one.squeeze(F.relu(_pool(columns))))  # (n, 16, c, h)
        wide = F.conv2d(x, wide_kernel, padding=(2, 1))[:, :, 1:]  # the last two lack the mixed column
        narrow = F.relu(one.narrow(x))
        complete = torch.cat([narrow[:, :, :-1], F.relu(wide[:, :, :-2] + one.wide.column_bias)], dim=1)
        return _Side(
            seam,
            _pool_rows(columns[:, :, -1:]),
            _widen(wide[:, :, -2:], 0, 1),
            _widen(squeeze.first_half(narrow[:, :, -1:]), 0, 2),
            F.relu(squeeze(complete)),
        )


@torch.no_grad()
def restore_plain(network: SqueezeNet, tensors: Mapping[str, Tensor]) -> None:
    """Put the weights of a `SharedJoins`, given by name, back into the plain network."""
    first, last = network.features[0], network.classifier[1]
    assert isinstance(first, nn.Conv2d)
    assert isinstance(last, nn.Conv2d)
    layers: dict[str, nn.Conv2d] = {"first": first, "last": last}
    fires = [layer for layer in network.features if isinstance(layer, Fire)]
    names = ["one", "two", "middle.0", "middle.1", *(f"deep.{i}" for i in range(4))]
    for name, fire in zip(names, fires, strict=True):
        layers |= {
            f"{name}.squeeze": fire.squeeze,
            f"{name}.narrow": fire.expand1x1,
            f"{name}.wide": fire.expand3x3,
        }
    for name, layer in layers.items():
        weight = tensors[f"{name}.weight"].transpose(2, 3)
        if layer is first:
            weight = weight.expand_as(layer.weight) / layer.in_channels  # its planes were summed
        # taps that were left out are zero
        missing = [(a - b) // 2 for a, b in zip(layer.weight.shape[2:], weight.shape[2:], strict=True)]
        layer.weight.copy_(F.pad(weight, (missing[1], missing[1], missing[0], missing[0])))
        assert layer.bias is not None
        layer.bias.copy_(tensors[f"{name}.bias"])


class _Convolution(nn.Module):
    """A convolution of the plain network with rows and columns swapped."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        assert bias is not None
        self.weight = nn.Parameter(weight.detach().transpose(2, 3).contiguous())
        self.bias = nn.Parameter(bias.detach().clone())

    @property
    def column_bias(self) -> Tensor:
        return self.bias.view(1, -1, 1, 1)

    def first_half(self, x: Tensor) -> Tensor:
        """What the first half of the input channels adds; without bias."""
        return F.conv2d(x, self.weight[:, : self.weight.shape[1] // 2])

    def second_half(self, x: Tensor) -> Tensor:
        """What the second half of the input channels adds; without bias."""
        return F.conv2d(x, self.weight[:, self.weight.shape[1] // 2 :])

    def forward(self, x: Tensor) -> Tensor:
        return F.conv2d(x, self.weight, self.bias)


class _Fire(nn.Module):
    """A Fire module with rows and columns swapped, without the taps that contribute nothing."""

    def __init__(self, plain: Fire, *, map_columns: int = 3) -> None:
        super().__init__()
        taps = reachable_taps(plain.expand3x3.weight, 3, map_columns)
        if not taps[:, :, [0, 2]].any():
            taps = taps[:, :, 1:2]  # no sample could train them
        self.squeeze = _Convolution(plain.squeeze.weight, plain.squeeze.bias)
        self.narrow = _Convolution(plain.expand1x1.weight, plain.expand1x1.bias)
        self.wide = _Convolution(taps, plain.expand3x3.bias)
        self.padding = (taps.shape[3] // 2, taps.shape[2] // 2)

    def expand(self, x: Tensor) -> Tensor:
        """Both expansions of what is squeezed already."""
        wide = F.conv2d(x, self.wide.weight, self.wide.bias, padding=self.padding)
        return F.relu(torch.cat([self.narrow(x), wide], dim=1))

    def forward(self, x: Tensor) -> Tensor:
        return self.expand(F.relu(self.squeeze(x)))


def _pool(x: Tensor) -> Tensor:
    return F.max_pool2d(x, 3, 2, ceil_mode=True)


def _pool_rows(x: Tensor) -> Tensor:
    return F.max_pool2d(x, (1, 3), (1, 2), ceil_mode=True)


def _widen(x: Tensor, before: int, after: int) -> Tensor:
    """Add columns of zeros."""
    zeros = torch.zeros_like(x[:, :, :1])
    return torch.cat([zeros] * before + [x] + [zeros] * after, dim=2)


def _pair(ours: Tensor, theirs: Tensor, combine: Callable[[Tensor, Tensor], Tensor] = torch.add) -> Tensor:
    """Combine every row of one batch with every row of the other. (a, ...), (b, ...) -> (ab, ...)"""
    return combine(ours.unsqueeze(1), theirs.unsqueeze(0)).flatten(0, 1)


def _repeat(x: Tensor, other: Tensor, *, swapped: bool = False) -> Tensor:
    """A batch once for every row of the other, in the order of `_pair`."""
    if swapped:
        return x.unsqueeze(0).expand(other.shape[0], -1, -1, -1, -1).flatten(0, 1)
    return x.unsqueeze(1).expand(-1, other.shape[0], -1, -1, -1).flatten(0, 1)
