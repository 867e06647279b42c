"""Intact pages in, a mixed pile of shreds with its Truth out; saved as image files and `truth.json`.

Shreds are shuffled before they are numbered: no name and no order of files gives the answer away.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deshred.cases import Case, working_on
from deshred.elements import Image
from deshred.errors import InputError
from deshred.executors import Executor, Progress, default_executor
from deshred.imaging.decoding import encode_png
from deshred.imaging.scans import ScanOptions, flatten, load_scans, name_scans, to_working_resolution
from deshred.simulation.shredding import ShreddingOptions, SimulatedShred, shred_both_sides, shred_page
from deshred.simulation.truth import Place, Truth
from deshred.textfiles import read_json

TRUTH = "truth.json"
SHREDS = "shreds"
FRONT, BACK = "-front", "-back"  # how the names of two pictures of one shred end
_FORMAT = 1


@dataclass(frozen=True, eq=False)
class NamedPage:
    """An intact page; the name is the document that the truth speaks of."""

    name: str
    image: Image


@dataclass(frozen=True, eq=False)
class NamedSheet:
    """A sheet that is printed on both sides."""

    name: str
    front: Image
    back: Image


@dataclass(frozen=True, eq=False)
class LooseShred:
    """A simulated shred under a name that says nothing about its place."""

    name: str
    shred: SimulatedShred


@dataclass(frozen=True, eq=False)
class MixedPile:
    """Shuffled shreds of several pages, and where each belongs."""

    shreds: tuple[LooseShred, ...]
    truth: Truth


def shred_pages(
    pages: Sequence[NamedPage],
    rng: np.random.Generator,
    *,
    options: ShreddingOptions | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> MixedPile:
    """Shred every page and mix the shreds; the result does not depend on the executor."""
    cuts = (executor or default_executor()).map(
        lambda job: shred_page(job[0].image, job[1], options=options),
        list(zip(pages, rng.spawn(len(pages)), strict=True)),
        stage="shredding pages",
        progress=progress,
    )
    found = [
        (shred, Place(page.name, position, shred.shift))
        for page, cut in zip(pages, cuts, strict=True)
        for position, shred in enumerate(cut)
    ]
    digits = max(3, len(str(len(found))))
    names = [f"shred-{number:0{digits}d}" for number in range(1, len(found) + 1)]
    order = rng.permutation(len(found))
    return MixedPile(
        tuple(LooseShred(name, found[at][0]) for name, at in zip(names, order, strict=True)),
        Truth({name: found[at][1] for name, at in zip(names, order, strict=True)}),
    )


def shred_sheets(
    sheets: Sequence[NamedSheet], rng: np.random.Generator, *, options: ShreddingOptions | None = None
) -> MixedPile:
    """Shred sheets printed on both sides; the two pictures of a shred end in -front and -back.

    The truth knows the back of a sheet as a document of its own, whose shreds stand the other way round.
    """
    cuts = [shred_both_sides(sheet.front, sheet.back, rng, options=options) for sheet in sheets]
    found = [
        (shred, sheet.name, place, len(cut) - 1 - place)
        for sheet, cut in zip(sheets, cuts, strict=True)
        for place, shred in enumerate(cut)
    ]
    digits = max(3, len(str(len(found))))
    loose: list[LooseShred] = []
    places: dict[str, Place] = {}
    for number, at in enumerate(rng.permutation(len(found)).tolist(), 1):
        shred, sheet_name, place, behind = found[at]
        name = f"shred-{number:0{digits}d}"
        loose += [LooseShred(name + FRONT, shred.front), LooseShred(name + BACK, shred.back)]
        places[name + FRONT] = Place(sheet_name, place, shred.front.shift)
        places[name + BACK] = Place(f"{sheet_name} back", behind, shred.back.shift)
    return MixedPile(tuple(loose), Truth(places))


def worsen(
    pile: MixedPile, rng: np.random.Generator, *, turned: float = 0.5, missing: float = 0.1
) -> MixedPile:
    """The pile as real ones are: a share of the shreds lies upside down, a share is gone; with both sides."""
    shreds: list[LooseShred] = []
    places: dict[str, Place] = {}
    fates: dict[str, NDArray[np.bool_]] = {}
    for loose in pile.shreds:
        paper = loose.name.removesuffix(FRONT).removesuffix(BACK)
        if paper not in fates:
            fates[paper] = rng.random(2) < (missing, turned)
        is_missing, is_turned = fates[paper]
        if not is_missing:
            shreds.append(_turn(loose) if is_turned else loose)
            place = pile.truth.places[loose.name]
            places[loose.name] = replace(place, drop=None) if is_turned else place
    return MixedPile(tuple(shreds), Truth(places))


def _turn(loose: LooseShred) -> LooseShred:
    shred = loose.shred
    turned = replace(shred, image=shred.image[::-1, ::-1].copy(), mask=shred.mask[::-1, ::-1].copy())
    return replace(loose, shred=turned)


def shred_into(
    folder: str | Path,
    pages: Iterable[str | Path],
    *,
    options: ShreddingOptions | None = None,
    scans: ScanOptions | None = None,
    seed: int = 0,
    force: bool = False,
    progress: Progress | None = None,
) -> MixedPile:
    """Simulate shredding intact pages, and write the pile and its truth to a folder."""
    pages = list(pages)
    executor = default_executor()
    with working_on(folder, command="shred", force=force, inputs=pages) as case:
        intact = load_pages(pages, scans=scans, executor=executor, progress=progress)
        pile = shred_pages(intact, np.random.default_rng(seed), options=options, progress=progress)
        save_pile(pile, case, executor=executor, progress=progress)
    return pile


def load_pages(
    pages: Iterable[str | Path],
    *,
    scans: ScanOptions | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> list[NamedPage]:
    """Intact pages from files and folders, at 300 dpi and on white."""
    found = load_scans(pages, options=scans, executor=executor, progress=progress)
    return [
        NamedPage(name, to_working_resolution(replace(scan, image=flatten(scan))).image)
        for name, scan in zip(name_scans(found), found, strict=True)
    ]


def save_pile(
    pile: MixedPile,
    case: Case,
    *,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> None:
    """Write `shreds/*.png` with the outline as alpha, and `truth.json` beside the folder."""
    pngs = (executor or default_executor()).map(
        _encode, [loose.shred for loose in pile.shreds], stage="saving shreds", progress=progress
    )
    for loose, png in zip(pile.shreds, pngs, strict=True):
        case.write_bytes(f"{SHREDS}/{loose.name}.png", png)
    places = {
        name: {"document": place.document, "position": place.position, "drop": place.drop}
        for name, place in pile.truth.places.items()
    }
    case.write_json(TRUTH, {"format": _FORMAT, "shreds": places})


def _encode(shred: SimulatedShred) -> bytes:
    return encode_png(shred.image, shred.mask)


def read_truth(file: str | Path) -> Truth:
    """The truth that `save_pile` wrote; its names are the ids that the shreds get when they are loaded."""
    file = Path(file)
    try:
        content = read_json(file)
        return Truth({name: _to_place(**place) for name, place in content["shreds"].items()})
    except (KeyError, TypeError, AttributeError):
        raise InputError(
            f"{file}: this is not a {TRUTH} that deshred wrote. Shred the pages again."
        ) from None


def _to_place(document: object, position: object, drop: object = None) -> Place:
    if not isinstance(document, str) or type(position) is not int or type(drop) not in (int, type(None)):
        raise TypeError("no place")
    return Place(document, position, drop)  # type: ignore[arg-type]
