"""SqueezeNet v1.1 without bypass, for two classes (fits, does not fit), as one readable network.

Iandola et al., "SqueezeNet: AlexNet-level accuracy with 50x fewer parameters", 2016. Parameter names are
torchvision's, so that its ImageNet weights load. Needs torch: `deshred[train]`.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from deshred.errors import ModelError


def reachable_taps(weight: Tensor, map_rows: int, map_columns: int) -> Tensor:
    """The taps of a padded 3x3 kernel that see more than padding on a map of this size.

    A kernel on a single row or column multiplies its outer taps by padding only: leaving them out
    changes nothing but the time.
    """
    rows = slice(1, 2) if map_rows == 1 else slice(None)
    columns = slice(1, 2) if map_columns == 1 else slice(None)
    return weight[:, :, rows, columns]


class Fire(nn.Module):
    """Squeeze to few channels, expand with 1x1 and 3x3 kernels side by side."""

    def __init__(self, channels: int, squeezed: int, expanded: int) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(channels, squeezed, 1)
        self.expand1x1 = nn.Conv2d(squeezed, expanded, 1)
        self.expand3x3 = nn.Conv2d(squeezed, expanded, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:  # (B, channels, H, W) -> (B, 2 * expanded, H, W)
        """Apply the module."""
        x = F.relu(self.squeeze(x))
        weight = reachable_taps(self.expand3x3.weight, x.shape[2], x.shape[3])
        padding = (weight.shape[2] // 2, weight.shape[3] // 2)
        wide = F.conv2d(x, weight, self.expand3x3.bias, padding=padding)
        return F.relu(torch.cat([self.expand1x1(x), wide], dim=1))


class SqueezeNet(nn.Module):
    """The network of the paper; fully convolutional, so a long join is one image."""

    def __init__(self, *, dropout: float = 0.5) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 64, 3, stride=2),
            nn.MaxPool2d(3, 2, ceil_mode=True),
            nn.ReLU(),  # after pooling, where it gives the same for a quarter of the work
            Fire(64, 16, 64),
            Fire(128, 16, 64),
            nn.MaxPool2d(3, 2, ceil_mode=True),
            Fire(128, 32, 128),
            Fire(256, 32, 128),
            nn.MaxPool2d(3, 2, ceil_mode=True),
            Fire(256, 48, 192),
            Fire(384, 48, 192),
            Fire(384, 64, 256),
            Fire(512, 64, 256),
        )
        # no ReLU behind it, unlike the original: from scratch both outputs die in the first steps
        self.classifier = nn.Sequential(nn.Dropout(dropout), nn.Conv2d(512, 2, 1))

    def map(self, ink: Tensor) -> Tensor:  # (B, 1, H, W) of 0 and 1 -> (B, 2, h, w)
        """The map of the last convolution: one pair of values per 16 px."""
        first = self.features[0]
        assert isinstance(first, nn.Conv2d)
        # three equal channels through a filter are one channel through the sum of the filter's planes
        x = F.conv2d(ink, first.weight.sum(1, keepdim=True), first.bias, stride=2)
        out: Tensor = self.classifier(self.features[1:](x))
        return out

    def forward(self, ink: Tensor) -> Tensor:  # (B, 1, H, W) -> (B, 2)
        """Logits: the map, averaged."""
        return self.map(ink).mean(dim=(2, 3))


def build_squeezenet(
    sample_rows: int, sample_columns: int, *, seed: int, dropout: float = 0.5, init: Path | None = None
) -> SqueezeNet:
    """A network ready to train on samples of this size, from scratch or from ImageNet weights."""
    network = SqueezeNet(dropout=dropout)
    generator = torch.Generator().manual_seed(seed)
    last = network.classifier[1]
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.zeros_(layer.bias)  # type: ignore[arg-type]
            if layer is last:
                nn.init.normal_(layer.weight, 0.0, 0.01, generator=generator)
            else:
                nn.init.kaiming_uniform_(layer.weight, nonlinearity="relu", generator=generator)
    if init is None:
        _clear_unreachable_taps(network, sample_rows, sample_columns)
    else:
        _load_imagenet(network, init)
    return network


def _clear_unreachable_taps(network: SqueezeNet, rows: int, columns: int) -> None:
    """Zero the taps that no sample can train: on long joins they would mix random numbers into the score.

    The others grow, so that activations keep their size.
    """
    with torch.no_grad():
        x = torch.zeros(1, 3, rows, columns)
        for layer in network.features:
            x = layer(x)
            if isinstance(layer, Fire):
                weight = layer.expand3x3.weight
                kept = reachable_taps(weight, x.shape[2], x.shape[3]).clone()
                growth = (weight.numel() / kept.numel()) ** 0.5
                weight.zero_()
                reachable_taps(weight, x.shape[2], x.shape[3]).copy_(kept * growth)


def _load_imagenet(network: SqueezeNet, path: Path) -> None:
    """Load all weights but those of the last convolution from a file in torchvision's format."""
    try:
        weights = torch.load(path, map_location="cpu", weights_only=True)
        weights = {name: value for name, value in weights.items() if not name.startswith("classifier.")}
        missing, unexpected = network.load_state_dict(weights, strict=False)
    except FileNotFoundError:
        raise ModelError(f"{path}: there is no such file of initial weights.") from None
    except Exception as error:
        raise ModelError(
            f"{path}: not SqueezeNet v1.1 weights in torchvision's format ({str(error).splitlines()[0]})."
        ) from error
    wrong = [name for name in (*missing, *unexpected) if not name.startswith("classifier.")]
    if wrong:
        raise ModelError(f"{path}: not SqueezeNet v1.1 weights; missing or unknown: {', '.join(wrong[:3])}.")


def file_checksum(path: Path) -> str:
    """SHA-256 of a file of weights, shown so that its origin can be checked."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
