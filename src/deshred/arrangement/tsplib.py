"""TSPLIB `.atsp` files: the same solver on the instances the literature knows the optimum of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deshred.arrangement.exact import ExactSolver
from deshred.arrangement.heuristics import pages_of
from deshred.arrangement.problem.costs import DenseCosts, PageEnds
from deshred.arrangement.problem.deadlines import Deadline
from deshred.arrangement.problem.fixings import PageCount, fix
from deshred.arrangement.problem.scores import ScoreRange
from deshred.arrangement.proof.record import Limits, Progress
from deshred.elements import Certified, Constraints
from deshred.errors import InputError
from deshred.textfiles import read_file

_MOST_BYTES = 256 << 20  # some 6,000 cities
_LONGEST = 1e12  # beyond, double precision no longer tells tours apart


@dataclass(frozen=True, eq=False)
class AtspInstance:
    """Cities and the distances from row to column; the diagonal means nothing."""

    name: str
    distances: NDArray[np.float64]  # (n, n)

    def __repr__(self) -> str:
        return f"AtspInstance({self.name}, {len(self.distances)} cities)"


@dataclass(frozen=True)
class ClosedTour(Certified):
    """A tour that returns to its first city, city 0, and what is proven about its length."""

    cities: tuple[int, ...]
    cost: float
    bound: float
    tolerance: float = 1e-6


def read_atsp(path: Path) -> AtspInstance:
    """Read a TSPLIB file with a full matrix of explicit distances."""
    text = read_file(path, most_bytes=_MOST_BYTES).decode("ascii", errors="replace")
    header_text, found, rest = text.partition("EDGE_WEIGHT_SECTION")
    if not found:
        raise InputError(
            f"{path}: no EDGE_WEIGHT_SECTION, so this is not a TSPLIB file with explicit distances."
        )
    header = _parse_header(header_text)
    n = _dimension(path, header)
    words = rest.split("EOF")[0].split()
    try:
        values = np.array(words, float)
    except ValueError:
        wrong = next((word for word in words if not _is_number(word)), "something")
        raise InputError(f"{path}: {wrong[:40]!r} among the distances is not a number.") from None
    if len(values) != n * n:
        kind = "truncated" if len(values) < n * n else "longer than it says"
        raise InputError(
            f"{path}: {n} cities need {n * n} distances, the file holds {len(values)}: it is {kind}."
        )
    if not (np.abs(values) <= _LONGEST).all():
        raise InputError(f"{path}: a distance is not finite, or beyond {_LONGEST:g}.")
    return AtspInstance(header.get("NAME", path.stem), values.reshape(n, n))


def _parse_header(text: str) -> dict[str, str]:
    """The lines `KEY : value`; taken apart by hand, as a pattern takes the square of a long line."""
    parts = (line.partition(":") for line in text.splitlines())
    return {key.strip(): value.strip() for key, colon, value in parts if colon}


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _dimension(path: Path, header: Mapping[str, str]) -> int:
    kind, weights = header.get("TYPE") or "ATSP", header.get("EDGE_WEIGHT_FORMAT", "FULL_MATRIX")
    if kind.split()[0] not in ("ATSP", "TSP") or weights != "FULL_MATRIX":
        raise InputError(
            f"{path}: TYPE {kind} with {weights} distances; only ATSP with FULL_MATRIX can be read."
        )
    try:
        n = int(header["DIMENSION"])
    except (KeyError, ValueError):
        raise InputError(
            f"{path}: DIMENSION is {header.get('DIMENSION', 'missing')[:40]!r}, not a number."
        ) from None
    if n < 1:
        raise InputError(f"{path}: DIMENSION is {n}; there must be at least one city.")
    return n


def arrange_atsp(
    instance: AtspInstance, *, time_limit: float | None = None, progress: Progress | None = None
) -> ClosedTour:
    """The shortest closed tour: one page whose outside is the first city."""
    n = len(instance.distances)
    if n == 1:
        return ClosedTour((0,), 0.0, 0.0)
    deadline = Deadline.after(time_limit)
    inner = instance.distances[1:, 1:].copy()
    np.fill_diagonal(inner, inner.min())
    low, high = float(inner.min()), float(inner.max())
    pages = PageCount(1, 1)
    # joins must not be negative; every tour has n - 2 of them
    ends = PageEnds(instance.distances[0, 1:], instance.distances[1:, 0], (n - 2) * low)
    whole = bool((instance.distances == np.round(instance.distances)).all())
    costs = DenseCosts(low - inner, ends, pages, ScoreRange(0.0, low - high, 1.0 if whole else 0.0))
    limits = Limits(deadline=deadline)
    fixings = fix(tuple(map(str, range(1, n))), Constraints(), pages)
    solution = ExactSolver(costs.fix(fixings), limits, progress).solve()
    cities = (0, *(int(i) + 1 for i in pages_of(solution.tour, n - 1)[0]))
    return ClosedTour(cities, solution.cost + ends.constant, solution.bound + ends.constant)
