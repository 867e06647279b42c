"""Fit the close look of a towers model anew, on simulated piles, and put it into a copy of the model.

    python benchmarks/closelook.py towers-isri ../shared/data/pages/isri-ocr -o towers-isri.onnx --drawn 130
    python benchmarks/closelook.py towers-default ../shared/data/pages/cdip ../shared/data/pages/isri-ocr \\
        -o towers-default.onnx --drawn 130 --scripts 150

`deshred train towers` does the same at its end. Use no pages that the model is to be tested on.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from deshred.compatibility.fitting import write_close_look
from deshred.compatibility.models import find_model
from deshred.compatibility.towers.closelook_training import fit_close_look
from deshred.imaging.files import find_images
from deshred.simulation.intact import draw_intact, load_intact
from deshred.simulation.scripts import draw_script_pages


def show(stage: str, done: int, total: int) -> None:
    print(f"{stage} {done} of {total}", flush=True)


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model")
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--most", type=int, default=300, help="files of pages that are read, at most")
    parser.add_argument("--drawn", type=int, default=0)
    parser.add_argument("--scripts", type=int, default=0)
    parser.add_argument("--piles", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(given)
    seed = arguments.seed
    files = find_images(arguments.pages)
    chosen = np.sort(np.random.default_rng(seed).permutation(len(files))[: arguments.most])
    pages = [
        *(load_intact([files[i] for i in chosen]) if len(files) else []),
        *draw_intact(arguments.drawn, np.random.default_rng(seed)),
        *draw_script_pages(arguments.scripts, np.random.default_rng([seed, 1])),
    ]
    print(f"{len(pages)} pages", flush=True)
    model = find_model(arguments.model)
    look = fit_close_look(model, pages, piles=arguments.piles, seed=seed, progress=show)
    shutil.copyfile(model, arguments.output)
    write_close_look(arguments.output, look)


if __name__ == "__main__":
    main()
