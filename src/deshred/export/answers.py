"""A file of scores or a TSPLIB instance in, an answer to print out: what `deshred arrange` does."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from deshred.arrangement import ArrangementOptions, ClosedTour, arrange, arrange_atsp, read_atsp
from deshred.cases import load_compatibility
from deshred.compatibility.calibration import rate
from deshred.elements import Arrangement, Constraints
from deshred.errors import SettingsError
from deshred.executors import Progress


@dataclass(frozen=True)
class Answer:
    """The order found, and what is proven about it."""

    pages: tuple[tuple[str, ...], ...]
    found: Arrangement | ClosedTour

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        found = self.found
        proof: dict[str, Any] = {
            "cost": found.cost,
            "bound": found.bound,
            "gap": found.gap,
            "optimal": found.is_optimal,
        }
        if isinstance(found, Arrangement):
            proof |= {"joins": [asdict(join) for join in found.joins]}
            proof |= {"breaks": [asdict(one) for one in found.breaks]}
        return {"pages": self.pages, **proof}

    def to_text(self) -> str:
        """Lines to print."""
        found = self.found
        verdict = "proven optimal" if found.is_optimal else "not proven optimal"
        pages = [f"page {number}: {' '.join(page)}" for number, page in enumerate(self.pages, 1)]
        proof = f"cost {found.cost:.10g}, bound {found.bound:.10g}, gap {found.gap:.3g}: {verdict}"
        return "\n".join([*pages, proof])


def arrange_file(
    file: Path,
    constraints: Constraints = Constraints(),  # noqa: B008 - frozen
    *,
    options: ArrangementOptions = ArrangementOptions(),  # noqa: B008 - frozen
    progress: Progress | None = None,
) -> Answer:
    """Find the order of the scores in a file, or the shortest round trip of a TSPLIB instance."""
    if file.suffix.lower() != ".atsp":
        compatibility = load_compatibility(file)
        arrangement = arrange(compatibility, constraints, options=options, progress=progress)
        arrangement = rate(arrangement, compatibility)
        pages = tuple(tuple(slot.shred_id for slot in page) for page in arrangement.pages)
        return Answer(pages, arrangement)
    if constraints:
        raise SettingsError("--constraints are for shreds; a TSPLIB instance takes none.")
    instance = read_atsp(file)
    limit = options.limit_for(len(instance.distances))
    tour = arrange_atsp(instance, time_limit=limit, progress=progress)
    return Answer((tuple(str(city + 1) for city in tour.cities),), tour)  # TSPLIB counts from 1
