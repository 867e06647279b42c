"""Files and folders in, image files out, and a unique name for each.

Where a folder holds `strips/` or `shreds/`, these alone are read; `masks/` beside them has a PNG or NPY of
the same stem and size for each file. Other folders are searched with all their subfolders. What deshred
itself has written is passed over unless it is asked for by name.
"""

from __future__ import annotations

import hashlib
import os
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from deshred.cases import CASE
from deshred.errors import InputError
from deshred.imaging.formats import HEAD, READABLE, describe_foreign, recognize

SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".jpe", ".jfif", ".tif", ".tiff", ".webp", ".bmp", ".pdf"})
# Said to be skipped even if their content is not known.
FOREIGN_SUFFIXES = frozenset(
    {
        ".heic",
        ".heif",
        ".avif",
        ".gif",
        ".jp2",
        ".jxl",
        ".dng",
        ".cr2",
        ".cr3",
        ".nef",
        ".arw",
        ".orf",
        ".raf",
    }
)
LONGEST_NAME = 180  # bytes of a name; systems allow 255, and numbers and suffixes come behind it
SHRED_FOLDERS = ("strips", "shreds")
MASK_SUFFIXES = (".png", ".npy")


class UnreadImagesWarning(UserWarning):
    """Images lie beside a folder of shreds, which alone was read: the message says where and how many."""


class SkippedFilesWarning(UserWarning):
    """Files that lie beside images and look like more of them, but cannot be read: which, and why."""


@dataclass(frozen=True)
class Skipped:
    """A file that lay in a folder of images and was not read."""

    path: Path
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


@dataclass(frozen=True)
class FoundFiles:
    """What the given files and folders hold."""

    files: tuple[Path, ...]  # each once, in a stable order
    skipped: tuple[Skipped, ...]
    unread: Mapping[Path, int]  # images beside a folder of shreds, which alone was read


def find_images(paths: Iterable[str | Path]) -> list[Path]:
    """The image files that the given files and folders stand for, each once, in a stable order."""
    found = find_files(paths)
    warn_of_unread(found)
    return list(found.files)


def find_files(paths: Iterable[str | Path]) -> FoundFiles:
    """The image files that the given files and folders stand for, and what was passed over."""
    files: dict[Path, Path] = {}
    folders = _Folders()
    beside: dict[Path, list[Path]] = {}
    skipped: dict[Path, Skipped] = {}
    for path in map(Path, paths):
        with _reaching(path):
            search = _Search()
            found = list(search.walk(path)) if path.is_dir() else [path]
            if not found:
                raise InputError(_describe_empty(path, search.skipped))
            for file in found:
                files.setdefault(folders.resolve(file), file)
            beside |= search.beside
            skipped |= {one.path.resolve(): one for one in search.skipped}
    unread = {
        folder: sum(image.resolve() not in files for image in images) for folder, images in beside.items()
    }
    left = tuple(one for path, one in skipped.items() if path not in files)
    return FoundFiles(tuple(files.values()), left, {folder: n for folder, n in unread.items() if n})


def warn_of_unread(found: FoundFiles) -> None:
    """Say what lies there and was not read."""
    for folder, count in found.unread.items():
        warnings.warn(_describe_unread(folder, count), UnreadImagesWarning, 3)
    if found.skipped:
        shown = "; ".join(map(str, found.skipped[:3]))
        more = f"; and {len(found.skipped) - 3} more" if len(found.skipped) > 3 else ""
        warnings.warn(f"not read: {shown}{more}.", SkippedFilesWarning, 3)


def find_mask(file: Path) -> Path | None:
    """The mask of a file in a folder of shreds; None when there is no folder of masks beside it."""
    folder = file.resolve().parent
    masks = folder.parent / "masks"
    if not file.is_absolute():
        masks = Path(os.path.relpath(masks))  # as the file itself is given
    with _reaching(masks):
        if folder.name not in SHRED_FOLDERS or not masks.is_dir():
            return None
        for suffix in MASK_SUFFIXES:
            mask_file = masks / (file.stem + suffix)
            if mask_file.is_file():
                return mask_file
    raise InputError(
        f"{file}: there is a folder {masks} but no {file.stem}.png or {file.stem}.npy in it. "
        "Add the mask, or move the masks elsewhere to use whole rectangles."
    )


def name_files(files: Sequence[Path]) -> list[str]:
    """A unique name for each file: its stem, with its suffix and as many folders before it as are needed.

    Names stay unique when numbers are put behind them, `a#01`, for the frames or the shreds of a file. They
    are as short as can be, as folders may be named after people and names are printed in reports.
    """
    candidates = [_propose_names(*parts) for parts in _split_paths(files)]
    names = [own[0] for own in candidates]
    for length in range(1, max(map(len, candidates), default=1)):
        clashing = _find_clashing(names)
        if not clashing:
            return names
        names = [
            own[min(length, len(own) - 1)] if name in clashing else name
            for own, name in zip(candidates, names, strict=True)
        ]
    while clashing := _find_clashing(names):
        names = [f"{name}-{i}" if name in clashing else name for i, name in enumerate(names, 1)]
    return names


def to_text(name: str) -> str:
    """A file name that can be written anywhere: bytes that are no UTF-8 become replacement characters."""
    return os.fsencode(name).decode("utf-8", "replace")


@dataclass
class _Folders:
    """Where files really lie; thousands lie in one folder, which is asked about once."""

    known: dict[Path, Path] = field(default_factory=dict)

    def resolve(self, file: Path) -> Path:
        """As `Path.resolve`."""
        if file.is_symlink() or file.name in ("", ".."):
            return file.resolve()
        if file.parent not in self.known:
            self.known[file.parent] = file.parent.resolve()
        return self.known[file.parent] / file.name


@dataclass
class _Search:
    """A walk through a folder that remembers where it was, as links may lead in circles."""

    been: set[Path] = field(default_factory=set)
    beside: dict[Path, list[Path]] = field(
        default_factory=dict
    )  # images, by the folder of shreds read instead

    skipped: list[Skipped] = field(default_factory=list)

    def walk(self, folder: Path) -> Iterator[Path]:
        """The images in a folder and its subfolders."""
        if folder.resolve() in self.been:
            return
        self.been.add(folder.resolve())
        entries = [entry for entry in sorted(folder.iterdir()) if not entry.name.startswith(".")]
        shreds = _find_shreds(folder)
        if shreds is not None:
            self.beside[shreds] = [entry for entry in entries if _is_image(entry) and entry.is_file()]
            yield from self.walk(shreds)
            return
        for entry in entries:
            if _is_image(entry):
                if entry.is_file() or _is_broken(entry):  # no pipes; a broken link is told of when it is read
                    yield entry
            elif entry.is_dir():
                if not _is_result(entry):
                    yield from self.walk(entry)
            elif entry.is_file() and (reason := _explain_skipped(entry)):
                self.skipped.append(Skipped(entry, reason))


def _find_shreds(folder: Path) -> Path | None:
    """The subfolder that is read alone; results of deshred only where the whole folder is its result."""
    for name in SHRED_FOLDERS:
        shreds = folder / name
        if shreds.is_dir() and (_is_result(folder) or not _is_result(shreds)):
            return shreds
    return None


def _is_image(entry: Path) -> bool:
    return entry.suffix.lower() in SUFFIXES and not entry.is_dir()


def _explain_skipped(entry: Path) -> str:
    """Why a file that looks like an image is not read; nothing for notes, tables and the like."""
    try:
        with entry.open("rb") as file:
            head = file.read(HEAD)
    except OSError:
        return ""
    if recognize(head):
        return f"it holds a {recognize(head)} but is not named like one; give it by name to read it"
    foreign = describe_foreign(head)
    if foreign:
        return f"{foreign}, which cannot be read; save it as {READABLE}"
    if entry.suffix.lower() in FOREIGN_SUFFIXES:
        return f"an image that cannot be read; save it as {READABLE}"
    return ""


def _describe_empty(folder: Path, skipped: Sequence[Skipped]) -> str:
    if skipped:
        more = f", and {len(skipped) - 1} more" if len(skipped) > 1 else ""
        return f"{folder}: the folder holds no image that can be read ({skipped[0]}{more})."
    return f"{folder}: the folder holds no images. Put {READABLE} files into it."


def _is_broken(link: Path) -> bool:
    return link.is_symlink() and not link.exists()


def _is_result(folder: Path) -> bool:
    return (folder / CASE).exists()


def _describe_unread(folder: Path, unread: int) -> str:
    if unread == 1:
        return f"1 image beside {folder} was not read; give it by name to use it."
    return f"{unread} images beside {folder} were not read; give them by name to use them."


@contextmanager
def _reaching(path: Path) -> Iterator[None]:
    """Turn what the file system says about names, folders and links inside into an InputError."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{error.filename or path}: cannot be read ({error.strerror}). Check the name and permissions."
        ) from None
    except RuntimeError as error:  # resolve() has no class of its own for a link that leads to itself
        raise InputError(f"{path}: cannot be read ({error}). Remove or repair the link.") from None


def _split_paths(files: Sequence[Path]) -> Iterator[tuple[list[str], str, str]]:
    """Folders, stem and suffix of each file; those that are the same text have a number in their stem."""
    counts: Counter[tuple[str, ...]] = Counter()
    known = _Folders()
    for file in files:
        folders = [_shorten(to_text(part)) for part in known.resolve(file).parent.parts[1:]]
        stem, suffix = _shorten(to_text(file.stem)), to_text(file.suffix)
        counts[*folders, stem, suffix] += 1
        copy = counts[*folders, stem, suffix]
        yield folders, stem if copy == 1 else f"{stem}-{copy}", suffix  # bytes that are no UTF-8 look alike


def _shorten(name: str) -> str:
    """A name to which more can be added and which still is a name for every file system."""
    encoded = name.encode()
    if len(encoded) <= LONGEST_NAME:
        return name
    mark = hashlib.sha256(encoded).hexdigest()[:8]
    return f"{encoded[: LONGEST_NAME - 9].decode(errors='ignore')}~{mark}"


def _propose_names(folders: Sequence[str], stem: str, suffix: str) -> list[str]:
    """Names for a file, the shortest first; `strips/` and `shreds/` count only where nothing else helps."""
    telling = [folder for folder in folders if folder not in SHRED_FOLDERS]
    names = []
    for depth in range(len(folders) + 1):
        short, full = (
            "".join(f"{folder}/" for folder in some[max(0, len(some) - depth) :])
            for some in (telling, folders)
        )
        names += [short + stem, short + stem + suffix, full + stem + suffix]
    return names


def _find_clashing(names: Sequence[str]) -> set[str]:
    """Names that several files have, or that another file's name has, followed by numbers as of frames."""
    counts = Counter(names)
    clashing = {name for name, count in counts.items() if count > 1}
    for name in counts:
        longer = name
        while (shorter := re.sub(r"#\d+\Z", "", longer)) != longer:
            clashing |= {shorter} & counts.keys()
            longer = shorter
    return clashing
