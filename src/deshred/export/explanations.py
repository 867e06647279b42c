"""A finished run and the network of the paper in; a page with its activation maps over the joins out.

The shreds are read again from the files of the run, which must not have changed.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from deshred.compatibility.pairwise.explanation import draw_joins, map_joins
from deshred.compatibility.pairwise.scorer import PairwiseScorer
from deshred.elements import Page, Placement, ShredSet, Source
from deshred.errors import InputError, MismatchError
from deshred.executors import Executor, Progress
from deshred.imaging.decoding import encode_png
from deshred.imaging.intakes import load_intake
from deshred.imaging.scans import hash_file, read_scans
from deshred.settings import settings_from
from deshred.store import ARRANGEMENT, RunFolder, page_name, read_arrangement


def explain_run(
    folder: str | Path,
    number: int,
    scorer: PairwiseScorer,
    *,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Path:
    """Tint the joins of one page of a finished run, and save the picture in its folder."""
    folder = Path(folder)
    content = read_arrangement(folder)
    try:
        pages = content["pages"]
        if not 1 <= number <= len(pages):
            raise InputError(f"{folder}: there is no page {number}. It has pages 1 to {len(pages)}.")
        described = pages[number - 1]
        shreds = reload_shreds(content, described, executor=executor, progress=progress)
        page = _reload_page(folder / page_name(number), described)
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{folder / ARRANGEMENT}: the file is damaged ({type(error).__name__}: {error}). "
            "Run reconstruct --force again."
        ) from error
    picture = draw_joins(page, map_joins(page, shreds, scorer))
    run = RunFolder(folder, command="reconstruct", resumes=False)
    return run.write_bytes(f"explanations/page-{number:03d}.png", encode_png(picture, dpi=page.dpi))


def reload_shreds(
    content: dict[str, Any],
    page: dict[str, Any],
    *,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> ShredSet:
    """The shreds of a page of `arrangement.json`, with the ids they had in the run."""
    settings = settings_from(content["settings"], "arrangement.json")
    files = dict.fromkeys(shred["source"] for shred in page["shreds"])
    digests = {entry["path"]: entry["sha256"] for entry in content["inputs"]}
    for file in files:
        if hash_file(Path(file)) != digests[file]:
            raise MismatchError(f"{file}: has changed since the run. Reconstruct it again.")
    intake = load_intake(
        files,
        options=settings.scans,
        segmentation=settings.segmentation,
        executor=executor,
        progress=progress,
    )
    # Fewer files may need shorter names, so ids can differ from the run's; this does not.
    found = {replace(shred.source, sha256=""): shred for shred in intake.shreds}
    shreds = []
    for entry in page["shreds"]:
        key = Source(Path(entry["source"]), "", entry["frame"], entry["number"])
        if key not in found:
            raise MismatchError(f"{entry['source']}: no longer shows {entry['id']}. Reconstruct it again.")
        shreds.append(replace(found[key], id=entry["id"]))
    return ShredSet(shreds)


def _reload_page(file: Path, described: dict[str, Any]) -> Page:
    scan = read_scans(file)[0]
    placements = tuple(Placement(shred["id"], shred["x"], shred["y"]) for shred in described["shreds"])
    return Page(scan.image, np.ones(scan.image.shape[:2], np.bool_), placements, scan.dpi)
