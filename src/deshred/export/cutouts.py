"""Segmented sheets in, a folder of shreds out: `shreds/*.png` with alpha, `shreds.json`, `overviews/`."""

from __future__ import annotations

from collections.abc import Sequence

from deshred.executors import Executor, Progress, default_executor
from deshred.imaging.decoding import encode_png
from deshred.imaging.scans import Sheet
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
    shreds = [(sheet, shred) for sheet in sheets for shred in sheet.segmentation.shreds]
    pngs = executor.map(
        lambda entry: encode_png(entry[1].image, entry[1].mask, dpi=entry[1].dpi),
        shreds,
        stage="saving shreds",
        progress=progress,
    )
    for (sheet, shred), png in zip(shreds, pngs, strict=True):
        run.write_bytes(f"shreds/{rename(shred.id, sheet)}.png", png)
    for sheet in sheets:
        run.write_bytes(f"overviews/{sheet.name}.png", encode_png(sheet.overview))
    run.write_json(INDEX, {"sheets": [describe_sheet(sheet) for sheet in sheets]})


def describe_sheet(sheet: Sheet) -> dict[str, object]:
    """What `shreds.json` says about one sheet, with the names the files have."""
    content = sheet.segmentation.as_json()
    shreds = [{**shred, "id": rename(shred["id"], sheet)} for shred in content["shreds"]]
    return {**content, "shreds": shreds, "overview": f"overviews/{sheet.name}.png"}


def list_warnings(sheet: Sheet) -> list[str]:
    """What is doubtful on a sheet, and about shreds of it: one line for all that share it."""
    shreds: dict[str, list[str]] = {}
    for cutout in sheet.segmentation.cutouts:
        for warning in cutout.warnings:
            shreds.setdefault(warning, []).append(cutout.id.rpartition("#")[2])
    of_shreds = [f"{', '.join(numbers)}: {warning}" for warning, numbers in shreds.items()]
    return [*sheet.segmentation.warnings, *of_shreds]


def rename(shred_id: str, sheet: Sheet) -> str:
    """Sheets of the same stem in different folders have longer names, and so have their shreds."""
    return f"{sheet.name}#{shred_id.rpartition('#')[2]}"
