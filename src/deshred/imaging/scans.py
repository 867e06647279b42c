"""Files, folders and PDFs in, Scans out, with resolution and provenance."""

from __future__ import annotations

import hashlib
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from deshred.arrayfiles import parse_npy
from deshred.budgets import Budget
from deshred.elements import Image, Mask, Scan, Shred, Source
from deshred.errors import InputError, SettingsError
from deshred.executors import Executor, Progress, SerialExecutor
from deshred.imaging.decoding import WORKING_DPI, Frames, decode_mask, resize
from deshred.imaging.files import find_images, name_files
from deshred.imaging.workers import decode_safely
from deshred.options import option
from deshred.textfiles import read_file

Kind = Literal["auto", "shreds", "sheets"]
PIL_HARD_LIMIT = 178  # megapixels beyond which Pillow refuses to open a file


@dataclass(frozen=True)
class ScanOptions:
    """How files are read."""

    dpi: float | None = option(None, "Resolution of the files.", shown="theirs, or 300")
    max_megapixels: float = option(150.0, "Refuse larger images.")
    kind: Kind = option("auto", "What each file shows: one shred, or a sheet of many.", flag="--as")

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


class DoubtfulScanWarning(UserWarning):
    """A file that was read but may not be what it seems: the message says which, and why."""


@dataclass(frozen=True, eq=False)
class ScanFile:
    """A file whose scans come as they are asked for, as all of them may not fit into memory."""

    source: Source
    count: int
    most_pixels: int  # of the largest
    scans: Iterator[DoubtfulScan]


@dataclass(frozen=True, eq=False)
class DoubtfulScan:
    """A scan, and what its file said that cannot be right."""

    scan: Scan
    complaint: str = ""  # of the decoder, about damage
    meaningless_dpi: float | None = None


def open_scans(
    path: Path,
    *,
    options: ScanOptions | None = None,
    budget: Budget | None = None,
    content: bytes | None = None,
) -> ScanFile:
    """The frames of one file, one at a time, in its own resolution; `content` where it was read already."""
    options, budget = options or ScanOptions(), budget or Budget()
    content = read_file(path, most_bytes=budget.memory_bytes) if content is None else content
    source = Source(path, digest(content))
    frames = decode_safely(content, path, max_pixels=int(options.max_megapixels * 1e6), budget=budget)
    return ScanFile(source, frames.count, frames.most_pixels, _to_scans(frames, source, options))


def _to_scans(frames: Frames, source: Source, options: ScanOptions) -> Iterator[DoubtfulScan]:
    for index, frame in enumerate(frames.pictures):
        dpi = options.dpi or frame.dpi or WORKING_DPI
        scan = Scan(frame.image, dpi, replace(source, frame=index), frame.mask)
        yield DoubtfulScan(scan, frame.complaint, None if options.dpi else frame.meaningless_dpi)


def read_scans(path: Path, *, options: ScanOptions | None = None, budget: Budget | None = None) -> list[Scan]:
    """The frames of one file, all at once."""
    file, room = open_scans(path, options=options, budget=budget), (budget or Budget()).memory_bytes
    if 3 * file.count * file.most_pixels > room:
        raise InputError(
            f"{path}: {file.count} pictures of up to {file.most_pixels / 1e6:.0f} megapixels do not fit into "
            f"{room / 1e9:.1f} GB at once. Split the file, or raise --memory."
        )
    read = list(file.scans)
    for one in read:
        if one.complaint:
            warnings.warn(describe_complaint(path, one.complaint), DoubtfulScanWarning, 2)
    return [one.scan for one in read]


def describe_complaint(path: Path, complaint: str) -> str:
    """What to do about a file of which a decoder could not read all."""
    return (
        f"{path}: the file is damaged ({complaint}), and parts of the picture may be wrong. "
        "Look at it, or scan it again."
    )


def hash_file(path: Path) -> str:
    """The SHA-256 of a file, as a Source has it."""
    return digest(read_file(path, most_bytes=Budget().memory_bytes))


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


def to_shred(scan: Scan, shred_id: str) -> Shred:
    """A scan that shows one upright shred; without a mask the whole rectangle is paper."""
    mask = np.ones(scan.image.shape[:2], np.bool_) if scan.mask is None else scan.mask
    return Shred(shred_id, scan.image, mask, scan.dpi, scan.source)


def know_by_files(shred: Shred, *told: str) -> Shred:
    """The shred, known by the files that it was read from whole: its pixels need not be hashed as well.

    `told` is all that its pixels come from besides the frame of its own file, such as the hash of its mask.
    """
    source, shape = shred.source, f"{shred.image.shape}{shred.dpi:g}"
    content = "\n".join(["files", source.sha256, str(source.frame), shape, *told])
    vars(shred)["fingerprint"] = digest(content.encode("utf-8", "backslashreplace"))
    return shred


def to_working_resolution(scan: Scan, *, options: ScanOptions | None = None) -> Scan:
    """The scan at 300 dpi; one that is within 1 % of it keeps its pixels."""
    scale = WORKING_DPI / scan.dpi
    if abs(scale - 1) <= 0.01:
        return scan
    refuse_growth(scan, options or ScanOptions())
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
    return [
        name_frame(names[scan.source.path], scan.source.frame, frames[scan.source.path]) for scan in scans
    ]


def name_frame(name: str, frame: int, frames: int) -> str:
    """The name of a frame of a file; numbered from 1 when there are several."""
    return name if frames == 1 else f"{name}#{frame + 1:02d}"


def digest(content: bytes) -> str:
    """The SHA-256 of what a file holds."""
    return hashlib.sha256(content).hexdigest()


def refuse_growth(scan: Scan, options: ScanOptions) -> None:
    """A small number in a file must not make a large image of it: the limit holds at 300 dpi as well."""
    height, width = scan.image.shape[:2]
    scale = WORKING_DPI / scan.dpi
    if scale > 1.01 and height * width * scale**2 > options.max_megapixels * 1e6:
        raise InputError(
            f"{scan.source.path}: {width} x {height} pixels at {scan.dpi:.0f} dpi would be "
            f"{width * scale:.0f} x {height * scale:.0f} at {WORKING_DPI:g} dpi, more than the limit of "
            f"{options.max_megapixels:g} megapixels. Give the true resolution with --dpi."
        )


def with_mask(scan: Scan, content: bytes, mask_file: Path) -> Scan:
    """A scan with the mask that lies beside it."""
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
        loaded = parse_npy(content, mask_file, most_bytes=int(PIL_HARD_LIMIT * 1e6))
        if loaded.dtype.kind not in "biuf":
            raise InputError(
                f"{mask_file}: a mask must hold True and False, or numbers; this one holds {loaded.dtype}. "
                "Save it again."
            )
        if loaded.ndim != 2:
            raise InputError(
                f"{mask_file}: a mask must have 2 dimensions; this one has {loaded.ndim}. Save it again."
            )
        return np.asarray(loaded > (0 if loaded.max(initial=0) <= 1 else 127))
    return decode_mask(content, mask_file, max_pixels=int(PIL_HARD_LIMIT * 1e6))
