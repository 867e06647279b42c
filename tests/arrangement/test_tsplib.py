"""Instances whose optimum the literature knows, and files that are none."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from deshred.arrangement import AtspInstance, arrange_atsp, read_atsp
from deshred.errors import InputError

# br17 of TSPLIB has six kinds of cities; cities of one kind are 0 apart
BR17_KINDS = [0, 1, 2, 3, 3, 4, 4, 5, 5, 1, 1, 0, 1, 2, 4, 4, 5]
BR17_DISTANCES = [
    [0, 3, 5, 48, 8, 5],
    [3, 0, 3, 48, 8, 5],
    [5, 3, 0, 72, 48, 24],
    [48, 48, 74, 0, 6, 12],
    [8, 8, 50, 6, 0, 8],
    [5, 5, 26, 12, 8, 0],
]


def br17():
    return AtspInstance("br17", np.array(BR17_DISTANCES, float)[np.ix_(BR17_KINDS, BR17_KINDS)])


def write(path, distances, **header):
    fields = {
        "NAME": "x",
        "TYPE": "ATSP",
        "DIMENSION": len(distances),
        "EDGE_WEIGHT_FORMAT": "FULL_MATRIX",
        **header,
    }
    lines = [f"{key}: {value}" for key, value in fields.items()]
    rows = ["\n".join(map(str, row)) for row in distances]
    path.write_text("\n".join([*lines, "EDGE_WEIGHT_SECTION", *rows, "EOF", ""]))
    return path


def length(distances, cities):
    return sum(distances[a][b] for a, b in zip(cities, [*cities[1:], cities[0]], strict=True))


def test_br17_takes_39():
    tour = arrange_atsp(br17())
    assert tour.cost == tour.bound == 39
    assert tour.is_optimal
    assert sorted(tour.cities) == list(range(17))
    assert length(br17().distances, tour.cities) == 39


def test_small_instances_are_solved_as_by_trying_all_tours():
    rng = np.random.default_rng(0)
    for _ in range(40):
        n = int(rng.integers(2, 8))
        distances = rng.integers(-5, 20, (n, n)).astype(float) / (1 if rng.random() < 0.5 else 3)
        tour = arrange_atsp(AtspInstance("random", distances))
        best = min(length(distances, (0, *rest)) for rest in permutations(range(1, n)))
        assert tour.is_optimal
        assert tour.cost == pytest.approx(best, abs=1e-6)
        assert length(distances, tour.cities) == pytest.approx(tour.cost, abs=1e-6)


def test_a_file_is_read_whatever_its_line_breaks(tmp_path):
    distances = np.arange(16).reshape(4, 4)
    instance = read_atsp(write(tmp_path / "x.atsp", distances))
    assert instance.name == "x"
    assert (instance.distances == distances).all()


def test_one_city_is_a_tour():
    assert arrange_atsp(AtspInstance("one", np.zeros((1, 1)))).cities == (0,)


def test_a_truncated_file_says_what_is_missing(tmp_path):
    path = write(tmp_path / "x.atsp", np.zeros((4, 4)), DIMENSION=5)
    with pytest.raises(InputError, match=r"5 cities need 25 distances, the file holds 16: it is truncated"):
        read_atsp(path)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("nothing of the kind", "EDGE_WEIGHT_SECTION"),
        ("TYPE: ATSP\nEDGE_WEIGHT_SECTION\n1 2", "DIMENSION"),
        ("TYPE: ATSP\nDIMENSION: 0\nEDGE_WEIGHT_SECTION\n", "at least one city"),
        ("TYPE: CVRP\nDIMENSION: 1\nEDGE_WEIGHT_SECTION\n0", "CVRP"),
        ("TYPE: ATSP\nDIMENSION: 1\nEDGE_WEIGHT_SECTION\nfour", "'four'"),
    ],
)
def test_other_files_are_refused(tmp_path, text, complaint):
    path = tmp_path / "x.atsp"
    path.write_text(text)
    with pytest.raises(InputError, match=complaint):
        read_atsp(path)


def test_a_missing_file_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_atsp(tmp_path / "none.atsp")
