"""A Reconstruction in, its run folder out: pages, `arrangement.json`, `report.html`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from deshred.elements import Constraints, Join, Page, Shred, Slot, Source
from deshred.executors import Executor, Progress, default_executor
from deshred.export.cutouts import list_warnings
from deshred.export.report import Overview, render_report
from deshred.imaging.decoding import encode_png
from deshred.pipeline import Reconstruction, reconstruct
from deshred.settings import Settings
from deshred.store import ARRANGEMENT, FORMAT, REPORT, RunFolder, page_name
from deshred.versions import installed_versions


def reconstruct_into(
    folder: str | Path,
    inputs: Iterable[str | Path],
    *,
    constraints: Constraints | None = None,
    settings: Settings | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Reconstruction:
    """Reconstruct files and folders into a run folder; an interrupted run goes on where it stopped."""
    settings = settings or Settings()
    executor = default_executor(settings.jobs)
    inputs = list(inputs)
    run = RunFolder.open(folder, force=force)
    run.keep_apart(inputs)
    try:
        reconstruction = reconstruct(
            inputs,
            constraints=constraints,
            settings=settings,
            executor=executor,
            progress=progress,
            store=run,
        )
        save_run(reconstruction, run, executor=executor, progress=progress)
    finally:
        run.leave()
    return reconstruction


def save_run(
    reconstruction: Reconstruction,
    run: RunFolder,
    *,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> None:
    """Write everything a run shows, the arrangement last but one and the mark of completion last."""
    pngs = (executor or default_executor()).stream(_encode_page, reconstruction.pages)
    for number, png in enumerate(pngs, 1):
        run.write_page(number, png)
        if progress:
            progress("saving pages", number, len(reconstruction.pages))
    overviews = [
        Overview(sheet.name, sheet.overview, list_warnings(sheet)) for sheet in reconstruction.sheets
    ]
    report = render_report(reconstruction, provenance=_provenance(reconstruction), overviews=overviews)
    run.write_text(REPORT, report)
    run.write_json(ARRANGEMENT, describe_run(reconstruction))
    run.finish()


def describe_run(reconstruction: Reconstruction) -> dict[str, Any]:
    """What `arrangement.json` holds: the answer, what is proven about it, and what it was made from."""
    arrangement = reconstruction.arrangement
    shreds = {shred.id: shred for shred in reconstruction.shreds}
    joins = {join.left: join for join in arrangement.joins}
    return {
        "format": FORMAT,
        "summary": reconstruction.summary(),
        "pages": [
            _describe_page(number, slots, page, shreds, joins)
            for number, (slots, page) in enumerate(
                zip(arrangement.pages, reconstruction.pages, strict=True), 1
            )
        ],
        "breaks": [
            {
                "after": one.after,
                "before": one.before,
                "price": one.price,
                "probability": one.probability,
            }
            for one in arrangement.breaks
        ],
        "sheets": [
            {
                "name": sheet.name,
                "shreds": len(sheet.segmentation.shreds),
                "warnings": list_warnings(sheet),
            }
            for sheet in reconstruction.sheets
        ],
        "blank": [_describe_shred(shred) for shred in reconstruction.blank],
        "cost": arrangement.cost,
        "bound": arrangement.bound,
        "gap": arrangement.gap,
        "optimal": arrangement.is_optimal,
        "constraints": _describe_constraints(reconstruction.constraints),
        "scorer": asdict(reconstruction.scorer),
        "seed": reconstruction.settings.seed,
        "settings": reconstruction.settings.to_dict(),
        "inputs": _list_inputs(reconstruction.sources),
        "versions": installed_versions(),
        "seconds": dict(reconstruction.seconds),
    }


def _describe_constraints(constraints: Constraints) -> dict[str, list[Any]]:
    """Those that say something, as `load_constraints` reads them."""
    joins = {name: sorted(map(list, getattr(constraints, name))) for name in ("required", "forbidden")}
    shreds = {name: sorted(getattr(constraints, name)) for name in ("first", "last")}
    groups = {name: sorted(map(sorted, getattr(constraints, name))) for name in ("together", "apart")}
    return {name: held for name, held in {**joins, **shreds, **groups}.items() if held}


def _provenance(reconstruction: Reconstruction) -> dict[str, str]:
    settings = reconstruction.settings
    inputs = _list_inputs(reconstruction.sources)
    return {
        "scorer": reconstruction.scorer.name,
        "model": reconstruction.scorer.model or "none",
        "SHA-256 of the model": reconstruction.scorer.model_sha256 or "none",
        "solver": settings.arrangement.solver,
        "seed": str(settings.seed),
        "input files": f"{len(inputs)}; their SHA-256 are in {ARRANGEMENT}",
        "versions": ", ".join(f"{name} {number}" for name, number in installed_versions().items()),
    }


def _describe_page(
    number: int, slots: tuple[Slot, ...], page: Page, shreds: dict[str, Shred], joins: dict[str, Join]
) -> dict[str, Any]:
    places = {placement.shred_id: placement for placement in page.placements}
    return {
        "number": number,
        "image": page_name(number),
        "shreds": [
            {
                **_describe_shred(shreds[slot.shred_id]),
                "offset": slot.offset,
                "x": places[slot.shred_id].x,
                "y": places[slot.shred_id].y,
            }
            for slot in slots
        ],
        "joins": [_describe_join(joins[slot.shred_id]) for slot in slots[:-1]],
    }


def _describe_shred(shred: Shred) -> dict[str, Any]:
    source = shred.source
    return {"id": shred.id, "source": str(source.path), "frame": source.frame, "number": source.number}


def _describe_join(join: Join) -> dict[str, Any]:
    return {
        "left": join.left,
        "right": join.right,
        "score": join.score,
        "offset": join.offset,
        "probability": join.probability,
        "verdict": join.verdict,
        "price": join.price,
    }


def _list_inputs(sources: Iterable[Source]) -> list[dict[str, str]]:
    digests = {str(source.path): source.sha256 for source in sources}
    return [{"path": path, "sha256": digest} for path, digest in sorted(digests.items())]


def _encode_page(page: Page) -> bytes:
    return encode_png(page.image, dpi=page.dpi)
