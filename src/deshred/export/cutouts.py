"""Scanned sheets in, a folder of shreds out: `shreds/*.png` with alpha, `shreds.json`, `overviews/`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from deshred.cases import Case, working_on
from deshred.executors import Executor, Progress, default_executor
from deshred.imaging.decoding import encode_png
from deshred.imaging.intakes import Sheet
from deshred.runs import Run
from deshred.settings import Settings

INDEX = "shreds.json"


def segment_into(
    folder: str | Path,
    sheets: Iterable[str | Path],
    *,
    settings: Settings | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> tuple[Sheet, ...]:
    """Cut the shreds out of scanned sheets, and write them to a folder."""
    settings = (settings or Settings()).change("scans.kind", "sheets")
    executor = default_executor(settings.jobs)
    sheets = list(sheets)
    with working_on(folder, command="segment", force=force, inputs=sheets) as case:
        intake = Run(settings, executor=executor, progress=progress).load(sheets)
        intake.refuse_no_sheets()
        save_cutouts(intake.sheets, case, executor=executor, progress=progress)
    return intake.sheets


def save_cutouts(
    sheets: Sequence[Sheet],
    case: Case,
    *,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> None:
    """Write every shred in the resolution of its scan, so that each pixel can be traced back to it."""
    executor = executor or default_executor()
    shreds = [shred for sheet in sheets for shred in sheet.segmentation.shreds]
    pngs = executor.map(
        lambda shred: encode_png(shred.image, shred.mask, dpi=shred.dpi),
        shreds,
        stage="saving shreds",
        progress=progress,
    )
    for shred, png in zip(shreds, pngs, strict=True):
        case.write_bytes(f"shreds/{shred.id}.png", png)
    for sheet in sheets:
        case.write_bytes(f"overviews/{sheet.name}.png", encode_png(sheet.overview))
    case.write_json(INDEX, {"sheets": [describe_sheet(sheet) for sheet in sheets]})


def describe_sheet(sheet: Sheet) -> dict[str, object]:
    """What `shreds.json` says about one sheet."""
    return {**sheet.segmentation.as_json(), "overview": f"overviews/{sheet.name}.png"}


def list_warnings(sheet: Sheet) -> list[str]:
    """What is doubtful on a sheet, and about shreds of it: one line for all that share it."""
    shreds: dict[str, list[str]] = {}
    for cutout in sheet.segmentation.cutouts:
        for warning in cutout.warnings:
            shreds.setdefault(warning, []).append(cutout.name.label)
    of_shreds = [f"{', '.join(numbers)}: {warning}" for warning, numbers in shreds.items()]
    return [*sheet.segmentation.warnings, *of_shreds]
