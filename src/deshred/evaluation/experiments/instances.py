"""A collection in, the piles of the published protocol out: windows of a sequence, shreds shuffled."""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from deshred.elements import ShredSet
from deshred.errors import InputError, SettingsError
from deshred.evaluation.collections import (
    Collection,
    Document,
    KnownPile,
    open_collection,
    read_document,
)
from deshred.evaluation.protocol import Window, list_windows
from deshred.executors import Executor
from deshred.imaging.binarization import BlankOptions, is_blank
from deshred.options import option
from deshred.simulation.truth import Place, Truth

PAPER_RULE = BlankOptions(rule="paper")


def sequence_documents(documents: Sequence[Document], seed: int) -> tuple[Document, ...]:
    """The authors' random sequence: names in order, shuffled by Python's generator."""
    names = sorted(documents, key=lambda document: document.name)
    random.Random(seed).shuffle(names)
    return tuple(names)


@dataclass(frozen=True, kw_only=True)
class ExperimentOptions:
    """What all experiments have in common."""

    seeds: tuple[int, ...] = option((0,), "Seeds for the sequence of documents.", metavar="N,...")
    documents: int | None = option(None, "Take this many documents of each collection.", shown="all")
    again: bool = option(False, "Measure again what OUT already holds.")
    jobs: int | None = option(None, "Processors to use.", shown="all")

    def __post_init__(self) -> None:
        if not self.seeds or min(self.seeds) < 0:
            raise SettingsError(f"seeds must be at least 0, and at least one, got {self.seeds}.")
        if self.documents is not None and self.documents < 1:
            raise SettingsError(f"documents must be at least 1, got {self.documents}.")


def open_documents(folder: Path, seed: int, count: int | None) -> Collection:
    """A collection, or only the first documents of its random sequence."""
    collection = open_collection(folder)
    if count is None:
        return collection
    sequence = sequence_documents(collection.documents, seed)
    return collection.select(sorted(document.name for document in sequence[:count]))


def list_ks(documents: int) -> tuple[int, ...]:
    """How many documents the paper mixes: 1 to 5, then every fifth number, and all."""
    ks = {k for k in (1, 2, 3, 4, 5, *range(10, documents, 5), documents) if k <= documents}
    return tuple(sorted(ks))


def spread_windows(documents: int, k: int, most: int | None) -> list[Window]:
    """All windows of k documents; where there are more than `most`, so many of them, evenly spread."""
    windows = list_windows(documents, k)
    if most is None or len(windows) <= most:
        return windows
    return [windows[i] for i in np.linspace(0, len(windows) - 1, most).round().astype(int).tolist()]


@dataclass(frozen=True, eq=False)
class Instance:
    """A mixed pile in random order, and the truth about it."""

    shreds: ShredSet
    truth: Truth
    documents: tuple[str, ...]


class Bench:
    """The documents of a collection in sequence; the latest ones stay in memory, without blank shreds."""

    def __init__(self, collection: Collection, *, seed: int, executor: Executor, keep: int = 6) -> None:
        self.collection = collection
        self.documents = sequence_documents(collection.documents, seed)
        self.seed = seed
        self._executor = executor
        self._keep = keep
        self._read: OrderedDict[str, KnownPile] = OrderedDict()

    def mix(self, window: Window) -> Instance:
        """The shreds of a window; shuffled, so that no tie can leak their order."""
        piles = [self._recall(document) for document in self.documents[window.start : window.stop]]
        shreds = [shred for pile in piles for shred in pile.shreds]
        rng = np.random.default_rng([self.seed, window.start, window.stop])
        places: dict[str, Place] = {}
        for pile in piles:
            places |= pile.truth.places
        names = tuple(document.name for document in self.documents[window.start : window.stop])
        return Instance(ShredSet([shreds[i] for i in rng.permutation(len(shreds))]), Truth(places), names)

    def _recall(self, document: Document) -> KnownPile:
        if document.name not in self._read:
            known = read_document(document, executor=self._executor)
            inked = ShredSet([shred for shred in known.shreds if not is_blank(shred, options=PAPER_RULE)])
            if len(inked) < 2:
                raise InputError(f"{document.folder}: a document needs at least 2 shreds with ink.")
            self._read[document.name] = KnownPile(inked, known.truth.restrict(inked.ids))
        self._read.move_to_end(document.name)
        while len(self._read) > self._keep:
            self._read.popitem(last=False)
        return self._read[document.name]
