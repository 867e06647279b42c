"""A Reconstruction in, what a case shows of it out: pages, `arrangement.json`, `report.html`; and back.

`describe` and `reopen` are each other's inverse: what one writes the other reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deshred.cases import (
    ARRANGEMENT,
    COMPATIBILITY,
    INPUTS,
    REPORT,
    STORE,
    Case,
    Folder,
    FolderStore,
    ReadOnlyStore,
    SharedStore,
    open_case,
    open_store,
    page_name,
    working_on,
)
from deshred.cases.records import pack_compatibility, unpack_compatibility
from deshred.cluster import connect
from deshred.elements import (
    Constraints,
    Join,
    Pile,
    Placement,
    Shred,
    ShredSet,
    Slot,
    Source,
)
from deshred.errors import InputError, MismatchError
from deshred.executors import Executor, Progress, default_executor
from deshred.export.cutouts import list_warnings
from deshred.export.encoding import encode_page
from deshred.export.recorded import Recorded, read_inputs, read_recorded
from deshred.export.report import Overview, PageView, PageViewer, render_report
from deshred.imaging.composition import LazyPages
from deshred.imaging.edges import EdgeOptions, LazyEdges
from deshred.imaging.files import find_files
from deshred.imaging.intakes import load_intake
from deshred.imaging.scans import digest, hash_file
from deshred.imaging.turning import turn_shred
from deshred.pipeline import Reconstruction, reconstruct
from deshred.runs import Run
from deshred.settings import Settings
from deshred.sides import pair_faces
from deshred.timing import Stopwatch
from deshred.versions import installed_versions

FORMAT = 2


def reconstruct_into(
    folder: str | Path,
    inputs: Iterable[str | Path],
    *,
    constraints: Constraints | None = None,
    settings: Settings | None = None,
    force: bool = False,
    add: bool = False,
    command: str = "",
    progress: Progress | None = None,
) -> Reconstruction:
    """Reconstruct files and folders into a case.

    An interrupted run continues where it stopped. With `add` these files join those that the case
    already has: only new joins are scored.
    """
    settings = settings or Settings()
    inputs = list(inputs)
    with (
        working_on(folder, command="reconstruct", force=force, add=add, inputs=inputs) as case,
        _open_executor(settings, store := _open_store(settings, case), progress) as executor,
    ):
        given = [*(_list_known_files(case) if add else []), *inputs]
        done = reconstruct(
            given,
            constraints=constraints,
            settings=settings,
            store=store,
            executor=executor,
            progress=progress,
        )
        files = list(find_files(given).files)
        return save_results(done, case, files=files, command=command, executor=executor, progress=progress)


def _open_store(settings: Settings, case: Case) -> SharedStore:
    """The store of the case, or one elsewhere; workers may run in other folders."""
    if settings.store is not None:
        return open_store(settings.store)
    return FolderStore(Folder(case.path.absolute()), STORE)


def _open_executor(
    settings: Settings, store: SharedStore, progress: Progress | None
) -> AbstractContextManager[Executor]:
    """The processors of this machine, or the workers of a cluster."""
    if settings.cluster is None:
        return nullcontext(default_executor(settings.jobs))
    return connect(settings.cluster, store, progress=progress)


def save_into(folder: str | Path, reconstruction: Reconstruction, *, force: bool = False) -> Path:
    """Write what `reconstruct` returned into a case of its own."""
    files = list(
        dict.fromkeys(shred.source.path for shred in (*reconstruction.shreds, *reconstruction.blank))
    )
    with working_on(folder, command="reconstruct", force=force, inputs=files) as case:
        save_results(reconstruction, case, files=files)
    return Path(folder)


def _list_known_files(case: Case) -> list[Path]:
    """The files of a case that is added to, which must be what they were."""
    if not case.folder.exists(INPUTS):
        return []
    known = read_inputs(case.read_json(INPUTS), case.path / INPUTS)
    paths = [case.resolve(file.path) for file in known]
    for path, file in zip(paths, known, strict=True):
        if hash_file(path) != file.sha256:
            raise MismatchError(
                f"{path}: has changed since it was read. Restore it, or reconstruct all with --force."
            )
    return paths


def save_results(
    reconstruction: Reconstruction,
    case: Case,
    *,
    files: Sequence[Path] = (),
    command: str = "",
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Reconstruction:
    """Write everything a case shows; the result knows how long that took."""
    watch = Stopwatch(dict(reconstruction.seconds))
    with watch.measure("compose"):
        views = _save_pages(reconstruction, case, executor or default_executor(), progress)
    with watch.measure("save"):
        digests = {str(source.path): source.sha256 for source in reconstruction.sources}
        listed = [{"path": case.relate(file), "sha256": digests.get(str(file))} for file in files]
        case.write_json(INPUTS, {"format": FORMAT, "files": listed})
        case.write_bytes(COMPATIBILITY, pack_compatibility(reconstruction.compatibility))
    with watch.measure("report"):
        overviews = [
            Overview(sheet.name, sheet.overview, list_warnings(sheet)) for sheet in reconstruction.sheets
        ]
        provenance = tell_provenance(reconstruction)
        report = render_report(
            reconstruction,
            provenance=provenance,
            overviews=overviews,
            made=datetime.now(UTC),
            command=command,
            views=views,
        )
        case.write_text(REPORT, report)
    reconstruction = replace(reconstruction, seconds=watch.seconds)
    case.write_json(ARRANGEMENT, describe(reconstruction, case))
    return reconstruction


@dataclass(frozen=True, eq=False)
class _Finished:
    """A page as it is kept: nothing of it is needed again."""

    png: bytes
    view: PageView


def _save_pages(
    reconstruction: Reconstruction, case: Case, executor: Executor, progress: Progress | None
) -> list[PageView]:
    """Compose, pack and show one page after the other, each while its pixels are at hand."""
    if not executor.shares_memory:  # all shreds would travel with every page
        executor = default_executor(reconstruction.settings.jobs)
    pages, viewer = reconstruction.pages, PageViewer(reconstruction)

    def finish(index: int) -> _Finished:
        page = pages.compose(index) if isinstance(pages, LazyPages) else pages[index]
        png = encode_page(page)
        return _Finished(png, viewer.view_page(page, index + 1, file_sha256=digest(png)))

    views = []
    for number, finished in enumerate(executor.stream(finish, range(len(pages))), 1):
        case.write_bytes(page_name(number), finished.png, sha256=finished.view.file_sha256)
        views.append(finished.view)
        if progress:
            progress("composing", number, len(pages))
    return views


def describe(reconstruction: Reconstruction, case: Case | None = None) -> dict[str, Any]:
    """What `arrangement.json` holds: the answer, what is proven about it, and what it was made from.

    Paths are relative to the case, or absolute.
    """
    arrangement = reconstruction.arrangement
    paths = _Paths(case)
    shreds = {shred.id: shred for shred in reconstruction.shreds}
    joins = {join.left: join for join in arrangement.joins}
    return {
        "format": FORMAT,
        "summary": reconstruction.summary(),
        "pages": [
            _describe_page(number, slots, placements, shreds, joins, paths)
            for number, (slots, placements) in enumerate(
                zip(arrangement.pages, reconstruction.placements, strict=True), 1
            )
        ],
        "breaks": [asdict(one) for one in arrangement.breaks],
        "sheets": [
            {
                "name": sheet.name,
                "shreds": len(sheet.segmentation.shreds),
                "warnings": list_warnings(sheet),
            }
            for sheet in reconstruction.sheets
        ],
        "blank": [_describe_shred(shred, paths) for shred in reconstruction.blank],
        "cost": arrangement.cost,
        "bound": arrangement.bound,
        "gap": arrangement.gap,
        "optimal": arrangement.is_optimal,
        "constraints": describe_constraints(reconstruction.constraints),
        "scorer": asdict(reconstruction.scorer),
        "settings": reconstruction.settings.to_dict(),
        "read_as": str(reconstruction.decision),
        "inputs": _list_inputs(reconstruction.sources, paths),
        "versions": installed_versions(),
        "seconds": dict(reconstruction.seconds),
    }


def describe_constraints(constraints: Constraints) -> dict[str, list[Any]]:
    """Those that say something, as `load_constraints` reads them."""
    plain: dict[str, list[Any]] = {}
    for name, held in vars(constraints).items():
        if held:
            plain[name] = sorted(item if isinstance(item, str) else _sorted_group(item) for item in held)
    return plain


def _sorted_group(group: tuple[str, ...] | frozenset[str]) -> list[str]:
    return list(group) if isinstance(group, tuple) else sorted(group)


class _Paths:
    """How paths are written: as the case records them, or absolute without one."""

    def __init__(self, case: Case | None) -> None:
        self._case = case

    def write(self, path: Path) -> str:
        return str(path.absolute()) if self._case is None else self._case.relate(path)


def tell_provenance(reconstruction: Reconstruction) -> dict[str, str]:
    """What a report says about how it was made."""
    return {
        "scorer": reconstruction.scorer.name,
        "model": reconstruction.scorer.model or "none",
        "SHA-256 of the model": reconstruction.scorer.model_sha256 or "none",
        "solver": reconstruction.settings.arrangement.solver,
        "input files": f"{len(reconstruction.sources)}; their SHA-256 are in {ARRANGEMENT}",
        "versions": ", ".join(f"{name} {number}" for name, number in installed_versions().items()),
    }


def _describe_page(
    number: int,
    slots: tuple[Slot, ...],
    placements: tuple[Placement, ...],
    shreds: dict[str, Shred],
    joins: dict[str, Join],
    paths: _Paths,
) -> dict[str, Any]:
    places = {placement.shred_id: placement for placement in placements}
    return {
        "number": number,
        "image": page_name(number),
        "shreds": [
            {
                **_describe_shred(shreds[slot.shred_id], paths),
                "offset": slot.offset,
                "x": places[slot.shred_id].x,
                "y": places[slot.shred_id].y,
            }
            for slot in slots
        ],
        "joins": [{**asdict(joins[a.shred_id]), "verdict": joins[a.shred_id].verdict} for a in slots[:-1]],
    }


def _describe_shred(shred: Shred, paths: _Paths) -> dict[str, Any]:
    source = {"source": paths.write(shred.source.path), "frame": shred.source.frame}
    return {"id": shred.id, **source, "turned": shred.is_turned}


def _list_inputs(sources: Iterable[Source], paths: _Paths) -> list[dict[str, str]]:
    digests = {paths.write(source.path): source.sha256 for source in sources}
    return [{"path": path, "sha256": digest} for path, digest in sorted(digests.items())]


def reopen(
    folder: str | Path, *, executor: Executor | None = None, progress: Progress | None = None
) -> Reconstruction:
    """Read a finished case back, without solving; its scans must not have changed.

    Pages are composed when they are asked for.
    """
    case = open_case(folder)
    if not (case.path / ARRANGEMENT).exists():
        raise InputError(f"{folder}: holds no reconstructed pages. Give the folder that reconstruct wrote.")
    executor = executor or default_executor()
    path = case.path / COMPATIBILITY
    compatibility = unpack_compatibility(case.read_bytes(COMPATIBILITY), path)
    recorded = read_recorded(case.read_json(ARRANGEMENT), compatibility.ids, case.path / ARRANGEMENT)
    sources = _check_inputs(case, recorded)
    intake = load_intake(
        [case.resolve(file.path) for file in read_inputs(case.read_json(INPUTS), case.path / INPUTS)],
        options=recorded.settings.scans,
        segmentation=recorded.settings.segmentation,
        budget=recorded.settings.budget,
        store=ReadOnlyStore(case.store),
        executor=executor,
        progress=progress,
    )
    found = [_find(intake.shreds, shred_id) for shred_id in compatibility.ids]
    shreds = ShredSet([turn_shred(shred) if shred.id in recorded.turned else shred for shred in found])
    blank = ShredSet([_find(intake.shreds, shred_id) for shred_id in recorded.blank])
    arrangement, settings = recorded.arrangement, recorded.settings
    pile = Pile(shreds, LazyEdges(shreds, EdgeOptions()), blank)
    pages = Run(settings).compose(pile, arrangement, compatibility)
    if settings.sides == "double":
        seen = Pile(intake.shreds, LazyEdges(intake.shreds, EdgeOptions()), ShredSet([]))
        pile = replace(pile, faces=pair_faces(seen))
    return Reconstruction(
        pile,
        intake.sheets,
        sources,
        intake.decision,
        compatibility,
        recorded.constraints,
        arrangement,
        pages,
        recorded.scorer,
        settings,
        recorded.seconds,
    )


def _check_inputs(case: Case, recorded: Recorded) -> tuple[Source, ...]:
    sources = []
    for file in recorded.inputs:
        path = case.resolve(file.path)
        if hash_file(path) != file.sha256:
            raise MismatchError(f"{path}: has changed since the run. Reconstruct it again.")
        sources.append(Source(path, file.sha256))
    return tuple(sources)


def _find(shreds: ShredSet, shred_id: str) -> Shred:
    try:
        return shreds[shreds.index_of(shred_id)]
    except MismatchError:
        raise MismatchError(f"the scans no longer show {shred_id}. Reconstruct them again.") from None
