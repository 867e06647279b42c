"""Files and folders in; the pile of shreds that they show out, with the sheets, and how they were read.

Each file is read once and treated as it looks; all are decided upon together, and the few that were guessed
otherwise are read again. No more is in memory at a time than the budget allows.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import cv2
import numpy as np

from deshred.budgets import Budget, MemoryGate
from deshred.cases import SharedStore, Store
from deshred.cases.store import make_key
from deshred.elements import Image, Scan, Shred, ShredSet, Source
from deshred.errors import InputError, OutputError
from deshred.executors import Executor, Progress, SerialExecutor
from deshred.imaging.decoding import decode
from deshred.imaging.files import Skipped, find_files, find_mask, name_files, warn_of_unread
from deshred.imaging.formats import is_risky
from deshred.imaging.scans import (
    DoubtfulScan,
    DoubtfulScanWarning,
    ScanFile,
    ScanOptions,
    describe_complaint,
    digest,
    know_by_files,
    name_frame,
    open_scans,
    refuse_growth,
    to_shred,
    to_working_resolution,
    with_mask,
)
from deshred.imaging.sheets.cutouts import Segmentation
from deshred.imaging.sheets.keeping import is_known_photo, note_photo, segment_once
from deshred.imaging.sheets.looks import Decision, Look, Showing, decide, decide_as_told, look_at
from deshred.imaging.sheets.overview import draw_overview
from deshred.imaging.sheets.photos import straighten_photo
from deshred.imaging.sheets.segmentation import SegmentationOptions, refuse_blank
from deshred.textfiles import read_file

_BYTES_PER_PIXEL = 30  # of a sheet while it is segmented: measured 24, and the decoder's own copy
_FINEST_DPI = 600.0  # of a sheet: the shreds are used at 300, and a finer one takes gigabytes
_COARSE_DPI = 150.0
_SHEET_PIXELS = 2_000_000  # a sheet at 150 dpi; a shred at 300 has half a million
_KEPT = "scan 1"  # part of keys
_MAIN_SHARE = 2.0  # times larger than any other shred is the one that a crop is of


@dataclass(frozen=True, eq=False)
class Sheet:
    """A sheet that shreds were cut out of; its overview is small, the scan itself is not kept."""

    name: str
    segmentation: Segmentation
    overview: Image


@dataclass(frozen=True, eq=False)
class Intake:
    """All shreds that were given, the sheets that some of them lay on, and the files they were read from."""

    shreds: ShredSet
    sheets: tuple[Sheet, ...]
    sources: tuple[Source, ...] = ()  # each file once, with masks and blank sheets
    decision: Decision = field(default_factory=Decision)
    skipped: tuple[Skipped, ...] = ()  # files that lay beside the others and were not read

    def refuse_no_sheets(self) -> None:
        """Files that are single shreds already are an error where shreds are to be cut out."""
        if not self.sheets:
            raise InputError(
                f"{self.sources[0].path}: no sheet among the files, so there is nothing to cut out: each is "
                "a single shred already, with a mask beside it. Give them to reconstruct."
            )


def load_shreds(
    paths: Iterable[str | Path],
    *,
    options: ScanOptions | None = None,
    budget: Budget | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> ShredSet:
    """All shreds in files and folders as one mixed pile at 300 dpi; sheets are segmented."""
    return load_intake(paths, options=options, budget=budget, executor=executor, progress=progress).shreds


def load_intake(
    paths: Iterable[str | Path],
    *,
    options: ScanOptions | None = None,
    segmentation: SegmentationOptions | None = None,
    budget: Budget | None = None,
    store: Store | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Intake:
    """All shreds in files and folders as one mixed pile at 300 dpi, with the sheets they lay on.

    Sheets whose cut-outs lie in the store are not cut again.
    """
    found = find_files(paths)
    warn_of_unread(found)
    budget = budget or Budget()
    executor = executor or SerialExecutor()
    recipe = _Recipe(
        options or ScanOptions(),
        segmentation or SegmentationOptions(),
        budget,
        MemoryGate(budget.memory_bytes),
        store if executor.shares_memory else None,  # another machine does not see it
    )
    named = [_Named(file, name) for file, name in zip(found.files, name_files(found.files), strict=True)]
    if progress is not None:
        progress("reading", 0, len(named))  # the first sheet may take seconds
    guessed = executor.map(partial(_load_file, recipe=recipe), named, stage="reading", progress=progress)
    decision = _decide(guessed, recipe)
    read = _read_again(named, guessed, replace(recipe, decision=decision), executor)
    _warn_of_doubts(read)
    intake = _gather(read, decision, found.skipped)
    if not intake.shreds:  # a blank sheet among others is no error, a pile of nothing is
        refuse_blank([sheet.segmentation for sheet in intake.sheets], options=segmentation)
    return intake


def cut_ahead(
    paths: Iterable[str | Path],
    *,
    options: ScanOptions | None = None,
    segmentation: SegmentationOptions | None = None,
    budget: Budget | None = None,
    store: SharedStore,
    executor: Executor,
    progress: Progress | None = None,
) -> None:
    """Let others cut the sheets among files: `load_intake` then finds the cut-outs in the store.

    Files that they do not see are put into the store by content. Single shreds stay here: to read one takes
    no longer than to fetch its pixels (docs/cluster.md). What is wrong with a file `load_intake` will say.
    """
    options, budget = options or ScanOptions(), budget or Budget()
    if options.kind == "shreds":
        return
    files = [file.absolute() for file in find_files(paths).files]
    sheets = [file for file in files if _is_large(file, options, budget)]
    if not sheets:
        return
    firsts = {file.parent: file for file in reversed(sheets)}
    is_seen = executor.sees(list(firsts.values()))
    gate = MemoryGate(budget.memory_bytes)
    recipe = _Recipe(options, segmentation or SegmentationOptions(), budget, gate, store)
    errands = (_Errand(file, None if is_seen else _keep_scan(file, store, budget)) for file in sheets)
    for done, _ in enumerate(executor.stream(partial(_cut, recipe=recipe), errands), 1):
        if progress is not None:
            progress(executor.tell("cutting"), done, len(sheets))


def _is_large(file: Path, options: ScanOptions, budget: Budget) -> bool:
    """Whether a file may show a sheet."""
    try:
        if find_mask(file) is not None:
            return False
        content = read_file(file, most_bytes=budget.memory_bytes)
        if is_risky(content):
            return True
        frames = decode(content, file, max_pixels=int(options.max_megapixels * 1e6))  # no pixels yet
    except InputError:
        return False
    return frames.count * frames.most_pixels >= _SHEET_PIXELS


@dataclass(frozen=True)
class _Errand:
    """A file to be cut elsewhere, and the SHA-256 that the store has it under where it is not seen."""

    file: Path
    sha256: str | None


def _keep_scan(file: Path, store: Store, budget: Budget) -> str | None:
    """Put a file into the store, unless it has it."""
    try:
        content = read_file(file, most_bytes=budget.memory_bytes)
    except InputError:  # it went away; loading will say so
        return None
    sha256 = digest(content)
    if _find_scan(sha256, store) is None:
        store.save(make_key(_KEPT, sha256), {"content": np.frombuffer(content, np.uint8)})
    return sha256


def _find_scan(sha256: str, store: Store) -> bytes | None:
    """The file that a store has under its SHA-256; None when it has none, or another."""
    kept = store.load(make_key(_KEPT, sha256)) or {}
    content = kept["content"].tobytes() if "content" in kept else b""
    return content if digest(content) == sha256 else None


def _cut(errand: _Errand, *, recipe: _Recipe) -> None:
    content = None
    if errand.sha256 is not None:
        assert isinstance(recipe.store, SharedStore)
        content = _find_scan(errand.sha256, recipe.store)
        if content is None:
            raise OutputError(
                f"{recipe.store.address}: {errand.file} was put into the store and is not there as it was. "
                "Check that every machine reaches the store and that nothing else writes there; then run the "
                "same command: it continues."
            )
    try:
        _load_file(_Named(errand.file, errand.file.name, content), recipe)
    except InputError:  # found again when the file is loaded, where people look
        return


@dataclass(frozen=True)
class _Named:
    file: Path
    name: str
    content: bytes | None = None  # None: as the file has it


@dataclass(frozen=True)
class _Recipe:
    """How files are read."""

    options: ScanOptions
    segmentation: SegmentationOptions
    budget: Budget
    gate: MemoryGate
    store: Store | None = None  # of cut-outs
    decision: Decision | None = None  # None: not known yet


@dataclass(frozen=True, eq=False)
class _Read:
    """One scan, or what became of it."""

    look: Look
    showing: Showing
    shreds: tuple[Shred, ...]
    sheet: Sheet | None
    sources: tuple[Source, ...]
    dpi: float
    complaint: str = ""
    meaningless_dpi: float | None = None


def _load_file(named: _Named, recipe: _Recipe) -> tuple[_Read, ...]:
    """The shreds of one file, as soon as there is room for its largest picture."""
    file = open_scans(named.file, options=recipe.options, budget=recipe.budget, content=named.content)
    need = _BYTES_PER_PIXEL * file.most_pixels
    if need > recipe.budget.memory_bytes:
        raise InputError(
            f"{named.file}: {file.most_pixels / 1e6:.0f} megapixels take about {need / 1e9:.1f} GB, more "
            f"than the budget of {recipe.budget.memory_bytes / 1e9:.1f} GB. Scan at 300 dpi, in parts, or "
            "raise --memory."
        )
    mask_file = find_mask(named.file) if named.content is None else None
    with recipe.gate.hold(need):
        if mask_file is not None:
            return (_load_with_mask(named, file, mask_file, recipe),)
        return tuple(_load_scans(named.name, file, recipe))


def _load_with_mask(named: _Named, file: ScanFile, mask_file: Path, recipe: _Recipe) -> _Read:
    if file.count > 1:
        raise InputError(
            f"{named.file}: has {file.count} frames but one mask, {mask_file}. Save each frame as a file."
        )
    (one,) = file.scans
    content = read_file(mask_file, most_bytes=recipe.budget.memory_bytes)
    scan = to_working_resolution(with_mask(one.scan, content, mask_file), options=recipe.options)
    sources = (file.source, Source(mask_file, digest(content)))
    shred = know_by_files(to_shred(scan, named.name), f"{one.scan.dpi!r}", sources[1].sha256)
    return _Read(
        Look(pieces=1), "shred", (shred,), None, sources, one.scan.dpi, one.complaint, one.meaningless_dpi
    )


def _load_scans(name: str, file: ScanFile, recipe: _Recipe) -> Iterator[_Read]:
    for number, one in enumerate(file.scans):
        yield _load_scan(name_frame(name, number, file.count), one, file.source, recipe)


def _load_scan(name: str, one: DoubtfulScan, source: Source, recipe: _Recipe) -> _Read:
    look = Look() if recipe.options.kind != "auto" else look_at(one.scan, options=recipe.segmentation)
    showing = _treat(look, recipe)
    taken = _take(name, one.scan, showing, recipe)
    return _Read(
        look, showing, taken.shreds, taken.sheet, (source,), one.scan.dpi, one.complaint, one.meaningless_dpi
    )


def _treat(look: Look, recipe: _Recipe) -> Showing:
    if recipe.options.kind != "auto":
        return "sheet" if recipe.options.kind == "sheets" else "shred"
    return look.guess if recipe.decision is None else recipe.decision.treat(look)


@dataclass(frozen=True, eq=False)
class _Taken:
    """The shreds of a scan, and the scan itself where it is a sheet."""

    shreds: tuple[Shred, ...]
    sheet: Sheet | None = None


def _take(name: str, scan: Scan, showing: Showing, recipe: _Recipe) -> _Taken:
    if showing == "shred":
        shred = to_shred(to_working_resolution(scan, options=recipe.options), name)
        return _Taken((know_by_files(shred, f"{scan.dpi!r}"),))
    if showing == "crop":
        return _take_crop(name, scan, recipe)
    refuse_growth(scan, recipe.options)
    scan = _coarsen(scan)
    photographed = _take_photo(name, scan, recipe) if is_known_photo(scan, store=recipe.store) else None
    return photographed or _take_scan(name, scan, recipe)


def _take_scan(name: str, scan: Scan, recipe: _Recipe) -> _Taken:
    try:
        found = segment_once(
            scan, name=name, options=recipe.segmentation, store=recipe.store, allow_blank=True
        )
    except InputError:
        photographed = _take_photo(name, scan, recipe)
        if photographed is None:
            raise
        return photographed
    photographed = _take_photo(name, scan, recipe, found) if found.shreds or found.scraps else None
    return photographed or _take_sheet(name, scan, found, recipe)


def _take_photo(name: str, scan: Scan, recipe: _Recipe, found: Segmentation | None = None) -> _Taken | None:
    """The shreds of a sheet in a photo that shows the table as well; None when that is not it.

    What was found by taking the picture for a scan is wrong if it lies on the table.
    """
    ground = None
    if found is not None and found.shreds:
        if found.background is None:  # transparent: nothing lies around
            return None
        ground = found.background.color
    photo = straighten_photo(scan, ground=ground)
    if photo is None:
        return None
    straight = photo.scan if recipe.options.dpi is None else replace(photo.scan, dpi=recipe.options.dpi)
    try:
        found = segment_once(straight, name=name, options=recipe.segmentation, store=recipe.store)
    except InputError:
        return None
    note_photo(scan, store=recipe.store)
    found = replace(found, warnings=(*found.warnings, photo.note))
    return _take_sheet(name, straight, found, recipe)


def _take_crop(name: str, scan: Scan, recipe: _Recipe) -> _Taken:
    """The shred that a crop is of, without its surroundings; as it is, where they cannot be told from it."""
    options = recipe.segmentation
    if options.background is None and recipe.decision is not None:
        options = replace(options, background=recipe.decision.background)  # as the other crops have it
    try:
        found = segment_once(scan, name=name, options=options, store=recipe.store, allow_blank=True)
    except InputError:
        return _take(name, scan, "shred", recipe)
    areas = [cutout.area for cutout in found.cutouts]
    if not areas:
        return _take(name, scan, "shred", recipe)
    main = int(np.argmax(areas))
    if sorted([0, *areas])[-2] * _MAIN_SHARE > areas[main]:  # a small sheet, after all
        return _take_sheet(name, scan, found, recipe)
    shred = replace(found.shreds[main], id=name, source=scan.source)
    return _Taken((_to_working_shred(shred, recipe.options),))


def _take_sheet(name: str, scan: Scan, found: Segmentation, recipe: _Recipe) -> _Taken:
    shreds = tuple(_to_working_shred(shred, recipe.options) for shred in found.shreds)
    return _Taken(shreds, Sheet(name, found, draw_overview(scan, found)))


def _to_working_shred(shred: Shred, options: ScanOptions) -> Shred:
    cut = Scan(shred.image, shred.dpi, shred.source, shred.mask)
    return to_shred(to_working_resolution(cut, options=options), shred.id)


def _coarsen(scan: Scan) -> Scan:
    """A very fine sheet with whole blocks of pixels averaged."""
    factor = int(np.ceil(scan.dpi / _FINEST_DPI - 0.01))
    if factor <= 1:
        return scan
    height, width = (side // factor * factor for side in scan.image.shape[:2])
    size = (width // factor, height // factor)
    image = np.asarray(cv2.resize(scan.image[:height, :width], size, interpolation=cv2.INTER_AREA), np.uint8)
    mask = None if scan.mask is None else scan.mask[:height:factor, :width:factor]
    return Scan(image, scan.dpi / factor, scan.source, mask)


def _decide(guessed: Sequence[tuple[_Read, ...]], recipe: _Recipe) -> Decision:
    looks = [read.look for file in guessed for read in file]
    if recipe.options.kind != "auto":
        return decide_as_told(looks, recipe.options.kind)
    return decide(looks, options=recipe.segmentation)


def _read_again(
    named: Sequence[_Named], guessed: Sequence[tuple[_Read, ...]], recipe: _Recipe, executor: Executor
) -> list[tuple[_Read, ...]]:
    """What was read, with those files read again that by themselves looked otherwise than they are."""
    read = list(guessed)
    wrong = [i for i, file in enumerate(read) if any(one.showing != _treat(one.look, recipe) for one in file)]
    again = executor.map(partial(_load_file, recipe=recipe), [named[i] for i in wrong])
    for i, file in zip(wrong, again, strict=True):
        read[i] = file
    return read


def _gather(read: Iterable[tuple[_Read, ...]], decision: Decision, skipped: tuple[Skipped, ...]) -> Intake:
    scans = [one for file in read for one in file]
    shreds = ShredSet([shred for one in scans for shred in one.shreds])
    sheets = tuple(one.sheet for one in scans if one.sheet is not None)
    sources = tuple(dict.fromkeys(source for one in scans for source in one.sources))
    return Intake(shreds, sheets, sources, decision, skipped)


def _warn_of_doubts(read: Iterable[tuple[_Read, ...]]) -> None:
    """Say once what holds for many files."""
    scans = [one for file in read for one in file]
    told = [describe_complaint(one.sources[0].path, one.complaint) for one in scans if one.complaint]
    for dpi, count in Counter(one.meaningless_dpi for one in scans if one.meaningless_dpi).items():
        told.append(
            f"{_some(count)} {dpi:.0f} dpi, which often means that it is unknown; 300 dpi is assumed. "
            "Give the true resolution with --dpi."
        )
    for dpi, count in Counter(round(one.dpi) for one in scans if one.dpi < _COARSE_DPI).items():
        told.append(
            f"{_some(count)} {dpi} dpi, too little to see how shreds fit; expect mistakes. Scan at 300 dpi, "
            "or give the true resolution with --dpi."
        )
    for text in told:
        warnings.warn(text, DoubtfulScanWarning, 4)


def _some(count: int) -> str:
    return "1 picture has" if count == 1 else f"{count} pictures have"
