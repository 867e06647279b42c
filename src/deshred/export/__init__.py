"""What people take away: pages, text, PDF/A, tables, a case report, a sealed package, and checks of them.

`export` writes, `search` looks for words, `seal` and `verify` keep watch; `formats` lists one module each.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deshred.export.bags import seal as seal
    from deshred.export.casefiles import CaseFacts as CaseFacts
    from deshred.export.casefiles import read_case_facts as read_case_facts
    from deshred.export.exporting import Delivery as Delivery
    from deshred.export.exporting import export as export
    from deshred.export.exporting import export_searchable_pdf as export_searchable_pdf
    from deshred.export.finding import SearchResult as SearchResult
    from deshred.export.finding import save_cutouts as save_cutouts
    from deshred.export.finding import search as search
    from deshred.export.finding import search_all as search_all
    from deshred.export.material import FORMATS as FORMATS
    from deshred.export.material import ExportOptions as ExportOptions
    from deshred.export.searching import Hit as Hit
    from deshred.export.searching import SearchOptions as SearchOptions
    from deshred.export.verification import Verification as Verification
    from deshred.export.verification import verify as verify

_HOMES = {
    "FORMATS": "material",
    "CaseFacts": "casefiles",
    "Delivery": "exporting",
    "ExportOptions": "material",
    "Hit": "searching",
    "SearchOptions": "searching",
    "SearchResult": "finding",
    "Verification": "verification",
    "export": "exporting",
    "export_searchable_pdf": "exporting",
    "read_case_facts": "casefiles",
    "save_cutouts": "finding",
    "seal": "bags",
    "search": "finding",
    "search_all": "finding",
    "verify": "verification",
}

__all__ = [*_HOMES]


def __getattr__(name: str) -> object:
    """Import names on first use: who only wants the report loads no format."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
