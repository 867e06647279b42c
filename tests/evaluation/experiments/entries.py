"""Raw results as tests need them: read from a file, or made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
from numpy.typing import NDArray

Entry = dict[str, Any]


def read_entries(file: Path) -> dict[str, Entry]:
    """The entries of a file of raw results, by key."""
    results: dict[str, Entry] = json.loads(file.read_text())["results"]
    return results


def curve_entry(collection: str, method: str, k: int, accuracies: list[float], **more: Any) -> Entry:
    """What the incremental experiment keeps."""
    instances = [{"documents": [f"D{i:03d}"], "accuracy": value} for i, value in enumerate(accuracies, 1)]
    base = {"collection": collection, "documents": 20, "method": method, "k": k, "kinds": {}}
    return {**base, "instances": instances, **more}


def pile_entry(method: str, k: int, pile: str, accuracy: float, seconds: float, **more: Any) -> Entry:
    """What the comparison keeps."""
    base = {"collection": "s-marques", "documents": 20, "method": method, "k": k, "instance": [pile]}
    return {**base, "accuracy": accuracy, "seconds": {"score": seconds / 2, "solve": seconds / 2}, **more}


PILES = [
    pile_entry("default", 1, "a", 1.0, 2.0),
    pile_entry("default", 1, "b", 1.0, 4.0),
    pile_entry("marques", 1, "a", 0.5, 1.0),
    pile_entry("marques", 1, "b", 0.0, 9.0, failure="no ink"),
    pile_entry("marques", 2, "ab", 0.5, 7.0),
]


def feedback_entry(strategy: str, load: float, after: int, **more: Any) -> Entry:
    """What the feedback experiment keeps: 100 joins, ten of them wrong before."""
    base = {"collection": "s-cdip", "documents": 30, "method": "default", "strategy": strategy, "load": load}
    counted = {"joins": 100, "asked": round(100 * load), "before": 0.9, "wrong_before": 10}
    told = {"rounds": 1, "error": 0.0, "seed": 0, "after": 1 - after / 100, "wrong_after": after}
    return {**base, **counted, **told, **more}


def factor_entry(factor: str, value: str, k: int, accuracies: list[float], **more: Any) -> Entry:
    """What the ablation keeps."""
    mean = sum(accuracies) / len(accuracies)
    base = {"factor": factor, "value": value, "steps": 0, "mean": mean}
    return {**curve_entry("s-cdip", "default", k, accuracies), **base, **more}


def write_page(file: Path, ink: NDArray[np.bool_]) -> None:
    """A page to train on."""
    file.parent.mkdir(parents=True, exist_ok=True)
    PIL.Image.fromarray(np.where(ink, 0, 255).astype(np.uint8)).save(file)
