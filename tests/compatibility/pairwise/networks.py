"""Networks that are quick to make, as several tests need them."""

from __future__ import annotations

import torch

from deshred.compatibility.pairwise.squeezenet import SqueezeNet, build_squeezenet


def lively_network(columns: int, *, sample_rows: int = 32) -> SqueezeNet:
    """Untrained, but with biases, and outputs that depend on the ink."""
    network = build_squeezenet(sample_rows, columns, seed=1).eval()
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.ndim == 1:
                parameter.normal_(0, 0.05, generator=generator)
        network.classifier[1].weight.mul_(50)
    return network
