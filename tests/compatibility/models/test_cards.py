"""A card is believed only where every field is what a scorer will read."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import pytest

from deshred.compatibility.models.cards import check_shapes, parse_card
from deshred.errors import ModelError

TOWERS: dict[str, Any] = {
    "options": {"width": 64, "channels": [16, 24, 32, 48], "features": 32, "shifts": 2},
    "shift_bias": [0.0] * 5,
    "fusion": {"ink": 0.3, "outline": 0.5},
    "calibration": {"towers": {"slope": 0.4, "intercept": -1}},
}


@dataclass
class Entry:
    """What a network tells about one of its arrays."""

    name: str
    shape: list[Any]


class Network:
    """Something that takes and gives arrays, as a session of ONNX Runtime does."""

    def __init__(self, width: int, features: int) -> None:
        self._inputs = [Entry("rights", ["n", "rows", width]), Entry("lefts", ["m", "rows", width])]
        names = ("right_features", "left_features")
        self._outputs = [Entry(name, ["n", "steps", features]) for name in names]

    def get_inputs(self) -> list[Entry]:
        return self._inputs

    def get_outputs(self) -> list[Entry]:
        return self._outputs


def test_a_whole_card_is_read_as_it_is() -> None:
    assert parse_card(json.dumps(TOWERS), "towers", "m.onnx") == TOWERS


@pytest.mark.parametrize("left_out", ["fusion", "calibration"])
def test_what_only_some_models_learned_may_be_missing(left_out: str) -> None:
    card = {key: value for key, value in TOWERS.items() if key != left_out}
    assert parse_card(json.dumps(card), "towers", "m.onnx") == card


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("options.width", 64.0),
        ("options.width", True),
        ("options.shifts", -1),
        ("options.channels", [1, 2, 3]),
        ("options.channels", [1, 2, 3, None]),
        ("shift_bias", [0.0] * 4),
        ("fusion.ink", "0.3"),
        ("calibration.towers.slope", None),
        ("calibration.towers", {"slope": 1.0}),
    ],
)
def test_a_field_that_is_wrong_is_named_with_its_value(path: str, value: object) -> None:
    card = deepcopy(TOWERS)
    *way, last = path.split(".")
    table = card
    for key in way:
        table = table[key]
    table[last] = value
    with pytest.raises(ModelError, match=rf"m\.onnx: .*{path}"):
        parse_card(json.dumps(card), "towers", "m.onnx")


def test_a_number_that_is_none_is_refused() -> None:
    with pytest.raises(ModelError, match=r"m\.onnx"):
        parse_card(json.dumps(TOWERS).replace("0.5", "Infinity"), "towers", "m.onnx")


def test_a_network_must_take_and_give_what_its_card_says() -> None:
    check_shapes(Network(64, 32), "towers", TOWERS, "m.onnx")
    for wrong in (Network(32, 32), Network(64, 31)):
        with pytest.raises(ModelError, match="made for something else"):
            check_shapes(wrong, "towers", TOWERS, "m.onnx")


def test_a_pairwise_network_of_an_older_layout_is_told_from_a_damaged_one() -> None:
    card = {"options": {"columns": 32}, "receptive_rows": 79}
    network = Network(16, 2)
    with pytest.raises(ModelError, match="made for something else"):
        check_shapes(network, "pairwise", card, "m.onnx")
    network._outputs = [Entry("map", ["a", "b", 2, "steps"])]
    with pytest.raises(ModelError, match=r"older versions.*convert_pairwise"):
        check_shapes(network, "pairwise", card, "m.onnx")
    network._outputs = [Entry("map", ["n", "steps", 2]), Entry("right.seam", ["a", "rows", 6])]
    check_shapes(network, "pairwise", card, "m.onnx")
