"""How well shreds are found on a sheet: real sheets with true masks, and simulated ones.

python benchmarks/segmentation.py --data ../shared/data   the real sheets (s-cdip-sheets with s-cdip)
python benchmarks/segmentation.py                         simulated: colors, resolutions, lean, contact
python benchmarks/segmentation.py --pictures docs/images  the pictures of docs/scanning.md
"""

from __future__ import annotations

import argparse
import io
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow

from deshred.elements import Image, Mask, Scan, Shred, Source
from deshred.errors import InputError
from deshred.imaging.scans import read_scans
from deshred.imaging.sheets.overview import draw_overview
from deshred.imaging.sheets.segmentation import Segmentation, segment
from deshred.simulation.drawing import draw_page
from deshred.simulation.layouts import Layout, LayoutOptions, lay_out
from deshred.simulation.shredding import Damage, ShreddingOptions, shred_page

COLORS = {
    "orange": (250, 180, 88),
    "yellow": (245, 215, 60),
    "green": (70, 160, 80),
    "blue": (50, 90, 180),
    "red": (200, 50, 45),
    "violet": (120, 60, 150),
    "dark grey": (75, 75, 78),
    "black": (28, 28, 30),
}
FOUND_IOU = 0.7


@dataclass(frozen=True, eq=False)
class Agreement:
    """How well the shreds of one sheet were found."""

    true: int
    found: int  # true shreds matched by exactly one found shred
    invented: int
    ious: NDArray[np.float64]
    errors: NDArray[np.float64]  # px along rows, left and right outline of every row of every match
    seconds: float = 0.0


def compare(truths: Sequence[Mask], segmentation: Segmentation, *, turned: bool = False) -> Agreement:
    """Match found shreds to true masks in the frame of the scan."""
    ious, errors, used = [], [], set()
    for truth in truths:
        best, best_iou = -1, 0.0
        for i, cutout in enumerate(segmentation.cutouts):
            common = int((truth[cutout.box.slices] & cutout.mask).sum())
            iou = common / (int(truth.sum()) + cutout.area - common)
            if iou > best_iou:
                best, best_iou = i, iou
        if best_iou < FOUND_IOU or best in used:
            continue
        used.add(best)
        ious.append(best_iou)
        found = np.zeros_like(truth)
        found[segmentation.cutouts[best].box.slices] = segmentation.cutouts[best].mask
        errors.append(outline_errors(truth.T, found.T) if turned else outline_errors(truth, found))
    return Agreement(
        true=len(truths),
        found=len(used),
        invented=len(segmentation.cutouts) - len(used),
        ious=np.array(ious),
        errors=np.concatenate(errors) if errors else np.zeros(0),
    )


def outline_errors(truth: Mask, found: Mask) -> NDArray[np.float64]:
    """Pixels between the true and the found outline, left and right, for all rows that both have."""
    rows = truth.any(axis=1) & found.any(axis=1)
    a, b = truth[rows], found[rows]
    left = a.argmax(axis=1) - b.argmax(axis=1)
    right = a[:, ::-1].argmax(axis=1) - b[:, ::-1].argmax(axis=1)
    return np.abs(np.concatenate([left, right])).astype(float)


def real_sheets(data: Path) -> Iterator[tuple[Scan, list[Mask]]]:
    """Sheets of s-cdip-sheets with the true masks of s-cdip in the frame of the sheet."""
    truth = json.loads((data / "s-cdip-sheets" / "truth.json").read_text())
    for path in sorted((data / "s-cdip-sheets").glob("*.jpg")):
        (scan,) = read_scans(path)
        document = path.stem.partition("-")[0]
        masks = []
        for shred in truth[document]["shreds"]:
            if shred["sheet"] != path.name:
                continue
            file = data / "s-cdip" / document / "masks" / f"{shred['name']}.png"
            cut = cv2.imread(str(file), cv2.IMREAD_GRAYSCALE) > 0
            full = np.zeros(scan.image.shape[:2], bool)
            left, width = shred["bbox_xywh"][0], shred["bbox_xywh"][2]
            full[full.shape[0] - cut.shape[0] :, left : left + width] = cut
            masks.append(full)
        yield scan, masks


def simulated_shreds(rng: np.random.Generator, *, count: int = 12, height: int = 1800) -> list[Shred]:
    """Shreds of a drawn page, torn more raggedly than a machine would."""
    kinds = ("text", "form", "table", "letter")
    page = draw_page(kinds[int(rng.integers(len(kinds)))], rng)[300 : 300 + height, 300:2200]
    options = ShreddingOptions(
        shreds=count, shift=0, tilt_degrees=0.0, damage=Damage(ragged=4.0, ink_loss=0.0)
    )
    cut = shred_page(page, rng, options=options)
    return [one.to_shred(f"s{i}") for i, one in enumerate(cut)]


def as_scan(layout: Layout, name: str = "simulated.png") -> Scan:
    return Scan(layout.image, layout.dpi, Source(Path(name), ""))


def measure(scan: Scan, truths: Sequence[Mask], *, turned: bool = False) -> Agreement:
    started = time.process_time()
    segmentation = segment(scan)
    seconds = time.process_time() - started  # of all cores: what other programs take does not count
    agreement = compare(truths, segmentation, turned=turned)
    return Agreement(**{**agreement.__dict__, "seconds": seconds})


def show(name: str, a: Agreement) -> None:
    iou = f"IoU {a.ious.mean():.4f} worst {a.ious.min():.4f}" if a.ious.size else "IoU -"
    error = (
        f"outline p95 {np.percentile(a.errors, 95):.1f} mean {a.errors.mean():.2f} px"
        if a.errors.size
        else ""
    )
    print(
        f"{name:38} {a.found:3}/{a.true:<3} invented {a.invented}  {iou}  {error}  {a.seconds:.2f} CPU s",
        flush=True,
    )


def total(agreements: Sequence[Agreement]) -> Agreement:
    return Agreement(
        sum(a.true for a in agreements),
        sum(a.found for a in agreements),
        sum(a.invented for a in agreements),
        np.concatenate([a.ious for a in agreements]),
        np.concatenate([a.errors for a in agreements]),
        max(a.seconds for a in agreements),
    )


def run_real(data: Path) -> None:
    agreements = []
    for scan, truths in real_sheets(data):
        try:
            agreement = measure(scan, truths)
        except InputError as error:
            print(f"{scan.source.path.name:38} {len(truths)} true shreds: {error}")
            continue
        show(scan.source.path.name, agreement)
        agreements.append(agreement)
    show("all sheets (time: longest)", total(agreements))


def run_simulated(seed: int, dpis: Sequence[float]) -> None:
    for dpi in dpis:
        for touching in (0, 2):
            agreements = []
            for color, rgb in COLORS.items():
                rng = np.random.default_rng(seed)
                options = LayoutOptions(
                    dpi=dpi, width_mm=210, height_mm=190, color=rgb, max_lean=5.0, gap_mm=2.0, rim_mm=1.0,
                    gradient=0.25, shadow=0.25, noise=4.0, misregistration_px=0.4, jpeg_quality=75,
                    touching_pairs=touching,
                )  # fmt: skip
                layout = lay_out(simulated_shreds(rng), rng, options=options)
                truths = [layout.truth(i) for i in range(len(layout.laid))]
                agreement = measure(as_scan(layout), truths)
                show(f"{color}, {dpi:g} dpi{', touching pairs' if touching else ''}", agreement)
                agreements.append(agreement)
            show(f"all colors, {dpi:g} dpi", total(agreements))


def draw_pictures(folder: Path) -> None:
    """The pictures of docs/scanning.md."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(7)
    cut = simulated_shreds(rng, count=9, height=1500)
    shreds = [cut[i] for i in rng.permutation(len(cut))]
    good = {"scan-good": LayoutOptions(height_mm=150, width_mm=190, gap_mm=4, max_lean=0.5, gradient=0.1)}
    bad = {
        "scan-touching": LayoutOptions(
            height_mm=150, width_mm=190, gap_mm=3, max_lean=1, touching_pairs=2, shadow=0.2
        ),
        "scan-leaning": LayoutOptions(height_mm=150, width_mm=230, gap_mm=3, max_lean=6, shadow=0.1),
    }
    for name, options in {**good, **bad}.items():
        layout = lay_out(shreds, rng, options=options)
        scan = as_scan(layout, f"{name}.png")
        picture = draw_overview(scan, segment(scan), longest_side=640)
        (folder / f"{name}.png").write_bytes(_palette_png(picture))
        print(folder / f"{name}.png")


def _palette_png(picture: Image) -> bytes:
    """64 colors are enough for a drawing, and a third of the bytes."""
    packed = io.BytesIO()
    Pillow.fromarray(picture).quantize(64).save(packed, "PNG", optimize=True)
    return packed.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder that holds s-cdip-sheets and s-cdip")
    parser.add_argument("--pictures", type=Path, help="draw the pictures of the guide into this folder")
    parser.add_argument("--dpi", type=float, nargs="*", default=[150.0, 300.0, 600.0])
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.pictures:
        draw_pictures(arguments.pictures)
    elif arguments.data:
        run_real(arguments.data)
    else:
        run_simulated(arguments.seed, arguments.dpi)


if __name__ == "__main__":
    main()
