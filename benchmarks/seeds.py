"""How much accuracy depends on the seed of the training: towers trained anew from several seeds.

    python benchmarks/seeds.py ../shared/data -o benchmarks/results --models /tmp/seeds

Cross-database as in the paper. Models are kept in `--models`: a killed run goes on from its checkpoint, and
what is already trained or measured is not repeated. One model takes about half an hour of one core. The seed
of a training is also that of the evaluation, which shuffles documents and shreds.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from accuracy import COLLECTIONS, METHODS, measure
from deshred.cases import to_json, write_atomically

PAGES = {"s-marques": "cdip", "s-isri-ocr": "cdip", "s-cdip": "isri-ocr"}  # by collection, under pages/
SHOWN = ("towers", "default")


@dataclass(frozen=True)
class Recipe:
    """How every model is trained."""

    steps: int
    drawn: int
    precision: str


def train(pages: Path, model: Path, *, seed: int, recipe: Recipe) -> None:
    """Train one model from scratch, or go on where it was killed."""
    if model.is_file():
        return
    model.parent.mkdir(parents=True, exist_ok=True)
    flags = [text for key, value in asdict(recipe).items() for text in (f"--{key}", str(value))]
    command = ["train", "towers", str(pages), "-o", str(model), "--seed", str(seed), *flags]
    subprocess.run([sys.executable, "-m", "deshred", *command, "--resume"], check=True)


def measure_seed(data: Path, models: Path, *, seed: int, recipe: Recipe) -> dict[str, dict[str, Any]]:
    """Accuracy of one seed's models: collection -> method -> k -> mean."""
    accuracy: dict[str, dict[str, Any]] = {}
    for collection, pages in PAGES.items():
        model = models / f"{pages}-{seed}.onnx"
        train(data / "pages" / pages, model, seed=seed, recipe=recipe)
        accuracy[collection] = {}
        for name in SHOWN:
            method = replace(METHODS[name], models={collection: str(model)})
            found = measure(method, data / collection, seed=seed, cache=None)
            accuracy[collection][name] = {k: result["mean"] for k, result in found["accuracy"].items()}
    return accuracy


def to_markdown(seeds: dict[str, dict[str, Any]]) -> str:
    """One row per method: mean and standard deviation over seeds, in %, at k = 1 / all mixed."""
    lines = ["| method | " + " | ".join(COLLECTIONS.values()) + " |", "|---" * (len(COLLECTIONS) + 1) + "|"]
    for name in SHOWN:
        cells = []
        for collection in COLLECTIONS:
            parts = []
            for k in ("1", "all"):
                values = [100 * seed[collection][name][k] for seed in seeds.values()]
                spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
                parts.append(f"{np.mean(values):.1f} ± {spread:.1f}")
            cells.append(" / ".join(parts))
        lines.append(f"| {METHODS[name].label} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Mean and spread of accuracy over training seeds.")
    parser.add_argument("data", type=Path, help=f"folder that holds pages, {', '.join(COLLECTIONS)}")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--models", type=Path, required=True, help="where the models are kept")
    parser.add_argument("--seeds", default="1,2,3", help="default: %(default)s")
    parser.add_argument("--steps", type=int, default=1100, help="of every training; default: %(default)s")
    parser.add_argument("--drawn", type=int, default=0, help="pages drawn by deshred; default: %(default)s")
    parser.add_argument("--precision", default="float32", help="default: %(default)s")
    arguments = parser.parse_args()

    file = arguments.output / "seeds.json"
    content = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    recipe = Recipe(arguments.steps, arguments.drawn, arguments.precision)
    if {key: content.get(key) for key in asdict(recipe)} != asdict(recipe):
        content = {**asdict(recipe), "seeds": {}}
    for seed in map(int, arguments.seeds.split(",")):
        if str(seed) not in content["seeds"]:
            content["seeds"][str(seed)] = measure_seed(
                arguments.data, arguments.models, seed=seed, recipe=recipe
            )
            write_atomically(file, to_json(content).encode())
    print(to_markdown(content["seeds"]))


if __name__ == "__main__":
    main()
