"""A public collection on disk in; its documents, each as a ShredSet and its Truth, out.

A collection is a folder of documents, a document a folder with `strips/` and, where the outline is
known, `masks/`. The last two digits of a file name are the place of the shred in its page: they are
read here, into the Truth, and by nobody else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deshred.elements import Shred, ShredSet
from deshred.errors import InputError
from deshred.executors import Executor
from deshred.imaging.files import SHRED_FOLDERS
from deshred.imaging.intakes import load_shreds
from deshred.imaging.scans import ScanOptions
from deshred.simulation.truth import Place, Truth
from deshred.textfiles import read_json

CATALOG = "documents.json"


@dataclass(frozen=True)
class Document:
    """One shredded page of a collection, not read yet."""

    name: str
    folder: Path
    kind: str | None = None  # letter, form, ...; where the collection says so


@dataclass(frozen=True, eq=False)
class KnownPile:
    """Shreds, and what is known about them."""

    shreds: ShredSet
    truth: Truth


@dataclass(frozen=True)
class Collection:
    """A folder of documents; shreds are read when asked for."""

    folder: Path
    documents: tuple[Document, ...]

    @property
    def name(self) -> str:
        return self.folder.resolve().name

    def __len__(self) -> int:
        return len(self.documents)

    def __iter__(self) -> Iterator[Document]:
        return iter(self.documents)

    def select(self, names: Sequence[str]) -> Collection:
        """Only these documents, in this order."""
        known = {document.name: document for document in self.documents}
        missing = [name for name in names if name not in known]
        if missing:
            raise InputError(
                f"{self.folder}: there is no document {', '.join(missing)}. It has {', '.join(known)}."
            )
        return Collection(self.folder, tuple(known[name] for name in dict.fromkeys(names)))


def open_collection(folder: str | Path) -> Collection:
    """Find the documents of a collection, sorted by name."""
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder. Give the folder of a collection.")
    kinds = _read_kinds(folder / CATALOG)
    documents = tuple(
        Document(entry.name, entry, kinds.get(entry.name))
        for entry in sorted(folder.iterdir())
        if any((entry / name).is_dir() for name in SHRED_FOLDERS)
    )
    if not documents:
        raise InputError(
            f"{folder}: found no documents. A collection holds a folder per document, with strips/ in it."
        )
    return Collection(folder, documents)


def read_document(
    document: Document, *, options: ScanOptions | None = None, executor: Executor | None = None
) -> KnownPile:
    """Load the shreds of a document; their truth comes apart from them."""
    loaded = load_shreds([document.folder], options=options, executor=executor)
    shreds = ShredSet([_rename(shred, document) for shred in loaded])
    places = {shred.id: Place(document.name, _position(shred)) for shred in shreds}
    if len({place.position for place in places.values()}) != len(places):
        raise InputError(
            f"{document.folder}: two shreds have the same place. "
            "The last two digits of their file names must count them from left to right."
        )
    return KnownPile(shreds, Truth(places))


def _rename(shred: Shred, document: Document) -> Shred:
    """Ids stay unique when documents are mixed, also where every document counts its files from 01."""
    if shred.id.startswith(document.name):
        return shred
    return Shred(f"{document.name}/{shred.id}", shred.image, shred.mask, shred.dpi, shred.source)


def _position(shred: Shred) -> int:
    # published names have slips of the keyboard behind the number, such as D00709]
    digits = re.search(r"(\d\d)\D?$", shred.source.path.stem)
    if digits is None:
        raise InputError(
            f"{shred.source.path}: the name does not end in two digits, so the true place of this shred "
            "is unknown. Use reconstruct for shreds without a known answer."
        )
    return int(digits[1])


def _read_kinds(catalog: Path) -> dict[str, str | None]:
    if not catalog.is_file():
        return {}
    try:
        content: dict[str, dict[str, Any]] = read_json(catalog)
        return {name: entry.get("kind") for name, entry in content.items()}
    except AttributeError as error:
        raise InputError(
            f"{catalog}: cannot be read ({error}). It maps each document to its kind; remove it to go on."
        ) from None
