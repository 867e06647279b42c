"""Check whether a new run of a case, or of the record of an export, gives the same result.

The same scans, settings and statements of people go in. Pixels are compared, not files: PNG bytes change with
the library that packs them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from deshred.cases import ARRANGEMENT, INPUTS, Case
from deshred.cases.records import read_constraints
from deshred.elements import Constraints, Copy, Page
from deshred.errors import InputError, MismatchError, SettingsError
from deshred.executors import Progress
from deshred.export.copies import Taken, take_pages
from deshred.export.encoding import hash_pixels
from deshred.imaging.files import find_files
from deshred.imaging.scans import hash_file, read_scans
from deshred.pipeline import reconstruct
from deshred.settings import Settings, settings_from

Place = tuple[int, int]  # column and row of a shred on its page


@dataclass(frozen=True)
class ToldPage:
    """A page as it was handed over: shreds from left to right, their places, the SHA-256 of the pixels."""

    number: int
    shreds: tuple[str, ...]
    places: tuple[Place, ...]
    pixels: str


@dataclass(frozen=True)
class Told:
    """What must come out again, and what went in."""

    pages: tuple[ToldPage, ...]
    copy: Copy
    settings: Settings
    constraints: Constraints
    files: tuple[Path, ...]


@dataclass(frozen=True)
class Repetition:
    """What a new run says differently, each empty where it says the same."""

    order: str
    offsets: str
    pixels: str


def recall_case(case: Case) -> Told:
    """What a finished case says, with the scans where they lay."""
    content, inputs = case.read_json(ARRANGEMENT), case.read_json(INPUTS)
    try:
        pages = [
            _recall(page, page["shreds"], "id", _hash_picture(case.folder.locate(page["image"])))
            for page in content["pages"]
        ]
        files = tuple(case.resolve(entry["path"]) for entry in inputs["files"])
        return Told(tuple(pages), "evidence", *_read_question(content, case.path / ARRANGEMENT), files)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{case.path / ARRANGEMENT}: the file is damaged ({error}).") from None


def recall_record(record: Mapping[str, Any], scans: Sequence[Path]) -> Told:
    """What the record of an export says; the scans that it names must be among those given."""
    try:
        wanted = {entry["sha256"] for entry in record["inputs"]}
        pages = [_recall(page, page["shreds"], "shred_id", page["pixels_sha256"]) for page in record["pages"]]
        if record["copy"] not in get_args(Copy):
            raise ValueError(f"there is no copy {record['copy']!r}")
        kept = record["copy"], *_read_question(record, "the record")
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"the record is damaged ({type(error).__name__}: {error}).") from None
    found = {hash_file(file): file for file in find_files(scans).files}
    if not wanted <= found.keys():
        raise MismatchError("not all scans of the record are there. Give their folder with --inputs.")
    return Told(tuple(pages), *kept, tuple(file for digest, file in found.items() if digest in wanted))


def repeat(told: Told, *, progress: Progress | None = None) -> Repetition:
    """Reconstruct again from the scans, and compare."""
    made = reconstruct(
        told.files,
        constraints=told.constraints,
        settings=told.settings,
        progress=progress,
    )
    try:
        numbers = [page.number for page in told.pages]
        seen = list(take_pages(made, told.copy, numbers, use=_tell, progress=progress))
    except SettingsError as error:
        return Repetition(str(error), "", "")
    again = [replace(page, number=number) for page, number in zip(seen, numbers, strict=True)]
    return Repetition(*(_compare(told.pages, again, what) for what in ("shreds", "places", "pixels")))


def _read_question(content: Mapping[str, Any], where: object) -> tuple[Settings, Constraints]:
    """What a run was asked, which a stranger may have written."""
    settings, constraints = content["settings"], content["constraints"]
    if not isinstance(settings, Mapping) or not isinstance(constraints, Mapping):
        raise TypeError("settings and constraints are tables")
    return settings_from(settings, str(where)), read_constraints(constraints, where)


def _recall(page: Mapping[str, Any], shreds: Sequence[Mapping[str, Any]], name: str, pixels: str) -> ToldPage:
    return ToldPage(
        int(page["number"]),
        tuple(str(one[name]) for one in shreds),
        tuple((int(one["x"]), int(one["y"])) for one in shreds),
        pixels,
    )


def _hash_picture(file: Path) -> str:
    scan = read_scans(file)[0]
    return hash_pixels(Page(scan.image, scan.image[..., 0] >= 0, (), scan.dpi))


def _tell(taken: Taken) -> ToldPage:
    page = taken.page
    places = tuple((one.x, one.y) for one in page.placements)
    return ToldPage(0, tuple(one.shred_id for one in page.placements), places, hash_pixels(page))


def _compare(told: Sequence[ToldPage], again: Sequence[ToldPage], what: str) -> str:
    pages = zip(told, again, strict=True)
    differing = [str(one.number) for one, other in pages if getattr(one, what) != getattr(other, what)]
    return f"different on page {', '.join(differing)}" if differing else ""
