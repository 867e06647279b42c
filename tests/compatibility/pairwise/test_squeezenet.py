from __future__ import annotations

import pickle
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the network needs deshred[train]")

from deshred.compatibility.pairwise.squeezenet import SqueezeNet, build_squeezenet, file_checksum  # noqa: E402
from deshred.errors import ModelError  # noqa: E402


@pytest.mark.parametrize(
    ("rows", "columns", "steps"), [(32, 32, (1, 1)), (64, 64, (3, 3)), (3000, 32, (187, 1))]
)
def test_the_map_has_the_size_that_the_paper_states(rows: int, columns: int, steps: tuple[int, int]) -> None:
    network = build_squeezenet(32, 32, seed=0).eval()
    with torch.no_grad():
        assert network.map(torch.zeros(1, 1, rows, columns)).shape == (1, 2, *steps)


def test_it_has_as_many_parameters_as_squeezenet_with_two_classes() -> None:
    assert sum(parameter.numel() for parameter in SqueezeNet().parameters()) == 723_522


def test_the_last_convolution_starts_small() -> None:
    last = build_squeezenet(32, 32, seed=0).classifier[1]
    assert last.weight.std().item() == pytest.approx(0.01, rel=0.1)


def test_the_same_seed_gives_the_same_weights() -> None:
    first, second, other = (build_squeezenet(32, 32, seed=seed).state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not torch.equal(first["features.0.weight"], other["features.0.weight"])


def test_taps_that_no_sample_can_train_are_zero() -> None:
    small = build_squeezenet(32, 32, seed=0).features[12].expand3x3.weight
    assert small[:, :, 1, 1].any()
    assert not small[:, :, [0, 2]].any()
    assert not small[:, :, :, [0, 2]].any()
    large = build_squeezenet(64, 64, seed=0).features[12].expand3x3.weight
    assert large[:, :, 0, 0].any()


def test_a_value_of_the_map_sees_no_more_rows_than_a_slid_window() -> None:
    network = build_squeezenet(32, 32, seed=0).eval()
    ink = torch.zeros(1, 1, 400, 32)
    ink[:, :, 119:160] = 1.0  # the fifth value sees the rows from 40 to 118
    with torch.no_grad():
        seen = network.map(ink)[0, :, :6, 0]
        blank = network.map(torch.zeros_like(ink))[0, :, :6, 0]
    torch.testing.assert_close(seen[:, :5], blank[:, :5])
    assert not torch.equal(seen[:, 5], blank[:, 5])


def test_imagenet_weights_load_all_but_the_last_convolution(tmp_path: Path) -> None:
    file = tmp_path / "squeezenet.pth"
    weights = build_squeezenet(64, 64, seed=5).state_dict()
    weights["classifier.1.weight"] = torch.zeros(1000, 512, 1, 1)
    weights["classifier.1.bias"] = torch.zeros(1000)
    torch.save(weights, file)
    network = build_squeezenet(32, 32, seed=0, init=file).state_dict()
    assert torch.equal(network["features.12.expand3x3.weight"], weights["features.12.expand3x3.weight"])
    assert network["classifier.1.weight"].shape[0] == 2
    assert len(file_checksum(file)) == 64


@pytest.mark.parametrize("content", [b"no weights", pickle.dumps({"features.0.weight": print})])
def test_a_file_that_is_no_weights_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "wrong.pth"
    file.write_bytes(content)
    with pytest.raises(ModelError, match="not SqueezeNet"):
        build_squeezenet(32, 32, seed=0, init=file)


def test_weights_of_another_network_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "other.pth"
    torch.save({"conv.weight": torch.zeros(3)}, file)
    with pytest.raises(ModelError, match=r"features\.0"):
        build_squeezenet(32, 32, seed=0, init=file)
    with pytest.raises(ModelError, match="no such file"):
        build_squeezenet(32, 32, seed=0, init=tmp_path / "missing.pth")
