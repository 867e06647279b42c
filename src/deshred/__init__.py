"""deshred puts strip-shredded paper back together: scans of shreds in, readable pages out."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from deshred.versions import VERSION as __version__

if TYPE_CHECKING:
    from deshred.arrangement import ArrangementOptions as ArrangementOptions
    from deshred.arrangement import arrange as arrange
    from deshred.blanks import anchor_blanks as anchor_blanks
    from deshred.cases import load_compatibility as load_compatibility
    from deshred.cases import load_constraints as load_constraints
    from deshred.cases import open_case as open_case
    from deshred.compatibility.lines import weigh_lines as weigh_lines
    from deshred.compatibility.models import list_models as list_models
    from deshred.compatibility.pairwise.training import train_pairwise as train_pairwise
    from deshred.compatibility.refinement import refine as refine
    from deshred.compatibility.scorers import load_scorer as load_scorer
    from deshred.compatibility.scoring import score as score
    from deshred.compatibility.towers.teaching import teach as teach
    from deshred.compatibility.towers.training import train_towers as train_towers
    from deshred.doctor import examine as examine
    from deshred.elements import Arrangement as Arrangement
    from deshred.elements import Compatibility as Compatibility
    from deshred.elements import Constraints as Constraints
    from deshred.elements import Page as Page
    from deshred.elements import Pile as Pile
    from deshred.elements import Scan as Scan
    from deshred.elements import Shred as Shred
    from deshred.elements import ShredSet as ShredSet
    from deshred.errors import DeshredError as DeshredError
    from deshred.evaluation.collections import open_collection as open_collection
    from deshred.evaluation.demo import run_demo as run_demo
    from deshred.evaluation.protocol import evaluate as evaluate
    from deshred.export.answers import arrange_file as arrange_file
    from deshred.export.cutouts import segment_into as segment_into
    from deshred.export.explanations import explain as explain
    from deshred.export.finding import search as search
    from deshred.export.results import reconstruct_into as reconstruct_into
    from deshred.export.results import reopen as reopen
    from deshred.export.verification import verify as verify
    from deshred.gathering import gather as gather
    from deshred.imaging.composition import compose as compose
    from deshred.imaging.intakes import load_shreds as load_shreds
    from deshred.imaging.preparation import prepare as prepare
    from deshred.imaging.scans import load_scans as load_scans
    from deshred.imaging.sheets.segmentation import segment as segment
    from deshred.pipeline import Reconstruction as Reconstruction
    from deshred.pipeline import rearrange as rearrange
    from deshred.pipeline import reconstruct as reconstruct
    from deshred.pipeline import rescore as rescore
    from deshred.settings import Settings as Settings
    from deshred.settings import read_settings as read_settings
    from deshred.simulation.piles import shred_into as shred_into


_HOMES = {
    "Arrangement": "deshred.elements",
    "ArrangementOptions": "deshred.arrangement",
    "Compatibility": "deshred.elements",
    "Constraints": "deshred.elements",
    "DeshredError": "deshred.errors",
    "Page": "deshred.elements",
    "Pile": "deshred.elements",
    "Reconstruction": "deshred.pipeline",
    "Scan": "deshred.elements",
    "Settings": "deshred.settings",
    "Shred": "deshred.elements",
    "ShredSet": "deshred.elements",
    "anchor_blanks": "deshred.blanks",
    "arrange": "deshred.arrangement",
    "arrange_file": "deshred.export.answers",
    "compose": "deshred.imaging.composition",
    "evaluate": "deshred.evaluation.protocol",
    "examine": "deshred.doctor",
    "explain": "deshred.export.explanations",
    "gather": "deshred.gathering",
    "list_models": "deshred.compatibility.models",
    "load_compatibility": "deshred.cases",
    "load_constraints": "deshred.cases",
    "load_scans": "deshred.imaging.scans",
    "load_scorer": "deshred.compatibility.scorers",
    "load_shreds": "deshred.imaging.intakes",
    "open_case": "deshred.cases",
    "open_collection": "deshred.evaluation.collections",
    "prepare": "deshred.imaging.preparation",
    "read_settings": "deshred.settings",
    "rearrange": "deshred.pipeline",
    "rescore": "deshred.pipeline",
    "reconstruct": "deshred.pipeline",
    "reconstruct_into": "deshred.export.results",
    "refine": "deshred.compatibility.refinement",
    "reopen": "deshred.export.results",
    "run_demo": "deshred.evaluation.demo",
    "score": "deshred.compatibility.scoring",
    "search": "deshred.export.finding",
    "segment": "deshred.imaging.sheets.segmentation",
    "segment_into": "deshred.export.cutouts",
    "shred_into": "deshred.simulation.piles",
    "teach": "deshred.compatibility.towers.teaching",
    "train_pairwise": "deshred.compatibility.pairwise.training",
    "train_towers": "deshred.compatibility.towers.training",
    "verify": "deshred.export.verification",
    "weigh_lines": "deshred.compatibility.lines",
}

__all__ = [*_HOMES, "__version__"]


def __getattr__(name: str) -> object:
    """Import public names on first use: `import deshred` stays quick and loads nothing heavy."""
    if name not in _HOMES:
        raise AttributeError(f"module 'deshred' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
