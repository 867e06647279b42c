"""Makes every towers model that ships, and three seeds of the benchmark models, from nothing: one command.

    python benchmarks/models.py ../shared/data/pages -o /tmp/models

A base network learns from drawn pages alone: no page of any collection. All models start from it. Pages are
drawn once and kept in the output folder; a killed run goes on from its checkpoint, and what is there is not
made again. Models of several seeds have the same base and the same pages, and other batches. `--only` makes
some of them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from deshred.compatibility.towers.network import TowerTrainingOptions
from deshred.compatibility.towers.training import TowerRecipe, train_on
from deshred.compatibility.training import TrainingOptions
from deshred.simulation.intact import IntactPage, draw_intact, load_intact
from deshred.simulation.scripts import draw_script_pages

SEEDS = (0, 1, 2)
PAGES_SEED = 0
BASE = "base"


@dataclass(frozen=True)
class Model:
    """What one model learns from."""

    steps: int
    scans: tuple[str, ...] = ()  # folders
    drawn: int = 260
    scripts: int = 0
    init: str | None = BASE
    seeds: tuple[int, ...] = SEEDS

    def train(self, output: Path, seed: int, shelf: Shelf, precision: str, threads: int) -> None:
        """Train it, or go on where it was killed."""
        init = None if self.init is None else str(output.with_name(f"{self.init}-0.onnx"))
        train_on(
            [
                *map(shelf.read, self.scans),
                shelf.draw("drawn", self.drawn),
                shelf.draw("scripts", self.scripts),
            ],
            output,
            recipe=TowerRecipe(init=init, drawn=self.drawn, scripts=self.scripts),
            training=TowerTrainingOptions(
                steps=self.steps,
                precision="bfloat16" if precision == "bfloat16" else "float32",
                anneal=self.init is not None,
                seed=seed,
            ),
            options=TrainingOptions(threads=threads, resume=True),
            report=partial(_tell, output.stem),
        )


MODELS: Mapping[str, Model] = {
    BASE: Model(3000, scripts=750, init=None, seeds=(0,)),
    "towers-isri": Model(1500, ("isri-ocr",), scripts=150),
    "towers-cdip": Model(1500, ("cdip",), scripts=150),
    "towers-default": Model(2000, ("cdip", "isri-ocr"), scripts=750, seeds=(0,)),
}


@dataclass(frozen=True)
class Shelf:
    """Pages that were read or drawn, each only once."""

    folder: Path  # of scanned pages
    kept: Path
    known: dict[str, list[IntactPage]] = field(default_factory=dict)

    def read(self, name: str) -> list[IntactPage]:
        """Scanned pages."""
        return self._find(name, lambda: load_intact([self.folder / name]))

    def draw(self, kind: str, count: int) -> list[IntactPage]:
        """Pages that are drawn: the first of those that the model with most of them learns from."""
        most = max(model.drawn if kind == "drawn" else model.scripts for model in MODELS.values())
        if kind == "drawn":
            make = partial(draw_intact, most, np.random.default_rng(PAGES_SEED))
        else:
            make = partial(draw_script_pages, most, np.random.default_rng([PAGES_SEED, 1]))
        return self._find(f"{kind}-{most}", make)[:count]

    def _find(self, name: str, make: Callable[[], list[IntactPage]]) -> list[IntactPage]:
        file = self.kept / f"pages-{name}.npz"
        if name not in self.known and file.is_file():
            with np.load(file) as arrays:
                self.known[name] = list(_unpack(arrays))
        elif name not in self.known:
            self.known[name] = make()
            part = file.with_suffix(".part.npz")
            np.savez(part, **_pack(self.known[name]))
            part.replace(file)
        return self.known[name]


def _pack(pages: Sequence[IntactPage]) -> dict[str, np.ndarray]:
    return {f"{i}|{page.width}|{page.name}": page.bits for i, page in enumerate(pages)}


def _unpack(arrays: Mapping[str, np.ndarray]) -> Iterator[IntactPage]:
    for key in arrays:
        _, width, name = key.split("|", 2)
        yield IntactPage(name, arrays[key], int(width))


def _tell(name: str, step: int, steps: int, figures: Mapping[str, float]) -> None:
    if step % 50 == 0 or step == steps:
        shown = ", ".join(f"{key} {value:.3f}" for key, value in figures.items())
        print(f"{name}: step {step} of {steps}, {shown}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", type=Path, help="folder that holds cdip and isri-ocr: whole scanned pages")
    parser.add_argument("-o", "--output", type=Path, required=True, help="where models and pages are kept")
    parser.add_argument("--only", nargs="+", metavar="MODEL-SEED", help="these, such as towers-isri-0")
    parser.add_argument("--precision", default="bfloat16", choices=("float32", "bfloat16"))
    parser.add_argument("--threads", type=int, default=1, help="default: %(default)s")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    shelf = Shelf(arguments.pages, arguments.output)
    for seed in SEEDS:  # a first seed of every model before the others
        for name, model in MODELS.items():
            output = arguments.output / f"{name}-{seed}.onnx"
            wanted = not arguments.only or output.stem in arguments.only
            if seed in model.seeds and wanted and not output.is_file():
                model.train(output, seed, shelf, arguments.precision, arguments.threads)


if __name__ == "__main__":
    main()
