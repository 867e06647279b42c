"""SqueezeNet over joins, in two parts: what belongs to one edge alone, and what sees both edges of a join.

A joined image is [right-hand edge | left-hand edge]. Up to the squeeze of the second Fire module most
columns see one edge only: they are computed once per edge and kept (`Side`). A convolution is linear before
its ReLU, so a column that sees both edges is a sum of one part per edge. Exact up to rounding; `SqueezeNet`
is the plain twin.

Convolutions run over (batch, channels, columns, rows). A side is (batch, ..., rows, channels): there a
convolution of the one mixed column is a matrix product, and the rows of a join that matter are picked by
copying blocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from deshred.compatibility.pairwise.network import PARTS
from deshred.compatibility.pairwise.squeezenet import Fire, SqueezeNet, reachable_taps

# Rows of the image that a value of the map sees, with 1x1 or with 3x3 kernels behind the last pooling.
_NARROW_FIELD, _WIDE_FIELD = 79, 207
_FIRST = 64  # channels of the first convolution


class Side(NamedTuple):
    """What one edge contributes to every join that it is part of; the mixed column is the one at the tear.

    Parts of a sum are before its ReLU, and its bias is in one of them. The names are `PARTS`.
    """

    seam: Tensor  # (n, r, 6 or 3): what the only column of the first convolution that sees both edges sees
    beside: Tensor  # (n, h, 64): the first convolution's column next to it, pooled along the rows, complete
    next: Tensor  # (n, h, 64): part of the first Fire module's column next to the mixed one
    mixed: Tensor  # (n, h, 64): part of its mixed column
    squeezed: Tensor  # (n, h, 16): part of the column next to the mixed one, squeezed by the second module
    own: Tensor  # (n, columns, h, 16): the squeezed columns that never see the other edge, complete


class SharedJoins(nn.Module):
    """One right-hand edge joined with every left-hand edge."""

    def __init__(self, network: SqueezeNet, *, columns: int) -> None:
        super().__init__()
        first, last = network.features[0], network.classifier[1]
        assert isinstance(first, nn.Conv2d)
        assert isinstance(last, nn.Conv2d)
        self.first = _Convolution(first.weight.sum(1, keepdim=True), first.bias)
        fires = [layer for layer in network.features if isinstance(layer, Fire)]
        self.one, self.two = _Fire(fires[0]), _Fire(fires[1], pooled=True)
        self.middle = nn.Sequential(_Fire(fires[2]), _Fire(fires[3], pooled=True))
        deep = [_Fire(fire, map_columns=columns // 32 * 2 - 1) for fire in fires[4:]]
        self.deep = nn.Sequential(*deep)
        self.last = _Convolution(last.weight, last.bias)
        is_narrow = all(fire.wide.weight.shape[3] == 1 for fire in deep)
        self.receptive_rows = _NARROW_FIELD if is_narrow else _WIDE_FIELD

    def forward(self, rights: Tensor, lefts: Tensor, *sides: Tensor) -> tuple[Tensor, ...]:
        """Both parts side by side, each with inputs of its own, so that one file holds both.

        (a, rows, width), (b, rows, width), a `Side` of one edge, another of n ->
        the maps of the n joins (n, steps, 2), the sides of the a and of the b edges
        """
        ours, theirs = Side(*sides[: len(PARTS)]), Side(*sides[len(PARTS) :])
        return self.join(ours, theirs), *self.look_right(rights), *self.look_left(lefts)

    def join(self, ours: Side, theirs: Side) -> Tensor:  # -> (n, steps, 2)
        """The map of the last convolution for every join of one right-hand edge."""
        one, squeeze = self.one, self.two.squeeze
        count, rows = theirs.beside.shape[0], theirs.beside.shape[1]
        seen = torch.cat([ours.seam.expand(count, -1, -1), theirs.seam], dim=2).flatten(0, 1)
        seam = torch.addmm(self.first.bias, seen, self._seam_taps()).view(count, 1, -1, _FIRST)
        seam = F.max_pool2d(seam, (3, 1), (2, 1), ceil_mode=True).view(count, rows, -1)
        mixed = torch.maximum(torch.maximum(seam, ours.beside), theirs.beside)
        flat = F.relu(torch.addmm(one.squeeze.bias, mixed.flatten(0, 1), one.squeeze.taps()))  # (n * h, 16)
        x = flat.view(count, rows, -1)
        white = torch.zeros_like(x[:, :1])
        above, below = torch.cat([white, x[:, :-1]], dim=1), torch.cat([x[:, 1:], white], dim=1)
        around = torch.cat([above, x, below], dim=2).flatten(0, 1)  # (n * h, 48)

        def widen(tap: int, added: Tensor) -> Tensor:
            """The first module's wide expansion of a column, squeezed by the second; `tap` meets `mixed`."""
            taps = one.wide.weight[:, :, tap].permute(2, 1, 0).flatten(0, 1)  # (3 * 16, 64)
            return F.relu(torch.addmm(added.flatten(0, 1), around, taps)) @ squeeze.taps(1)

        narrow = F.relu(torch.addmm(one.narrow.bias, flat, one.narrow.taps()))
        before = widen(2, ours.next.expand(count, -1, -1)).view(count, rows, -1) + ours.squeezed
        middle = torch.addmm(squeeze.bias, narrow, squeeze.taps(0)) + widen(1, ours.mixed + theirs.mixed)
        after = widen(0, theirs.next).view(count, rows, -1) + theirs.squeezed
        inner = F.relu(torch.stack([before, middle.view(count, rows, -1), after], dim=1))
        columns = torch.cat([ours.own.expand(count, -1, -1, -1), inner, theirs.own], dim=1)
        x = self.deep(self.middle(self.two.expand(columns.permute(0, 3, 1, 2))))
        out: Tensor = (x.permute(0, 2, 3, 1) @ self.last.taps()).mean(dim=1) + self.last.bias
        return out

    def look_right(self, ink: Tensor) -> Side:
        """What right-hand edges contribute; edges look as they do in the page."""
        return self._side(
            ink[:, :, :-1], ink[:, :, -2:], self.first.weight, self.one.wide.weight, is_right=True
        )

    def look_left(self, ink: Tensor) -> Side:
        """What left-hand edges contribute."""
        # mirrored, so that the tear lies behind the last column as on the other side
        kernels = self.first.weight.flip(2), self.one.wide.weight.flip(2)
        side = self._side(ink[:, :, :-1].flip(2), ink[:, :, :1], *kernels, is_right=False)
        return side._replace(own=side.own.flip(1))

    def _side(
        self, ink: Tensor, seam: Tensor, first_kernel: Tensor, wide_kernel: Tensor, *, is_right: bool
    ) -> Side:
        """Follow the columns of one edge as far as they do not need the other edge behind the last one."""
        one, squeeze = self.one, self.two.squeeze
        image = ink.transpose(1, 2).unsqueeze(1).float()  # (n, 1, width, rows)
        # the last column by itself: it costs less than to bring all into another order
        last = F.conv2d(image[:, :, -3:], first_kernel, self.first.bias, stride=2)
        columns = F.conv2d(image, first_kernel, self.first.bias, stride=2)
        x = F.relu(one.squeeze(F.relu(_pool(columns))))  # (n, 16, c, h)
        wide = F.conv2d(x, wide_kernel, padding=(2, 1))[:, :, 1:]  # the last two lack the mixed column
        narrow = F.relu(one.narrow(x))
        bias = one.wide.bias.view(1, -1, 1, 1)
        complete = torch.cat([narrow[:, :, :-1], F.relu(wide[:, :, :-2] + bias)], dim=1)
        half = squeeze.weight.shape[1] // 2
        squeezed = F.conv2d(narrow[:, :, -1:], squeeze.weight[:, :half], squeeze.bias)
        seam = seam.float()
        return Side(
            torch.cat([seam[:, :-2:2], seam[:, 1:-1:2], seam[:, 2::2]], dim=2),
            _put_channels_last(F.relu(_pool_rows(last)))[:, 0],
            _put_channels_last(wide[:, :, -2:-1] + bias)[:, 0],
            _put_channels_last(wide[:, :, -1:] + bias if is_right else wide[:, :, -1:])[:, 0],
            _put_channels_last(squeezed)[:, 0],
            _put_channels_last(F.relu(squeeze(complete))),
        )

    def _seam_taps(self) -> Tensor:
        """The kernel of the first convolution for what `Side.seam` of both edges see, (9, 64)."""
        kernel = self.first.weight[:, 0].permute(2, 1, 0)  # (rows, columns, 64)
        return torch.cat([kernel[:, :2].flatten(0, 1), kernel[:, 2:].flatten(0, 1)])


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

    def taps(self, half: int | None = None) -> Tensor:
        """A 1x1 kernel as (in, out); of all input channels, or of one half of them."""
        taps = self.weight.flatten(1).t()
        size = self.weight.shape[1] // 2
        return taps if half is None else taps[half * size : (half + 1) * size]

    def forward(self, x: Tensor) -> Tensor:
        return F.conv2d(x, self.weight, self.bias)


class _Fire(nn.Module):
    """A Fire module with rows and columns swapped, without the taps that contribute nothing."""

    def __init__(self, plain: Fire, *, map_columns: int = 3, pooled: bool = False) -> None:
        super().__init__()
        self.pooled = pooled
        taps = reachable_taps(plain.expand3x3.weight, 3, map_columns)
        if not taps[:, :, [0, 2]].any():
            taps = taps[:, :, 1:2]  # no sample could train them
        self.squeeze = _Convolution(plain.squeeze.weight, plain.squeeze.bias)
        self.narrow = _Convolution(plain.expand1x1.weight, plain.expand1x1.bias)
        self.wide = _Convolution(taps, plain.expand3x3.bias)
        self.padding = (taps.shape[3] // 2, taps.shape[2] // 2)

    def expand(self, x: Tensor) -> Tensor:
        """Both expansions of what is squeezed already."""
        halves = [self.narrow(x), F.conv2d(x, self.wide.weight, self.wide.bias, padding=self.padding)]
        # pooled before they are joined: that copies less
        return F.relu(torch.cat([_pool(half) for half in halves] if self.pooled else halves, dim=1))

    def forward(self, x: Tensor) -> Tensor:
        return self.expand(F.relu(self.squeeze(x)))


def _pool(x: Tensor) -> Tensor:
    return F.max_pool2d(x, 3, 2, ceil_mode=True)


def _pool_rows(x: Tensor) -> Tensor:
    return F.max_pool2d(x, (1, 3), (1, 2), ceil_mode=True)


def _put_channels_last(x: Tensor) -> Tensor:
    """(n, channels, columns, rows) -> (n, columns, rows, channels)"""
    return x.permute(0, 2, 3, 1)
