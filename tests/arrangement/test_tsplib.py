"""Instances whose optimum the literature knows, and files that are none."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse.csgraph import floyd_warshall

from deshred.arrangement import AtspInstance, arrange_atsp, read_atsp
from deshred.errors import InputError
from tests.commands import run

DATA = Path(__file__).parents[1] / "data"

# p43 (5620) and the rbg instances are not here: the first takes a third of a minute, the others are large
OPTIMA = {
    "br17": 39,
    "ftv33": 1286,
    "ftv35": 1473,
    "ftv38": 1530,
    "ftv44": 1613,
    "ftv47": 1776,
    "ftv55": 1608,
    "ftv64": 1839,
    "ftv70": 1950,
    "ftv170": 2755,
    "ry48p": 14422,
    "ft53": 6905,
    "ft70": 38673,
    "kro124p": 36230,
}

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


@pytest.mark.parametrize(
    "line", [" " * 200_000, "x" * 200_000, "x " * 100_000, "x:" * 100_000, ":" * 200_000]
)
def test_a_long_line_takes_no_time(tmp_path: Path, line: str) -> None:
    file = tmp_path / "long.atsp"
    for content in (
        f"{line}\nEDGE_WEIGHT_SECTION\n1",
        f"DIMENSION: 1\nEDGE_WEIGHT_SECTION\n{'1' * 200_000}x",
    ):
        file.write_text(content)
        with pytest.raises(InputError, match=r"(no number|not a number)"):
            read_atsp(file)


def br17():
    return np.array(BR17_DISTANCES)[np.ix_(BR17_KINDS, BR17_KINDS)]


def ways_through(name):
    starts, ends, lengths = np.loadtxt(DATA / f"{name}.roads", int).T
    roads = np.full((starts.max() + 1, starts.max() + 1), np.inf)
    roads[starts, ends] = lengths
    return floyd_warshall(roads).astype(int)


def part_of_ftv70(name):
    lines = map(str.split, (DATA / "ftv70.cities").read_text().splitlines())
    cities = next([int(city) for city in line[1:]] for line in lines if line[0] == name)
    return ways_through("ftv70")[np.ix_(cities, cities)]


def instance_file(name, folder):
    carried = DATA / f"{name}.atsp"
    if carried.exists():
        return carried
    if name == "br17":
        distances = br17()
    elif (DATA / f"{name}.roads").exists():
        distances = ways_through(name)
    else:
        distances = part_of_ftv70(name)
    return write(folder / f"{name}.atsp", distances, NAME=name)


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


@pytest.mark.parametrize(("name", "optimum"), OPTIMA.items())
def test_the_published_optimum_is_proven(name, optimum, tmp_path):
    file = instance_file(name, tmp_path)
    result = run("arrange", file, "--json", "-q")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["cost"] == found["bound"] == optimum
    assert found["optimal"]
    distances = read_atsp(file).distances
    cities = [int(city) - 1 for city in found["pages"][0]]
    assert sorted(cities) == list(range(len(distances)))
    assert length(distances, cities) == optimum


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
        ("TYPE: ATSP\nDIMENSION: 1\nEDGE_WEIGHT_SECTION\n1.2.3", "'1.2.3'"),
        ("TYPE: ATSP\nDIMENSION: 1\nEDGE_WEIGHT_SECTION\n1e308", "beyond"),
        ("TYPE:\nDIMENSION: no\nEDGE_WEIGHT_SECTION\n1", "DIMENSION is 'no'"),
    ],
)
def test_other_files_are_refused(tmp_path, text, complaint):
    path = tmp_path / "x.atsp"
    path.write_text(text)
    with pytest.raises(InputError, match=complaint):
        read_atsp(path)


def test_a_missing_file_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_atsp(tmp_path / "none.atsp")
