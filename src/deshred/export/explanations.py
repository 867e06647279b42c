"""A finished case and the network of the paper in; a page with its activation maps over the joins out."""

from __future__ import annotations

from pathlib import Path

from deshred.cases import open_case
from deshred.compatibility.pairwise.explanation import draw_joins, map_joins
from deshred.compatibility.pairwise.scorer import PairwiseScorer
from deshred.errors import InputError
from deshred.executors import Executor, Progress
from deshred.export.results import reopen
from deshred.imaging.decoding import encode_png


def explain(
    folder: str | Path,
    number: int,
    scorer: PairwiseScorer | None = None,
    *,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Path:
    """Tint the joins of one page of a finished case, and save the picture in its folder."""
    scorer = scorer or PairwiseScorer()
    done = reopen(folder, executor=executor, progress=progress)
    if not 1 <= number <= len(done.pages):
        raise InputError(f"{folder}: there is no page {number}. It has pages 1 to {len(done.pages)}.")
    page = done.pages[number - 1]
    picture = draw_joins(page, map_joins(page, done.shreds, scorer))
    name = f"explanations/page-{number:03d}.png"
    return open_case(folder).write_bytes(name, encode_png(picture, dpi=page.dpi))
