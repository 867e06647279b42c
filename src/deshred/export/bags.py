"""A sealed package after BagIt 1.0 (RFC 8493): all files of `data/` are listed with their SHA-256.

The seal is the SHA-256 of the last list: one line to write down, sign or time-stamp. deshred has no keys.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from deshred.errors import InputError
from deshred.export.material import TOOL, File, Material
from deshred.export.names import clean

DECLARATION = "bagit.txt"
INFO = "bag-info.txt"
MANIFEST = "manifest-sha256.txt"
TAG_MANIFEST = "tagmanifest-sha256.txt"
PAYLOAD = "data"
_DECLARED = b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"


@dataclass(frozen=True)
class Digest:
    """What a list says about a file."""

    sha256: str
    size: int

    @classmethod
    def of(cls, content: bytes) -> Digest:
        """The digest of a content."""
        return cls(hashlib.sha256(content).hexdigest(), len(content))

    @classmethod
    def of_stream(cls, stream: BinaryIO) -> Digest:
        """The digest of all of a file, however large it is."""
        stream.seek(0)
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type] # any file will do
        return cls(sha256, stream.seek(0, io.SEEK_END))


def build_tags(payload: Mapping[str, Digest], material: Material) -> list[File]:
    """The files around a payload; its names begin with `data/`."""
    manifest = _list({name: digest.sha256 for name, digest in payload.items()})
    tags = [
        File(DECLARATION, _DECLARED),
        File(INFO, _describe(payload, material)),
        File(MANIFEST, manifest),
    ]
    return [*tags, File(TAG_MANIFEST, _list({tag.name: Digest.of(tag.content).sha256 for tag in tags}))]


def _list(digests: Mapping[str, str]) -> bytes:
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items())).encode()


def _describe(payload: Mapping[str, Digest], material: Material) -> bytes:
    facts = material.facts
    size = sum(digest.size for digest in payload.values())
    entries = {
        "Source-Organization": ", ".join(facts.laboratory),
        "External-Identifier": facts.case or facts.number,
        "Contact-Name": material.options.operator,
        "Bagging-Date": material.made.date().isoformat(),
        "Payload-Oxum": f"{size}.{len(payload)}",
        "Bag-Software-Agent": TOOL,
        "Deshred-Copy": material.options.copy,
        "Deshred-Journal-Head": material.custody.head,
    }
    return "".join(f"{name}: {clean(value)}\n" for name, value in entries.items() if value).encode()


def seal(folder: str | Path) -> str:
    """The seal of a package: SHA-256 of the list of its lists."""
    bag = find_bag(folder)
    return hashlib.sha256((bag / TAG_MANIFEST).read_bytes()).hexdigest()


def find_bag(folder: str | Path) -> Path:
    """The package in a folder: the folder itself, or `bag` in it."""
    for bag in (Path(folder), Path(folder) / "bag"):
        if (bag / DECLARATION).is_file() and (bag / TAG_MANIFEST).is_file():
            return bag
    raise InputError(f"{folder}: holds no package. Make one with --as bag, or give the folder of one.")
