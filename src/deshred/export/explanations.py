"""A finished run and the network of the paper in; its pages with the activation map over each join out.

Green is where the network says that two shreds fit, red where they do not. The shreds are read again
from the files of the run, which must not have changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deshred.compatibility.pairwise import MAP_STEP, PairwiseScorer
from deshred.elements import Image, Shred
from deshred.errors import InputError, MismatchError
from deshred.executors import Executor, Progress
from deshred.imaging.decoding import encode_png
from deshred.imaging.edges import extract_edges
from deshred.imaging.scans import load_pile, read_scans
from deshred.settings import settings_from
from deshred.store import RunFolder, page_name, read_arrangement

GREEN = np.array([0, 160, 60], np.float32)
RED = np.array([220, 30, 30], np.float32)
STRENGTH = 0.65  # of the color over the page where the network is surest
HALF_WIDTH = 14  # px on either side of a join


@dataclass(frozen=True, eq=False)
class PlacedShred:
    """A shred and where the top left corner of its image lies in the page."""

    shred: Shred
    x: int
    y: int


@dataclass(frozen=True, eq=False)
class JoinMap:
    """What the network sees along one join, and where in the page that is."""

    values: NDArray[np.float32]  # above 0 fits, below does not; one per MAP_STEP rows
    top: int  # row of the page where the values begin
    seam: NDArray[np.int64]  # column of the page, for every row of the right shred
    seam_top: int


def explain_run(
    folder: str | Path,
    number: int,
    scorer: PairwiseScorer,
    *,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Path:
    """Draw the activation maps over one page of a finished run, and save the picture in its folder."""
    folder = Path(folder)
    content = read_arrangement(folder)
    pages = content["pages"]
    if not 1 <= number <= len(pages):
        raise InputError(f"{folder}: there is no page {number}. It has pages 1 to {len(pages)}.")
    described = pages[number - 1]
    placed = _place_shreds(content, described, executor, progress)
    maps = []
    for done, join in enumerate(described["joins"], 1):
        maps.append(map_join(placed[join["left"]], placed[join["right"]], join["offset"], scorer))
        if progress:
            progress("explaining", done, len(described["joins"]))
    page = read_scans(folder / page_name(number))[0].image
    run = RunFolder(folder, command="reconstruct", resumes=False)
    return run.write_bytes(f"explanations/page-{number:03d}.png", encode_png(draw_maps(page, maps)))


def map_join(left: PlacedShred, right: PlacedShred, offset: int, scorer: PairwiseScorer) -> JoinMap:
    """The activation map along a join; `offset` is how far the right shred is moved down, in px."""
    right_edge = extract_edges(left.shred, options=scorer.edge_options).right
    left_edge = extract_edges(right.shred, options=scorer.edge_options).left
    shift = offset - right_edge.top + left_edge.top  # edges are cut around the middle of their own shred
    values = scorer.map_join(right_edge, left_edge, shift)
    spare = (scorer.edge_options.rows - len(values) * MAP_STEP) // 2
    seam = right.x + right.shred.mask.argmax(axis=1)
    return JoinMap(values, left.y + right_edge.top + spare, seam, right.y)


def draw_maps(page: Image, maps: list[JoinMap]) -> Image:
    """The page with a colored band along each join."""
    picture = page.astype(np.float32)
    strongest = max((float(np.abs(one.values).max(initial=0.0)) for one in maps), default=0.0) or 1.0
    for one in maps:
        for row in range(len(one.seam)):
            y = one.seam_top + row
            step = (y - one.top) // MAP_STEP
            if not (0 <= y < len(picture) and 0 <= step < len(one.values)):
                continue
            value = float(one.values[step])
            weight = STRENGTH * min(1.0, abs(value) / strongest)
            start, stop = max(0, int(one.seam[row]) - HALF_WIDTH), int(one.seam[row]) + HALF_WIDTH
            band = picture[y, start:stop]
            band += weight * ((GREEN if value > 0 else RED) - band)
    return np.clip(np.rint(picture), 0, 255).astype(np.uint8)


def _place_shreds(
    content: dict[str, Any], page: dict[str, Any], executor: Executor | None, progress: Progress | None
) -> dict[str, PlacedShred]:
    settings = settings_from(content["settings"], "arrangement.json")
    files = list(dict.fromkeys(Path(shred["source"]) for shred in page["shreds"]))
    pile = load_pile(
        files,
        options=settings.scans,
        segmentation=settings.segmentation,
        executor=executor,
        progress=progress,
    )
    digests = {entry["path"]: entry["sha256"] for entry in content["inputs"]}
    for shred in pile.shreds:
        if digests.get(str(shred.source.path)) != shred.source.sha256:
            raise MismatchError(f"{shred.source.path}: has changed since the run. Reconstruct it again.")
    # Fewer files may need shorter names, so ids can differ from the run's; this does not.
    found = {_identify(str(shred.source.path), shred.source.frame, shred.id): shred for shred in pile.shreds}
    placed = {}
    for entry in page["shreds"]:
        shred = found.get(_identify(entry["source"], entry["frame"], entry["id"]))
        if shred is None:
            raise MismatchError(f"{entry['source']}: no longer shows {entry['id']}. Reconstruct it again.")
        placed[entry["id"]] = PlacedShred(shred, entry["x"], entry["y"])
    return placed


def _identify(source: str, frame: int, shred_id: str) -> tuple[str, int, str]:
    """The file, the frame, and on a sheet the number of the shred."""
    return source, frame, shred_id.rpartition("#")[2] if "#" in shred_id else ""
