"""A case or a Reconstruction in, a folder of files to hand over out.

The folder is deshred's own like a case: complete or as it was, never a foreign one. Reading takes longest,
and what was read is kept in the store of the case: an export that was killed does not read again.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from deshred.cases import JOURNAL, Case, Store, open_case, working_on
from deshred.elements import Copy
from deshred.errors import InputError, MissingDependencyError
from deshred.executors import KeepingExecutor, Progress, default_executor
from deshred.export.bags import PAYLOAD, TAG_MANIFEST, Digest, build_tags
from deshred.export.casefiles import CaseFacts
from deshred.export.copies import Taken, take_pages
from deshred.export.formats import EXPORTERS, USE_WORDS, check_formats, check_parts
from deshred.export.material import (
    Custody,
    ExportOptions,
    File,
    Format,
    LargeFile,
    Material,
    find_scratch,
    open_scratch,
)
from deshred.export.names import clean_file_name
from deshred.export.pagefile import PackedPage, PageFile, pack_page
from deshred.export.results import reopen
from deshred.imaging.composition import LostInk
from deshred.imaging.scans import hash_file
from deshred.pipeline import Reconstruction
from deshred.reading import Reading, ReadingOptions, open_reader, open_reading
from deshred.shelf import Shelf

BAG = "bag"
_MOSTLY_CLEAR = 0.5  # of the words; a wrong language leaves fewer
_PIXELS_IN_MEMORY = 64 << 20  # bytes of shreds; the others lie on disk
_FEW = 3  # files of a folder that are named one by one


@dataclass(frozen=True)
class Delivery:
    """What was written: every file with its digest, whether pages were read, and the seal of the package."""

    folder: Path
    files: dict[str, Digest]
    formats: tuple[Format, ...]
    pages: int
    language: str  # empty when pages were not read
    clear_share: float
    not_read: str  # why not
    seal: str  # empty without a package
    journal_head: str

    def summary(self) -> str:
        """One line, such as `6 pages read in eng, 49 % of the words clear`."""
        count = f"{self.pages} page" if self.pages == 1 else f"{self.pages} pages"
        if self.language:
            return f"{count} read in {self.language}, {self.clear_share:.0%} of the words clear"
        return f"{count}, not read: {self.not_read}" if self.not_read else count

    def to_text(self) -> str:
        """Lines to print: files, or the folders that hold several of them, and the hashes to write down."""
        below = Counter(str(PurePosixPath(name).parent) for name in self.files)
        places: dict[str, None] = {}  # in the order in which they were written
        for name in self.files:
            folder = str(PurePosixPath(name).parent)
            several = folder != "." and below[folder] > _FEW
            places[
                f"{self.folder / folder}: {below[folder]} files" if several else str(self.folder / name)
            ] = None
        hashes = [f"seal:    {self.seal}"] if self.seal else []
        flags = "--seal SEAL --head JOURNAL" if self.seal else "--head JOURNAL"
        check = f"deshred verify {self.folder} {flags}"
        told = f"Write this down to prove later that nothing has changed: {check}"
        advice = "If the pages are not in this language, say so with --language."
        advised = [advice] if self.language and self.clear_share < _MOSTLY_CLEAR else []
        return "\n".join([self.summary(), *advised, *places, *hashes, f"journal: {self.journal_head}", told])

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "folder": str(self.folder),
            "summary": self.summary(),
            "files": {name: digest.sha256 for name, digest in self.files.items()},
            "language": self.language,
            "clear_share": round(self.clear_share, 4),
            "seal": self.seal,
            "journal_head": self.journal_head,
        }


def export(
    source: str | Path | Reconstruction,
    destination: str | Path,
    *,
    formats: Sequence[str] = ("pdf",),
    options: ExportOptions | None = None,
    reading: ReadingOptions | None = None,
    facts: CaseFacts | None = None,
    made: datetime | None = None,
    command: str = "",
    jobs: int | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Delivery:
    """Write a finished case, or what `reconstruct` returned, into a folder in the formats asked for."""
    wanted = check_formats(tuple(formats))
    options, reading = options or ExportOptions(), reading or ReadingOptions()
    check_parts(wanted, reading)
    opened = open_source(source, progress)
    inputs = [entry.path for entry in opened.reconstruction.sources]
    with working_on(destination, command="export", force=force, inputs=[*opened.folders, *inputs]) as case:
        not_read = _tell_why_not(wanted, reading)
        with gather(
            opened.reconstruction,
            options.copy,
            options.pages,
            reading=reading if USE_WORDS.intersection(wanted) and not not_read else None,
            store=opened.store or case.store,
            scratch=case.path,
            jobs=jobs,
            progress=progress,
        ) as gathered:
            material = replace(
                gathered,
                options=options,
                made=(made or datetime.now(UTC)).astimezone(UTC),
                facts=facts or CaseFacts(),
                custody=opened.custody,
                command=command,
            )
            files = _write(material, wanted, case, progress)
        seal = files[f"{BAG}/{TAG_MANIFEST}"].sha256 if "bag" in wanted else ""
        case.journal.append("exported", formats=wanted, operator=options.operator, seal=seal)
    head = open_case(destination).journal.check().head
    return _sum_up(material, Path(destination), files, wanted, not_read, seal, head)


def export_searchable_pdf(
    source: str | Path | Reconstruction,
    destination: str | Path,
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> str:
    """Write a searchable PDF where that can be done; the line that says where it is, or how to get it."""
    try:
        done = export(source, destination, formats=("pdf",), force=force, progress=progress)
    except MissingDependencyError as missing:
        return f"not written; {missing}"
    name = next(iter(done.files))
    if done.not_read:
        return f"{Path(destination) / name} (PDF/A, not searchable: {done.not_read})"
    return f"{Path(destination) / name} (PDF/A, searchable)"


@dataclass(frozen=True, eq=False)
class Opened:
    """A case or a reconstruction, ready to be exported or searched."""

    reconstruction: Reconstruction
    store: Store | None
    folders: tuple[Path, ...]
    custody: Custody


def open_source(source: str | Path | Reconstruction, progress: Progress | None) -> Opened:
    """Open a finished case for export; its journal must be whole."""
    if isinstance(source, Reconstruction):
        return Opened(source, None, (), Custody())
    case = open_case(source)
    custody = _look_at(case)
    store = (
        case.store if os.access(case.path, os.W_OK) else None
    )  # a case may lie on a disk that is read only
    shelf = Shelf(room=_PIXELS_IN_MEMORY, file_bytes=_PIXELS_IN_MEMORY)  # pages are composed one by one
    keeping = KeepingExecutor(default_executor(), shelf.keep)
    reconstruction = reopen(source, executor=keeping, progress=progress)
    shelf.release()
    return Opened(reconstruction, store, (case.path,), custody)


def _look_at(case: Case) -> Custody:
    journal = case.journal
    found = journal.check()
    if not found.is_sound:
        raise InputError(f"{case.path / JOURNAL}: {found.problems[0]}. Restore the case from a copy.")
    events = tuple(
        f"{entry.number} {entry.time} {entry.event} {_tell(dict(entry.fields))}" for entry in journal.read()
    )
    return Custody(found.head, events, case.read_bytes(JOURNAL))


def _tell(fields: dict[str, Any]) -> str:
    files = fields.pop("files", None)
    told = [f"{name}={value}" for name, value in fields.items()]
    if isinstance(files, dict):
        told += [f"{name} {digest}" for name, digest in files.items()]
    return ", ".join(told)


def _tell_why_not(formats: tuple[Format, ...], options: ReadingOptions) -> str:
    """Why pages are not read though a format could use their words; empty when they are."""
    if options.engine == "none":
        return "no engine was asked for"
    try:
        if USE_WORDS.intersection(formats):
            open_reader(options)
    except MissingDependencyError as error:
        return str(error)  # `check_parts` has found an engine for formats of words alone
    return ""


@contextmanager
def gather(
    reconstruction: Reconstruction,
    copy: Copy,
    numbers: tuple[int, ...] = (),
    *,
    reading: ReadingOptions | None = None,
    store: Store | None = None,
    scratch: Path | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Iterator[Material]:
    """Compose and read the pages of a copy, and pack them one by one; without `reading` they are not read."""
    as_it_is = reading is not None and reading.as_it_is
    scratch = scratch or find_scratch()
    with open_scratch(scratch) as file:
        pages = PageFile(file, scratch)
        readings: list[Reading] = []
        places: list[tuple[LostInk, ...]] = []
        with nullcontext() if reading is None else open_reading(reading, store=store) as read_page:
            for taken in take_pages(
                reconstruction,
                copy,
                numbers,
                use=_pack,
                read_page=read_page,
                as_it_is=as_it_is,
                jobs=jobs,
                progress=progress,
            ):
                pages.append(taken.page)
                readings += [] if taken.reading is None else [taken.reading]
                places.append(taken.lost_ink)
        yield Material(
            reconstruction,
            pages,
            None if reading is None else tuple(readings),
            ExportOptions(copy=copy),
            lost_ink=() if copy == "evidence" else tuple(places),
            numbers=numbers,
            scratch=scratch,
        )


@dataclass(frozen=True, eq=False)
class _Packed:
    page: PackedPage
    reading: Reading | None
    lost_ink: tuple[LostInk, ...]


def _pack(taken: Taken) -> _Packed:
    return _Packed(pack_page(taken.page), taken.reading, taken.lost_ink)


def _write(
    material: Material, formats: tuple[Format, ...], case: Case, progress: Progress | None
) -> dict[str, Digest]:
    packed = "bag" in formats
    files: dict[str, Digest] = {}
    for file in _make(material, formats, progress):
        name = f"{BAG}/{PAYLOAD}/{file.name}" if packed else file.name
        if isinstance(file, LargeFile):
            case.write_stream(name, file.stream)
            files[name] = Digest.of_stream(file.stream)
        else:
            case.write_bytes(name, file.content)
            files[name] = Digest.of(file.content)
    if packed:
        payload = {name.removeprefix(f"{BAG}/"): digest for name, digest in files.items()}
        for tag in build_tags(payload, material):
            case.write_bytes(f"{BAG}/{tag.name}", tag.content)
            files[f"{BAG}/{tag.name}"] = Digest.of(tag.content)
    return files


def _make(
    material: Material, formats: tuple[Format, ...], progress: Progress | None
) -> Iterator[File | LargeFile]:
    for done, name in enumerate(formats, 1):
        if name != "bag":
            yield from EXPORTERS[name](material)
        elif material.options.with_inputs:
            yield from _copy_inputs(material)
        if progress:
            progress("exporting", done, len(formats))
    if formats == ("bag",):
        yield from EXPORTERS["json"](material)  # a package of nothing is none
        yield from EXPORTERS["png"](material)


def _copy_inputs(material: Material) -> Iterator[File]:
    """The scans under names that every system takes; they must still be what was read."""
    for number, source in enumerate(material.reconstruction.sources, 1):
        if hash_file(source.path) != source.sha256:
            raise InputError(f"{source.path}: has changed since it was read. Restore the original scan.")
        name = clean_file_name(source.path.name)
        yield File(f"inputs/{number:04d}-{name}", source.path.read_bytes())


def _sum_up(
    material: Material,
    folder: Path,
    files: dict[str, Digest],
    formats: tuple[Format, ...],
    missing: str,
    seal: str,
    head: str,
) -> Delivery:
    readings = material.readings or ()
    words = [word for reading in readings for word in reading.words]
    clear = sum(word.clarity == "clear" for word in words) / len(words) if words else 0.0
    language = readings[0].language if readings else ""
    return Delivery(folder, files, formats, len(material.pages), language, clear, missing, seal, head)
