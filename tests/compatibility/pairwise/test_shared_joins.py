"""What joins share is computed once, and gives what the plain network gives join by join."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="the network needs deshred[train]")

from deshred.compatibility.pairwise.shared_joins import SharedJoins, restore_plain  # noqa: E402
from deshred.compatibility.pairwise.squeezenet import build_squeezenet  # noqa: E402


def edges(count: int, rows: int, width: int, seed: int) -> torch.Tensor:
    drawn = torch.rand(count, rows, width, generator=torch.Generator().manual_seed(seed))
    return (drawn < 0.3).to(torch.uint8)


@pytest.mark.parametrize(("rows", "columns"), [(96, 32), (130, 32), (96, 64)])
def test_every_join_has_the_map_of_the_plain_network(rows: int, columns: int) -> None:
    network = build_squeezenet(columns, columns, seed=3).eval()
    rights, lefts = edges(2, rows, columns // 2, 0), edges(3, rows, columns // 2, 1)
    joins = SharedJoins(network, columns=columns)
    with torch.no_grad():
        theirs = joins.look_left(lefts)
        for i in range(2):
            shared = joins.join(joins.look_right(rights[i : i + 1]), theirs)
            for j in range(3):
                joined = torch.cat([rights[i], lefts[j]], dim=1).float()[None, None]
                torch.testing.assert_close(shared[j].T, network.map(joined)[0].mean(dim=2))


def test_an_edge_contributes_the_same_whatever_else_is_looked_at() -> None:
    joins = SharedJoins(build_squeezenet(32, 32, seed=3).eval(), columns=32)
    ink = edges(3, 96, 16, 0)
    with torch.no_grad():
        for look in (joins.look_right, joins.look_left):
            for together, alone in zip(look(ink), look(ink[1:2]), strict=True):
                torch.testing.assert_close(together[1:2], alone)


def test_the_plain_network_comes_back_from_the_shared_weights() -> None:
    network, empty = build_squeezenet(32, 32, seed=3).eval(), build_squeezenet(32, 32, seed=4).eval()
    restore_plain(empty, SharedJoins(network, columns=32).state_dict())
    ink = edges(2, 96, 32, 5).float()[:, None]
    with torch.no_grad():
        torch.testing.assert_close(empty.map(ink), network.map(ink))


def test_a_network_without_wide_taps_sees_fewer_rows() -> None:
    narrow = SharedJoins(build_squeezenet(32, 32, seed=0), columns=32)
    wide = SharedJoins(build_squeezenet(64, 64, seed=0), columns=64)
    assert narrow.receptive_rows < wide.receptive_rows
