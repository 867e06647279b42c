"""Draws the pictures of the README and the guide from made-up pages: python docs/images/draw.py"""

from pathlib import Path

import numpy as np
from PIL import Image, ImageChops, ImageFilter

from deshred.elements import Arrangement, Copy, Shred, ShredSet, Slot, Source
from deshred.imaging.composition import compose
from deshred.simulation.drawing import draw_page
from deshred.simulation.shredding import shred_page

HERE = Path(__file__).parent
TABLE = (52, 60, 72)
HEIGHT = 760


def main() -> None:
    """Draw all pictures."""
    rng = np.random.default_rng(9)
    cut = shred_page(draw_page("form", rng), rng)
    picture = Image.new("RGB", (1500, HEIGHT), TABLE)
    scatter(picture, cut, rng, width=840)
    arrow(picture, 880, HEIGHT // 2)
    page = Image.fromarray(join(cut))
    page.thumbnail((560, HEIGHT - 60), Image.Resampling.LANCZOS)
    lay(picture, page.convert("RGBA"), 945, (HEIGHT - page.height) // 2)
    picture.quantize(256, Image.Quantize.FASTOCTREE).save(HERE / "pile-and-page.png", optimize=True)

    sheet = [Image.fromarray(draw_page(kind, np.random.default_rng(seed))) for kind, seed in KINDS]
    gallery = Image.new("RGB", (6 * 250 + 10, 2 * 350 + 10), TABLE)
    for at, drawn in enumerate(sheet):
        small = drawn.resize((240, 340), Image.Resampling.LANCZOS)
        gallery.paste(small, (10 + at % 6 * 250, 10 + at // 6 * 350))
    gallery.quantize(64, Image.Quantize.FASTOCTREE).save(HERE / "drawn-pages.png", optimize=True)
    show_copies()


def show_copies() -> None:
    """A part of a page that went askew through the shredder: its evidence copy, and its reading copy."""
    rng = np.random.default_rng(4)
    askew = Image.fromarray(draw_page("memo", rng)).rotate(
        -1.2, resample=Image.Resampling.BICUBIC, fillcolor=(250, 250, 248)
    )
    cut = shred_page(np.asarray(askew), rng)
    both = Image.new("RGB", (1500, 470), TABLE)
    for at, copy in enumerate(("evidence", "reading")):
        part = Image.fromarray(join(cut, copy)).crop((250, 250, 1350, 950))
        both.paste(part.resize((735, 450), Image.Resampling.LANCZOS), (10 + 745 * at, 10))
    both.quantize(64, Image.Quantize.FASTOCTREE).save(HERE / "two-copies.png", optimize=True)


KINDS = [
    ("text", 0), ("columns", 1), ("form", 5), ("table", 3), ("letter", 3), ("list", 12),
    ("invoice", 1), ("budget", 0), ("memo", 1), ("small-print", 2), ("scripts", 1), ("handwriting", 1),
]  # fmt: skip


def scatter(picture: Image.Image, cut: list, rng: np.random.Generator, *, width: int) -> None:
    """Every shred somewhere on the table, half of them upside down."""
    for place, at in enumerate(rng.permutation(len(cut))):
        pixels = np.dstack([cut[at].image, cut[at].mask.astype(np.uint8) * 255])
        shred = Image.fromarray(pixels).resize(
            (max(1, pixels.shape[1] // 6), pixels.shape[0] // 6), Image.Resampling.LANCZOS
        )
        angle = float(rng.normal(0, 14)) + 180 * float(rng.random() < 0.4)
        shred = shred.rotate(angle, expand=True, resample=Image.Resampling.BICUBIC)
        x = 30 + round((width - 160) * place / len(cut) + rng.normal(0, 18))
        y = round((HEIGHT - shred.height) / 2 + rng.normal(0, 35))
        lay(picture, shred, max(5, x), min(max(5, y), HEIGHT - shred.height - 5))


def lay(picture: Image.Image, shred: Image.Image, x: int, y: int) -> None:
    """Paste with a soft shadow."""
    alpha = shred.getchannel("A")
    shadow = Image.new("L", picture.size, 0)
    shadow.paste(alpha.point(lambda value: value * 0.45), (x + 3, y + 4), alpha)
    shadow = shadow.filter(ImageFilter.GaussianBlur(4))
    picture.paste(ImageChops.multiply(picture, Image.new("RGB", picture.size, (20, 22, 26))), (0, 0), shadow)
    picture.paste(shred, (x, y), alpha)


def arrow(picture: Image.Image, x: int, y: int) -> None:
    """From the pile to the page."""
    rows, columns = np.mgrid[-30:30, 0:44]
    head = (np.abs(rows) < (44 - columns) * 0.7) & (columns > 14) | (np.abs(rows) < 9) & (columns <= 16)
    picture.paste((235, 232, 224), (x, y - 30), Image.fromarray((head * 255).astype(np.uint8)))


def join(cut: list, copy: Copy = "evidence") -> np.ndarray:
    """The page composed of its shreds."""
    source = Source(Path("drawn"), "0" * 64)
    shreds = ShredSet([Shred(str(i), s.image, s.mask, 300.0, source) for i, s in enumerate(cut)])
    slots = tuple(Slot(str(i), -s.shift) for i, s in enumerate(cut))
    return compose(shreds, Arrangement((slots,), (), (), 0.0, 0.0), copy=copy)[0].image


if __name__ == "__main__":
    main()
