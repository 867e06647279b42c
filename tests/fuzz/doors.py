"""Every kind of file that deshred reads: a sound one, and the door through which it comes in."""

from __future__ import annotations

import functools
import io
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from deshred.arrangement import ArrangementOptions
from deshred.budgets import Budget
from deshred.cases import load_constraints, open_case
from deshred.cases.records import pack_compatibility
from deshred.compatibility.models import list_models, open_model
from deshred.elements import Compatibility, Constraints
from deshred.errors import DeshredError
from deshred.evaluation.collections import open_collection
from deshred.export.answers import arrange_file
from deshred.export.exporting import export
from deshred.export.finding import search
from deshred.export.results import reconstruct_into, reopen
from deshred.export.verification import verify
from deshred.imaging.decoding import encode_png
from deshred.imaging.intakes import load_intake
from deshred.imaging.scans import ScanOptions, load_scans
from deshred.pipeline import Reconstruction, rearrange
from deshred.reading import ReadingOptions
from deshred.settings import Settings, read_settings
from deshred.simulation.piles import read_truth
from tests.hostile import one_page

SMALL = ScanOptions(max_megapixels=4)
PATIENT = Budget(memory_gb=1, seconds=2)
QUICK = ArrangementOptions(time_limit=1)
ORANGE = (250, 180, 88)


@dataclass(frozen=True)
class Door:
    """A sound file, the structure that its mutations know, and who reads it."""

    name: str
    structure: str
    make: Callable[[], bytes]
    read: Callable[[bytes, Path], object]  # the damaged content, and an empty folder


def shred(seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    image = np.full((240, 60, 3), 245, np.uint8)
    for top in range(10, 230, 20):
        image[top : top + 6, int(rng.integers(20)) : 60] = 30
    return image


def sheet() -> np.ndarray:
    image = np.full((420, 720, 3), ORANGE, np.uint8)
    for number in range(5):
        left = 40 + 130 * number
        image[40:380, left : left + 70] = 245
        image[60:360:20, left + 5 : left + 60] = 20
    return image


def encode(kind: str, image: np.ndarray, **options: object) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, kind, **options)
    return buffer.getvalue()


def pages(kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    first, *more = (Image.fromarray(shred(seed)) for seed in range(3))
    if kind == "group4":
        first, *more = (page.convert("1") for page in (first, *more))
        options = {"compression": "group4"}
    first.save(buffer, "TIFF", save_all=True, append_images=more, **options)
    return buffer.getvalue()


def read_image(name: str, content: bytes, folder: Path) -> object:
    (folder / name).write_bytes(content)
    return load_intake([folder / name], options=SMALL, budget=PATIENT)


def read_page(name: str, content: bytes, folder: Path) -> object:
    (folder / name).write_bytes(content)
    return load_scans([folder / name], options=SMALL)


def read_mask(suffix: str, content: bytes, folder: Path) -> object:
    for part in ("strips", "masks"):
        (folder / part).mkdir()
    (folder / "strips/a.png").write_bytes(encode_png(shred()))
    (folder / f"masks/a{suffix}").write_bytes(content)
    return load_intake([folder], options=SMALL, budget=PATIENT)


def mask_array() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.ones((240, 60), bool))
    return buffer.getvalue()


def read_scores(name: str, content: bytes, folder: Path) -> object:
    (folder / name).write_bytes(content)
    return arrange_file(folder / name, options=QUICK)


def scores() -> bytes:
    rng = np.random.default_rng(0)
    ids = tuple("abcdef")
    matrix = rng.normal(size=(6, 6)).astype(np.float32)
    return pack_compatibility(Compatibility(ids, matrix, np.zeros((6, 6), np.int16)))


def distances() -> bytes:
    rng = np.random.default_rng(0)
    rows = "\n".join(" ".join(map(str, row)) for row in rng.integers(1, 99, (7, 7)))
    head = "NAME: tiny\nTYPE: ATSP\nDIMENSION: 7\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\n"
    return f"{head}EDGE_WEIGHT_SECTION\n{rows}\nEOF\n".encode()


def read_text(read: Callable[[Path], object], name: str, content: bytes, folder: Path) -> object:
    (folder / name).write_bytes(content)
    return read(folder / name)


SETTINGS = b"""scorer = "outline"
jobs = 2
[scans]
dpi = 300.0
kind = "shreds"
[segmentation]
background = [255, 153, 51]
min_width_mm = 2
[arrangement]
pages = 2
"""
CONSTRAINTS = b'required = [["a", "b"], ["c", "d"]]\nfirst = ["a"]\ntogether = [["a", "b", "c"]]\n'
PLACES = {name: {"document": "d", "position": place} for place, name in enumerate("abc")}
TRUTH = json.dumps({"format": 1, "shreds": PLACES})
KINDS = json.dumps({"D001": {"kind": "letter"}, "D002": {"kind": "form"}})


def read_collection(content: bytes, folder: Path) -> object:
    (folder / "D001/strips").mkdir(parents=True)
    (folder / "D001/strips/D00101.png").write_bytes(encode_png(shred()))
    (folder / "documents.json").write_bytes(content)
    return open_collection(folder)


def read_model(content: bytes, folder: Path) -> object:
    (folder / "model.onnx").write_bytes(content)
    model = open_model(folder / "model.onnx", "towers", 1)
    ink = np.zeros((1, 128, 64), np.float32)
    ink[:, ::5] = 1
    return model.run(None, {"rights": ink, "lefts": ink})


def model_bytes() -> bytes:
    return next(model.path for model in list_models() if model.name == "towers-default").read_bytes()


@functools.cache
def finished_case(folder: Path) -> Path:
    """A finished case to spoil copies of."""
    scans = folder / "scans"
    scans.mkdir(parents=True)
    for number in range(4):
        (scans / f"{number}.png").write_bytes(encode_png(shred(number)))
    settings = Settings(scorer="outline", arrangement=ArrangementOptions(pages=1, time_limit=5))
    reconstruct_into(folder / "case", [scans], settings=settings)
    return folder


def case_file(name: str, home: Path) -> bytes:
    return (finished_case(home) / "case" / name).read_bytes()


def read_case(name: str, home: Path, content: bytes, folder: Path) -> object:
    shutil.copytree(finished_case(home), folder, dirs_exist_ok=True)
    (folder / "case" / name).write_bytes(content)
    if name == "journal.jsonl":
        case = open_case(folder / "case")
        return case.journal.check(), case.journal.read() if case.journal.check().is_sound else None
    return reopen(folder / "case")


@functools.cache
def finished_sheet_case(folder: Path) -> Path:
    """A finished case of a sheet, and its export with words."""
    (folder / "scans").mkdir(parents=True)
    (folder / "scans/sheet.png").write_bytes(encode_png(sheet()))
    settings = Settings(scorer="outline", arrangement=ArrangementOptions(pages=1, time_limit=5))
    reconstruct_into(folder / "case", [folder / "scans"], settings=settings)
    export(folder / "case", folder / "export", formats=("json", "csv"), reading=ReadingOptions(engine="none"))
    record = json.loads((folder / "export/record.json").read_bytes())
    word = {"text": "Garside", "box": [5, 5, 60, 30], "confidence": 0.9, "clarity": "clear", "joins": []}
    lines = [{"block": 1, "baseline": [30, 30], "words": [word]}]
    told = {"engine": "e", "language": "eng", "data_sha256": "", "clear_share": 1.0, "lines": lines}
    record["pages"][0]["reading"] = told
    (folder / "export/record.json").write_text(json.dumps(record))
    return folder


def kept_cutouts(home: Path) -> bytes:
    for file in sorted((finished_sheet_case(home) / "case/store").rglob("*.npz")):
        if b"record.npy" in file.read_bytes():
            return file.read_bytes()
    raise AssertionError("no cut-outs are kept")


def read_cutouts(home: Path, content: bytes, folder: Path) -> object:
    shutil.copytree(finished_sheet_case(home), folder, dirs_exist_ok=True)
    for file in (folder / "case/store").rglob("*.npz"):
        if b"record.npy" in file.read_bytes():
            file.write_bytes(content)
    opened = reopen(folder / "case")
    assert len(opened.sheets) == 1
    return opened


def open_everywhere(name: str, home: Path, content: bytes, folder: Path) -> object:
    """A case through all its doors, one after the other; each may refuse it."""
    shutil.copytree(finished_case(home), folder, dirs_exist_ok=True)
    (folder / "case" / name).parent.mkdir(exist_ok=True)
    (folder / "case" / name).write_bytes(content)
    refused: list[DeshredError] = []
    doors: tuple[Callable[[], object], ...] = (
        lambda: verify(folder / "case"),
        lambda: solve_again(reopen(folder / "case")),
        lambda: export(
            *(folder / "case", folder / "export"),
            formats=("png", "json", "csv", "report"),
            reading=ReadingOptions(engine="none"),
        ),
        lambda: reconstruct_into(folder / "case", [folder / "scans"], settings=QUICKLY, add=True),
    )
    for door in doors:
        try:
            door()
        except DeshredError as error:
            if error.exit_code == 1:
                raise
            refused.append(error)
    if refused:
        raise refused[0]
    return None


def solve_again(opened: Reconstruction) -> object:
    """What a review does with a case: it is solved again under what a person says."""
    first, second = opened.arrangement.order[:2]
    return rearrange(opened, Constraints(forbidden=frozenset({(first, second)})))


def read_record(home: Path, content: bytes, folder: Path) -> object:
    shutil.copytree(finished_sheet_case(home) / "export", folder / "export", dirs_exist_ok=True)
    (folder / "export/record.json").write_bytes(content)
    verify(folder / "export", inputs=[finished_sheet_case(home) / "scans"])
    return search(folder / "export", "Garside")


QUICKLY = Settings(scorer="outline", arrangement=ArrangementOptions(pages=1, time_limit=5))


def list_doors(home: Path) -> Sequence[Door]:
    """All of them; `home` is a folder for what is made once."""
    return (
        *_list_images(),
        *_list_records(),
        *_list_cases(home),
        *_list_strangers(home),
        *_list_crafted(home),
    )


def _list_crafted(home: Path) -> Sequence[Door]:
    """The doors of images and records once more, for files that were never sound; and two of a stranger."""
    images = {"png": "PNG", "tif": "TIFF", "jpg": "JPEG", "webp": "WEBP", "bmp": "BMP"}
    return (
        *(
            Door(
                f"crafted {kind}",
                f"crafted {kind.lower()}",
                functools.partial(encode, kind, shred()),
                functools.partial(read_image, f"a.{suffix}"),
            )
            for suffix, kind in images.items()
        ),
        Door(
            "crafted PDF",
            "crafted pdf",
            lambda: one_page(b"", b"20 20 60 60 re f", size=120),
            functools.partial(read_image, "a.pdf"),
        ),
        Door("crafted scores", "crafted npz", scores, functools.partial(read_scores, "scores.npz")),
        Door(
            "crafted settings",
            "crafted toml",
            lambda: SETTINGS,
            functools.partial(read_text, read_settings, "settings.toml"),
        ),
        Door(
            "crafted truth",
            "crafted json",
            TRUTH.encode,
            functools.partial(read_text, read_truth, "truth.json"),
        ),
        Door(
            "stranger: plan",
            "json",
            lambda: json.dumps(PLAN).encode(),
            functools.partial(open_everywhere, ".new/complete.json", home),
        ),
        Door(
            "stranger: run again",
            "json",
            functools.partial(case_file, "arrangement.json", home),
            functools.partial(run_again, home),
        ),
    )


PLAN = {
    "command": "reconstruct",
    "results": {"pages/page-001.png": "x", "notes.txt": "y"},
    "old": {"report.html": "z"},
}


def run_again(home: Path, content: bytes, folder: Path) -> object:
    """`verify --repeat`: the settings and constraints of a stranger are those of a new run."""
    shutil.copytree(finished_case(home), folder, dirs_exist_ok=True)
    (folder / "case/arrangement.json").write_bytes(content)
    return verify(folder / "case", repeat=True)


def _list_strangers(home: Path) -> Sequence[Door]:
    """Cases and exports that a stranger has made: files that are sound and say what cannot be."""
    sheets = home.parent / "sheets"
    structures = {"arrangement.json": "json", "inputs.json": "json", "case.json": "json"}
    structures["compatibility.npz"] = "arrays"
    return (
        *(
            Door(
                f"stranger: {name}",
                structure,
                functools.partial(case_file, name, home),
                functools.partial(open_everywhere, name, home),
            )
            for name, structure in structures.items()
        ),
        Door(
            "stranger: cut-outs",
            "arrays",
            functools.partial(kept_cutouts, sheets),
            functools.partial(read_cutouts, sheets),
        ),
        Door(
            "stranger: record.json",
            "json",
            lambda: (finished_sheet_case(sheets) / "export/record.json").read_bytes(),
            functools.partial(read_record, sheets),
        ),
    )


def _list_images() -> Sequence[Door]:
    def door(name: str, structure: str, file: str, make: Callable[[], bytes]) -> Door:
        return Door(name, structure, make, functools.partial(read_image, file))

    white = np.full((240, 60), 255, np.uint8)
    return (
        door("PNG shred", "png", "a.png", lambda: encode_png(shred())),
        door("PNG sheet", "png", "a.png", lambda: encode_png(sheet())),
        door("JPEG sheet", "jpeg", "a.jpg", lambda: encode("JPEG", sheet(), dpi=(300, 300))),
        door("progressive JPEG", "jpeg", "a.jpg", lambda: encode("JPEG", shred(), progressive=True)),
        door("WebP shred", "", "a.webp", lambda: encode("WEBP", shred())),
        door("BMP shred", "", "a.bmp", lambda: encode("BMP", shred())),
        door("TIFF of many pages", "tiff", "a.tif", lambda: pages("TIFF", compression="tiff_lzw")),
        door("TIFF of a fax", "tiff", "a.tif", lambda: pages("group4")),
        door("PDF", "pdf", "a.pdf", lambda: one_page(b"", b"20 20 60 60 re f", size=120)),
        Door("page to shred", "png", lambda: encode_png(sheet()), functools.partial(read_page, "page.png")),
        Door("PNG mask", "png", lambda: encode("PNG", white), functools.partial(read_mask, ".png")),
        Door("NPY mask", "npy", mask_array, functools.partial(read_mask, ".npy")),
    )


def _list_records() -> Sequence[Door]:
    def text(name: str, file: str, content: bytes, read: Callable[[Path], object]) -> Door:
        return Door(name, "text", lambda: content, functools.partial(read_text, read, file))

    return (
        Door("scores", "npz", scores, functools.partial(read_scores, "scores.npz")),
        Door("TSPLIB", "lines", distances, functools.partial(read_scores, "tiny.atsp")),
        text("settings", "settings.toml", SETTINGS, read_settings),
        text("constraints", "known.toml", CONSTRAINTS, load_constraints),
        text("truth", "truth.json", TRUTH.encode(), read_truth),
        Door("catalog", "text", KINDS.encode, read_collection),
        Door("model", "onnx", model_bytes, read_model),
    )


def _list_cases(home: Path) -> Sequence[Door]:
    structures = {
        "case.json": "text",
        "arrangement.json": "text",
        "inputs.json": "text",
        "journal.jsonl": "lines",
        "compatibility.npz": "npz",
    }
    return tuple(
        Door(
            f"case: {name}",
            structure,
            functools.partial(case_file, name, home),
            functools.partial(read_case, name, home),
        )
        for name, structure in structures.items()
    )
