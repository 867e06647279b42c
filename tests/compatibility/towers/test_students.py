from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the network needs deshred[train]")

from deshred.compatibility.towers.students import measure_unlikeness, price_unlikeness  # noqa: E402


def _features(seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(3, 5, 4, generator=generator), torch.randn(2, 5, 4, generator=generator)


def test_a_student_that_sees_the_same_pays_nothing_and_one_that_sees_nothing_misses_all() -> None:
    taught = _features(0)
    assert price_unlikeness(taught, taught).item() == 0
    nothing = (taught[0].mean((0, 1)).expand_as(taught[0]), taught[1])
    assert measure_unlikeness(nothing, taught).item() == pytest.approx(1)
    assert price_unlikeness(nothing, taught).item() > 0


def test_a_difference_counts_for_what_it_does_to_scores() -> None:
    features, taught = _features(1), _features(2)
    found = measure_unlikeness(features, taught).item()
    others = taught[1].reshape(-1, 4).numpy()
    wrong = (features[0] - taught[0]).reshape(-1, 4).numpy() @ others.T
    spread = (taught[0] - taught[0].mean((0, 1))).reshape(-1, 4).numpy() @ others.T
    assert found == pytest.approx(float((wrong**2).sum() / (spread**2).sum()), rel=1e-4)


def test_what_the_other_side_never_shows_may_differ() -> None:
    rights, lefts = _features(3)
    lefts[..., 0] = 0
    other = rights.clone()
    other[..., 0] += 5
    assert measure_unlikeness((other, lefts), (rights, lefts)).item() == pytest.approx(0, abs=1e-6)
    assert np.isfinite(price_unlikeness((other, lefts), (rights, lefts)).item())


def test_blank_paper_does_not_spoil_a_student() -> None:
    taught = torch.full((3, 5, 4), 0.5), torch.full((2, 5, 4), 0.5)
    features = taught[0].clone().requires_grad_(), taught[1].clone().requires_grad_()
    price_unlikeness(features, taught).backward()
    assert all(torch.isfinite(side.grad).all() for side in features)
