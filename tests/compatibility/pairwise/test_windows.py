from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="the network needs deshred[train]")

from deshred.compatibility.pairwise.squeezenet import build_squeezenet  # noqa: E402
from deshred.compatibility.pairwise.windows import WindowNetwork  # noqa: E402


def random_ink(rows: int = 32, columns: int = 32, count: int = 6) -> torch.Tensor:
    generator = torch.Generator().manual_seed(3)
    return (torch.rand(count, 1, rows, columns, generator=generator) < 0.3).to(torch.uint8)


@pytest.mark.parametrize(("rows", "columns"), [(32, 32), (32, 64), (64, 32), (64, 64)])
def test_matrix_products_give_the_logits_and_gradients_of_the_plain_network(rows: int, columns: int) -> None:
    plain = build_squeezenet(rows, columns, seed=1, dropout=0.0).double()
    for parameter in plain.parameters():
        torch.nn.init.normal_(parameter, std=0.2)  # no zeros, so that no mistake hides
    ink = random_ink(rows, columns)
    expected = plain(ink.double())
    wanted = torch.autograd.grad((expected[:, 1] ** 2).sum(), list(plain.parameters()))
    found = WindowNetwork(plain, normalize=False)(ink)
    gradients = torch.autograd.grad((found[:, 1] ** 2).sum(), list(plain.parameters()))
    torch.testing.assert_close(found, expected)
    for one, other in zip(gradients, wanted, strict=True):
        torch.testing.assert_close(one, other)


def test_folding_keeps_what_a_normalized_network_says() -> None:
    network = WindowNetwork(build_squeezenet(32, 32, seed=1, dropout=0.0))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter += 0.1 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(0))
        for _ in range(5):
            network(random_ink())
    network.eval()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    ink = random_ink(count=9)
    torch.testing.assert_close(network.fold()(ink.float()), network(ink), rtol=1e-4, atol=1e-4)
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())


def test_it_has_the_parameters_of_the_plain_network_and_no_more() -> None:
    plain = build_squeezenet(32, 32, seed=1)
    assert list(WindowNetwork(plain).parameters()) == list(plain.parameters())


def test_activations_of_a_new_network_neither_vanish_nor_explode() -> None:
    network = WindowNetwork(build_squeezenet(32, 32, seed=1))
    logits = network(random_ink(count=64))
    assert 0.001 < logits.std().item() < 1.0
