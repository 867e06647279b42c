"""Small reconstructions to export: their words and seams are known, so that every test owns its truth."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

import numpy as np

from deshred.compatibility.contract import ScorerCard
from deshred.elements import (
    Arrangement,
    Compatibility,
    Constraints,
    Join,
    Page,
    PageBreak,
    Pile,
    Placement,
    Seam,
    Shred,
    ShredSet,
    Slot,
    Source,
)
from deshred.export.material import Exporter, ExportOptions, Material
from deshred.export.pagefile import PageFile
from deshred.imaging.edges import EdgeOptions, LazyEdges
from deshred.imaging.sheets.looks import Decision
from deshred.pipeline import Reconstruction
from deshred.reading import Reading
from deshred.settings import Settings
from tests.reading.engines import write_line

WIDTH, HEIGHT = 60, 420
MADE = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
SOURCE = Source(Path("/home/somebody/scans/a.png"), "ab" * 32)


def make_shred(name: str, seed: int, width: int = WIDTH, height: int = HEIGHT) -> Shred:
    rng = np.random.default_rng(seed)
    image = np.where(rng.random((height, width, 1)) < 0.1, 40, 240).astype(np.uint8).repeat(3, axis=2)
    return Shred(name, image, np.ones((height, width), bool), 300.0, SOURCE)


def prepare_pile(shreds: ShredSet, blank: ShredSet) -> Pile:
    return Pile(shreds, LazyEdges(shreds, EdgeOptions()), blank)


def compose_page(shreds: list[Shred]) -> Page:
    """Shreds side by side, with straight seams."""
    image = np.hstack([shred.image for shred in shreds])
    places = tuple(Placement(shred.id, WIDTH * i, 0) for i, shred in enumerate(shreds))
    seams = tuple(
        Seam(left.id, right.id, np.full(HEIGHT, WIDTH * i, np.int32), np.full(HEIGHT, WIDTH * i, np.int32))
        for i, (left, right) in enumerate(itertools.pairwise(shreds), 1)
    )
    return Page(image, np.ones(image.shape[:2], bool), places, 300.0, seams=seams)


def make_reconstruction(
    pages: tuple[tuple[str, ...], ...] = (("a", "b", "c"), ("d", "e")),
    probabilities: tuple[float | None, ...] = (0.999, 0.4, 0.9),
    blank: tuple[str, ...] = ("x", "y"),
) -> Reconstruction:
    ids = [name for page in pages for name in page]
    shreds = ShredSet([make_shred(name, seed) for seed, name in enumerate(ids)])
    pairs = [pair for page in pages for pair in itertools.pairwise(page)]
    joins = tuple(
        Join(left, right, 1.5, 3, probability, 0.25)
        for (left, right), probability in zip(pairs, probabilities, strict=True)
    )
    slots = tuple(tuple(Slot(name, 0) for name in page) for page in pages)
    breaks = tuple(PageBreak(one[-1], two[0], 0.5, 0.97) for one, two in itertools.pairwise(pages))
    n = len(ids)
    return Reconstruction(
        pile=prepare_pile(shreds, ShredSet([make_shred(name, 99) for name in blank])),
        sheets=(),
        sources=(SOURCE,),
        decision=Decision(),
        compatibility=Compatibility(tuple(ids), np.zeros((n, n), np.float32), np.zeros((n, n), np.int16)),
        constraints=Constraints(),
        arrangement=Arrangement(slots, joins, breaks, 7.25, 7.25),
        pages=tuple(compose_page([shreds[shreds.index_of(name)] for name in page]) for page in pages),
        scorer=ScorerCard("towers", "f00"),
        settings=Settings(),
        seconds=MappingProxyType({"score": 3.0, "arrange": 1.0}),
    )


def make_readings(texts: tuple[str, ...] = ("Invoice 1850 paid", "Dear Sir"), confidence: float = 0.97):
    """Line by line: `|` begins the next line."""
    return tuple(
        Reading(
            tuple(
                write_line(line, left=10, top=30 + 40 * row, confidence=confidence)
                for row, line in enumerate(text.split("|"))
            ),
            "scripted 1",
            "eng",
            "0" * 64,
        )
        for text in texts
    )


def make_material(reconstruction: Reconstruction | None = None, **changes) -> Material:
    made = reconstruction or make_reconstruction()
    readings = make_readings(("Invoice 1850 paid", "Dear Sir")[: len(made.pages)])
    material = Material(made, PageFile.of(made.pages), readings, made=MADE)
    options = {name: changes.pop(name) for name in list(changes) if hasattr(ExportOptions, name)}
    return replace(material, options=ExportOptions(**options), **changes)


def leave_out_the_first(material: Material) -> Material:
    """The pages from the second on, which keep their numbers."""
    assert material.readings is not None
    numbers = tuple(range(2, len(material.pages) + 1))
    return replace(
        material, pages=PageFile.of(material.pages[1:]), readings=material.readings[1:], numbers=numbers
    )


def write_first(exporter: Exporter, material: Material) -> bytes:
    """The content of the first file; a large one is gone when the exporter is."""
    files = exporter(material)
    return next(files).content
