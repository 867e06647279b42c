"""Is this installation well? Versions, optional parts and how to get them, and a tiny reconstruction."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from deshred.elements import ShredSet
from deshred.errors import DeshredError
from deshred.reading.engines import EngineFound, list_engines
from deshred.versions import find_version, installed_versions

SEED = 7
SHREDS = 8


@dataclass(frozen=True)
class OptionalPart:
    """Something deshred can use but does not need."""

    name: str
    package: str
    purpose: str
    remedy: str

    @property
    def version(self) -> str | None:
        """The installed version, or None."""
        return find_version(self.package)


OPTIONAL_PARTS = (
    OptionalPart("PyTorch", "torch", "deshred train", "pip install 'deshred[train]'"),
    OptionalPart("ONNX", "onnx", "deshred train", "pip install 'deshred[train]'"),
    OptionalPart("matplotlib", "matplotlib", "plots", "pip install 'deshred[plots]'"),
    OptionalPart("pikepdf", "pikepdf", "deshred export --as pdf", "pip install 'deshred[pdf]'"),
    OptionalPart("reportlab", "reportlab", "deshred export --as report", "pip install 'deshred[pdf]'"),
    OptionalPart("Starlette", "starlette", "deshred review", "pip install 'deshred[review]'"),
    OptionalPart("Dask", "distributed", "--cluster", "pip install 'deshred[cluster]'"),
)


@dataclass(frozen=True)
class Check:
    """One thing that was tried."""

    name: str
    passed: bool
    detail: str


@dataclass(frozen=True)
class Diagnosis:
    """What `deshred doctor` found."""

    versions: dict[str, str]
    optional: tuple[OptionalPart, ...]
    engines: tuple[EngineFound, ...]  # that read pages
    checks: tuple[Check, ...]

    @property
    def is_well(self) -> bool:
        """Whether everything that is needed works; optional parts may be missing."""
        return all(check.passed for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "well": self.is_well,
            "versions": self.versions,
            "optional": {part.name: part.version for part in self.optional},
            "engines": {engine.name: engine.languages for engine in self.engines if not engine.remedy},
            "checks": [asdict(check) for check in self.checks],
        }

    def to_text(self) -> str:
        """Lines to print."""
        lines = [f"{name:<24} {number}" for name, number in self.versions.items()]
        lines += [
            f"{part.name:<24} {part.version or f'missing, only for {part.purpose}: {part.remedy}'}"
            for part in self.optional
        ]
        lines += [f"{engine.name:<24} {_tell_engine(engine)}" for engine in self.engines]
        lines += [
            f"{check.name:<24} {'ok' if check.passed else 'FAILED'}: {check.detail}" for check in self.checks
        ]
        lines.append("Everything works." if self.is_well else "Something does not work: see above.")
        return "\n".join(lines)


def _tell_engine(engine: EngineFound) -> str:
    if engine.remedy:
        return f"missing: {engine.remedy}"
    return f"{engine.version}, reads {', '.join(engine.languages) or 'nothing yet'}"


def examine() -> Diagnosis:
    """Look at the installation and try it."""
    checks = (_try("models", _check_models), _try("tiny reconstruction", _check_reconstruction))
    return Diagnosis(installed_versions(), OPTIONAL_PARTS, list_engines(), checks)


def draw_tiny_pile() -> ShredSet:
    """The top of a drawn page in a few simulated shreds, in their true order."""
    from deshred.simulation.drawing import draw_page
    from deshred.simulation.shredding import Damage, ShreddingOptions, shred_page

    mild = Damage(fray=0.3)  # half a page must be enough for every scorer
    rng = np.random.default_rng(SEED)
    page = draw_page("letter", rng)[:1600, 200:1400]
    shreds = shred_page(page, rng, options=ShreddingOptions(shreds=SHREDS, damage=mild))
    return ShredSet([one.to_shred(f"tiny-{number}") for number, one in enumerate(shreds)])


def _check_models() -> str:
    from deshred.compatibility.models import try_models

    tried = try_models()
    if not tried:
        raise DeshredError("none shipped; the package is incomplete. Install it again.")
    for model in tried:
        if model.problem:
            raise DeshredError(model.problem)
    return f"{', '.join(model.name for model in tried)}: opened and run"


def _check_reconstruction() -> str:
    from deshred.arrangement import ArrangementOptions
    from deshred.pipeline import reconstruct
    from deshred.settings import Settings

    start = time.perf_counter()
    pile = draw_tiny_pile()
    shuffled = ShredSet([pile[int(i)] for i in np.random.default_rng(SEED).permutation(len(pile))])
    done = reconstruct(shuffled, settings=Settings(arrangement=ArrangementOptions(pages=1)))
    if done.arrangement.order != pile.ids:
        raise DeshredError(f"the order is {', '.join(done.arrangement.order)}, which is wrong.")
    return f"{len(pile)} drawn shreds in the right order in {time.perf_counter() - start:.1f} s"


def _try(name: str, check: Callable[[], str]) -> Check:
    try:
        return Check(name, True, check())
    except Exception as error:  # a broken installation can fail in any way, and saying how is the point
        return Check(name, False, f"{type(error).__name__}: {error}")
