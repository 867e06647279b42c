"""Segmented sheets in, a folder of shreds out: `shreds/*.png` with alpha, `shreds.json`, `overviews/`."""

from __future__ import annotations

from collections.abc import Sequence

from deshred.executors import Executor, Progress, default_executor
from deshred.imaging.decoding import encode_png
from deshred.imaging.intakes import Sheet
from deshred.store import RunFolder

INDEX = "shreds.json"


def save_cutouts(
    sheets: Sequence[Sheet],
    run: RunFolder,
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
        run.write_bytes(f"shreds/{shred.id}.png", png)
    for sheet in sheets:
        run.write_bytes(f"overviews/{sheet.name}.png", encode_png(sheet.overview))
    run.write_json(INDEX, {"sheets": [describe_sheet(sheet) for sheet in sheets]})


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
