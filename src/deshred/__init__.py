"""deshred puts strip-shredded paper back together: scans of shreds in, readable pages out."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deshred.arrangement import ArrangementOptions as ArrangementOptions
    from deshred.arrangement import arrange as arrange
    from deshred.compatibility.scorers import load_scorer as load_scorer
    from deshred.compatibility.scoring import score as score
    from deshred.elements import Arrangement as Arrangement
    from deshred.elements import Compatibility as Compatibility
    from deshred.elements import Constraints as Constraints
    from deshred.elements import Page as Page
    from deshred.elements import Scan as Scan
    from deshred.elements import Shred as Shred
    from deshred.elements import ShredSet as ShredSet
    from deshred.errors import DeshredError as DeshredError
    from deshred.imaging.composition import compose as compose
    from deshred.imaging.intakes import load_shreds as load_shreds
    from deshred.imaging.scans import load_scans as load_scans
    from deshred.imaging.sheets.segmentation import segment as segment
    from deshred.pipeline import Reconstruction as Reconstruction
    from deshred.pipeline import reconstruct as reconstruct
    from deshred.settings import Settings as Settings
    from deshred.settings import read_settings as read_settings

__version__ = "0.1.0"

_HOMES = {
    "Arrangement": "deshred.elements",
    "ArrangementOptions": "deshred.arrangement",
    "Compatibility": "deshred.elements",
    "Constraints": "deshred.elements",
    "DeshredError": "deshred.errors",
    "Page": "deshred.elements",
    "Reconstruction": "deshred.pipeline",
    "Scan": "deshred.elements",
    "Settings": "deshred.settings",
    "Shred": "deshred.elements",
    "ShredSet": "deshred.elements",
    "arrange": "deshred.arrangement",
    "compose": "deshred.imaging.composition",
    "load_scans": "deshred.imaging.scans",
    "load_scorer": "deshred.compatibility.scorers",
    "load_shreds": "deshred.imaging.intakes",
    "read_settings": "deshred.settings",
    "reconstruct": "deshred.pipeline",
    "score": "deshred.compatibility.scoring",
    "segment": "deshred.imaging.sheets.segmentation",
}

__all__ = [*_HOMES, "__version__"]


def __getattr__(name: str) -> object:
    """Import public names on first use: `import deshred` stays quick and loads nothing heavy."""
    if name not in _HOMES:
        raise AttributeError(f"module 'deshred' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
