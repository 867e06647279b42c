"""The case folder: what `-o` names. Inputs, artefacts by key, a journal, and what people look at.

The only state there is. Resume, add, review and export are the same act: look up what is there by its key,
compute what is missing, append to the journal.
"""

from deshred.cases.case import (
    ARRANGEMENT,
    CASE,
    COMPATIBILITY,
    INPUTS,
    JOURNAL,
    PAGES,
    REPORT,
    REVIEWS,
    RUN_AGAIN,
    STORE,
    Case,
    find_case,
    open_case,
    page_name,
    working_on,
)
from deshred.cases.folders import Folder
from deshred.cases.journal import Entry, Journal, JournalCheck
from deshred.cases.locks import lock
from deshred.cases.records import (
    load_compatibility,
    load_constraints,
    save_compatibility,
)
from deshred.cases.remotes import RemoteStore, open_store
from deshred.cases.store import (
    Arrays,
    FolderStore,
    LayeredStore,
    MemoryStore,
    PricedStore,
    ReadOnlyStore,
    SharedStore,
    Store,
)
from deshred.cases.writing import describe_write_failure, to_json, write_atomically, writing

__all__ = [
    "ARRANGEMENT",
    "CASE",
    "COMPATIBILITY",
    "INPUTS",
    "JOURNAL",
    "PAGES",
    "REPORT",
    "REVIEWS",
    "RUN_AGAIN",
    "STORE",
    "Arrays",
    "Case",
    "Entry",
    "Folder",
    "FolderStore",
    "Journal",
    "JournalCheck",
    "LayeredStore",
    "MemoryStore",
    "PricedStore",
    "ReadOnlyStore",
    "RemoteStore",
    "SharedStore",
    "Store",
    "describe_write_failure",
    "find_case",
    "load_compatibility",
    "load_constraints",
    "lock",
    "open_case",
    "open_store",
    "page_name",
    "save_compatibility",
    "to_json",
    "working_on",
    "write_atomically",
    "writing",
]
