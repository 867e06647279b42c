"""Files, folders and PDFs in, Scans out, with resolution and provenance; or the pile of shreds they show.

A file shows one shred, or a sheet of many that is segmented.
"""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tokenize import TokenError
from typing import Literal, get_args

import numpy as np

from deshred.elements import Image, Mask, Scan, Shred, ShredSet, Source
from deshred.errors import InputError, SettingsError
from deshred.executors import Executor, Progress, SerialExecutor
from deshred.imaging.decoding import WORKING_DPI, Frame, decode_mask, resize
from deshred.imaging.files import find_images, find_mask, name_files
from deshred.imaging.sheets.overview import draw_overview
from deshred.imaging.sheets.segmentation import (
    Segmentation,
    SegmentationOptions,
    is_sheet,
    refuse_blank,
    segment,
)
from deshred.imaging.workers import decode_safely
from deshred.options import option
from deshred.textfiles import read_file

Kind = Literal["auto", "shreds", "sheets"]
PIL_HARD_LIMIT = 178  # megapixels beyond which Pillow refuses to open a file
# NumPy parses the header as Python, and makes room for whatever size that claims.
_NPY_ERRORS = (ValueError, EOFError, TypeError, SyntaxError, TokenError, MemoryError, OverflowError)


@dataclass(frozen=True)
class ScanOptions:
    """How files are read."""

    dpi: float | None = option(None, "Resolution of the files.", shown="theirs, or 300")
    max_megapixels: float = option(150.0, "Refuse larger images.")
    kind: Kind = option("auto", "A file shows one shred, or a sheet of them.", flag="--as")

    def __post_init__(self) -> None:
        if self.dpi is not None and not 30 <= self.dpi <= 4800:
            raise SettingsError(f"dpi must lie between 30 and 4800, got {self.dpi:g}.")
        if not 0 < self.max_megapixels <= PIL_HARD_LIMIT:
            raise SettingsError(
                f"max_megapixels must lie between 0 and {PIL_HARD_LIMIT}, got {self.max_megapixels:g}. "
                "Scan larger sheets in parts."
            )
        if self.kind not in get_args(Kind):
            raise SettingsError(f"kind must be one of {', '.join(get_args(Kind))}, got {self.kind!r}.")


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


def read_scans(path: Path, *, options: ScanOptions | None = None) -> list[Scan]:
    """The frames of one file, in its own resolution."""
    options = options or ScanOptions()
    content = read_file(path)
    digest = _digest(content)
    frames = decode_safely(content, path, max_pixels=int(options.max_megapixels * 1e6))
    return [
        Scan(frame.image, _resolution(frame, options), Source(path, digest, index), frame.mask)
        for index, frame in enumerate(frames.pictures)
    ]


def hash_file(path: Path) -> str:
    """The SHA-256 of a file, as a Source has it."""
    return _digest(read_file(path))


def load_scans(
    paths: Iterable[str | Path],
    *,
    options: ScanOptions | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> list[Scan]:
    """All scans in files and folders; `find_images` and `read_scans` do it one file at a time."""
    read = partial(read_scans, options=options)
    executor = executor or SerialExecutor()
    per_file = executor.map(read, find_images(paths), stage="reading", progress=progress)
    return [scan for scans in per_file for scan in scans]


def load_shreds(
    paths: Iterable[str | Path],
    *,
    options: ScanOptions | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> ShredSet:
    """All shreds in files and folders as one mixed pile at 300 dpi; sheets are segmented."""
    return load_intake(paths, options=options, executor=executor, progress=progress).shreds


def load_intake(
    paths: Iterable[str | Path],
    *,
    options: ScanOptions | None = None,
    segmentation: SegmentationOptions | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Intake:
    """All shreds in files and folders as one mixed pile at 300 dpi, with the sheets they lay on."""
    files = find_images(paths)
    load = partial(
        _load_file, options=options or ScanOptions(), segmentation=segmentation or SegmentationOptions()
    )
    named = list(zip(files, name_files(files), strict=True))
    intakes = (executor or SerialExecutor()).map(load, named, stage="reading", progress=progress)
    shreds = ShredSet([shred for intake in intakes for shred in intake.shreds])
    sheets = tuple(sheet for intake in intakes for sheet in intake.sheets)
    if not shreds:  # a blank sheet among others is no error, a pile of nothing is
        refuse_blank([sheet.segmentation for sheet in sheets], options=segmentation)
    sources = dict.fromkeys(source for intake in intakes for source in intake.sources)
    return Intake(shreds, sheets, tuple(sources))


def to_shred(scan: Scan, shred_id: str) -> Shred:
    """A scan that shows one upright shred; without a mask the whole rectangle is paper."""
    mask = np.ones(scan.image.shape[:2], np.bool_) if scan.mask is None else scan.mask
    return Shred(shred_id, scan.image, mask, scan.dpi, scan.source)


def to_working_resolution(scan: Scan, *, options: ScanOptions | None = None) -> Scan:
    """The scan at 300 dpi; one that is within 1 % of it keeps its pixels."""
    scale = WORKING_DPI / scan.dpi
    if abs(scale - 1) <= 0.01:
        return scan
    _refuse_growth(scan, options or ScanOptions())
    image, mask = resize(scan.image, scan.mask, scale, scale)
    return Scan(image, WORKING_DPI, scan.source, mask)


def flatten(scan: Scan) -> Image:
    """The pixels of a scan as if it lay on white: that is what shows where it is transparent."""
    if scan.mask is None:
        return scan.image
    return np.where(scan.mask[..., None], scan.image, np.uint8(255))


def name_scans(scans: Sequence[Scan]) -> list[str]:
    """A unique name for each scan: that of its file, numbered from 1 when the file has several frames."""
    frames = Counter(scan.source.path for scan in scans)
    names = dict(zip(frames, name_files(list(frames)), strict=True))
    return [_name_frame(names[scan.source.path], scan, frames[scan.source.path]) for scan in scans]


def _name_frame(name: str, scan: Scan, frames: int) -> str:
    return name if frames == 1 else f"{name}#{scan.source.frame + 1:02d}"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _resolution(frame: Frame, options: ScanOptions) -> float:
    return options.dpi or frame.dpi or WORKING_DPI


def _refuse_growth(scan: Scan, options: ScanOptions) -> None:
    """A small number in a file must not make a large image of it: the limit holds at 300 dpi as well."""
    height, width = scan.image.shape[:2]
    scale = WORKING_DPI / scan.dpi
    if scale > 1.01 and height * width * scale**2 > options.max_megapixels * 1e6:
        raise InputError(
            f"{scan.source.path}: {width} x {height} pixels at {scan.dpi:.0f} dpi would be "
            f"{width * scale:.0f} x {height * scale:.0f} at {WORKING_DPI:g} dpi, more than the limit of "
            f"{options.max_megapixels:g} megapixels. Give the true resolution with --dpi."
        )


def _load_file(named: tuple[Path, str], options: ScanOptions, segmentation: SegmentationOptions) -> Intake:
    """The shreds of one file."""
    file, name = named
    scans = read_scans(file, options=options)
    source = scans[0].source
    mask_file = find_mask(file)
    if mask_file is not None:
        if len(scans) > 1:
            raise InputError(
                f"{file}: has {len(scans)} frames but one mask, {mask_file}. Save each frame as a file."
            )
        content = read_file(mask_file)
        scan = to_working_resolution(_with_mask(scans[0], content, mask_file), options=options)
        return Intake(ShredSet([to_shred(scan, name)]), (), (source, Source(mask_file, _digest(content))))
    names = [_name_frame(name, scan, len(scans)) for scan in scans]
    shown = [_shows_sheet(scan, options, segmentation) for scan in scans]
    shreds: list[Shred] = []
    sheets: list[Sheet] = []
    for scan, frame_name, is_one in zip(scans, names, shown, strict=True):
        if is_one:
            _refuse_growth(scan, options)
            sheet = segment(scan, name=frame_name, options=segmentation, allow_blank=True)
            sheets.append(Sheet(frame_name, sheet, draw_overview(scan, sheet)))
            shreds += _cut_from(sheet, options)
        else:
            shreds.append(to_shred(to_working_resolution(scan, options=options), frame_name))
    return Intake(ShredSet(shreds), tuple(sheets), (source,))


def _shows_sheet(scan: Scan, options: ScanOptions, segmentation: SegmentationOptions) -> bool:
    if options.kind == "auto":
        return is_sheet(scan, options=segmentation)
    return options.kind == "sheets"


def _cut_from(sheet: Segmentation, options: ScanOptions) -> Iterator[Shred]:
    """The shreds of a sheet at 300 dpi."""
    for shred in sheet.shreds:
        cut = Scan(shred.image, shred.dpi, shred.source, shred.mask)
        yield to_shred(to_working_resolution(cut, options=options), shred.id)


def _with_mask(scan: Scan, content: bytes, mask_file: Path) -> Scan:
    mask = _read_mask(content, mask_file)
    if mask.shape != scan.image.shape[:2]:
        height, width = scan.image.shape[:2]
        raise InputError(
            f"{mask_file}: the mask is {mask.shape[1]} x {mask.shape[0]} px but its shred {scan.source.path} "
            f"is {width} x {height} px. Save the mask in the size of the shred."
        )
    if not mask.any():
        raise InputError(f"{mask_file}: the mask is empty. Paper must be white (or True) in it.")
    return Scan(scan.image, scan.dpi, scan.source, mask)


def _read_mask(content: bytes, mask_file: Path) -> Mask:
    if mask_file.suffix == ".npy":
        try:
            loaded = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
        except _NPY_ERRORS as error:
            raise InputError(f"{mask_file}: the mask cannot be read ({error}). Save it again.") from None
        if loaded.dtype.kind not in "biuf":
            raise InputError(
                f"{mask_file}: a mask holds True and False or numbers, this {loaded.dtype}. Save it again."
            )
        if loaded.ndim != 2:
            raise InputError(f"{mask_file}: a mask has 2 dimensions, this has {loaded.ndim}. Save it again.")
        return np.asarray(loaded > (0 if loaded.max(initial=0) <= 1 else 127))
    return decode_mask(content, mask_file, max_pixels=int(PIL_HARD_LIMIT * 1e6))
