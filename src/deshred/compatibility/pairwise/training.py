"""How the pairwise network learns: samples of simulated cuts, cross-entropy, the best epoch wins.

A `Task` of `training.py`. Needs torch; scoring is in `pairwise.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from deshred.compatibility.models import find_model, list_models, open_model
from deshred.compatibility.models.cards import parse_card
from deshred.compatibility.pairwise.network import FITS
from deshred.compatibility.pairwise.quantizing import quantize_alike, quantize_pairwise, sample_edges
from deshred.compatibility.pairwise.samples import SampleOptions, Samples, join_samples, sample_page
from deshred.compatibility.pairwise.shared_joins import SharedJoins, restore_plain
from deshred.compatibility.pairwise.squeezenet import SqueezeNet, build_squeezenet, file_checksum
from deshred.compatibility.pairwise.stretches import MAP_STEP
from deshred.compatibility.pairwise.windows import WindowNetwork
from deshred.compatibility.training import (
    Report,
    TrainingOptions,
    export_onnx,
    fingerprint_pages,
    read_metadata,
    read_tensors,
    train,
)
from deshred.errors import InputError, SettingsError
from deshred.executors import Progress
from deshred.options import option
from deshred.simulation.intact import IntactPage, load_intact

_VALIDATION_EPOCH = -1  # its samples never change, and no epoch of training has the same


@dataclass(frozen=True)
class PairwiseTrainingOptions:
    """How long and how fast."""

    epochs: int = option(10, "How many times all pages are seen.")
    batch: int = option(256, "Windows per step.")
    learning_rate: float | None = option(
        None, "Peak learning rate.", shown="0.002, 0.0001 from ImageNet weights, 0.001 from a model"
    )
    dropout: float | None = None  # None: see `_Start`
    fresh: bool = True  # shred the pages anew for every epoch; the paper does it once
    validation_share: float = 0.1  # of the pages
    seed: int = option(0, "Seed for everything random.")
    init: Path | None = option(
        None,
        "ImageNet weights in torchvision's format, or a pairwise model to continue from.",
        shown="none",
    )

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.batch < 2:
            raise SettingsError(
                f"training needs at least 1 epoch and batches of 2, got {self.epochs} and {self.batch}."
            )
        if not 0 < self.validation_share < 1:
            raise SettingsError(f"validation_share must lie between 0 and 1, got {self.validation_share:g}.")
        if self.dropout is not None and not 0 <= self.dropout < 1:
            raise SettingsError(f"dropout must lie between 0 and 1, got {self.dropout:g}.")
        if self.learning_rate is not None and not self.learning_rate > 0:
            raise SettingsError(f"learning_rate must be above 0, got {self.learning_rate:g}.")


@dataclass(frozen=True)
class _Start:
    """How the descent depends on where it starts."""

    rate: float
    dropout: float
    one_cycle: bool  # otherwise a tenth of the rate after each third, as in the paper
    normalize: bool


_FROM_SCRATCH = _Start(2e-3, 0.0, one_cycle=True, normalize=True)
_FROM_IMAGENET = _Start(1e-4, 0.5, one_cycle=False, normalize=False)
_FROM_MODEL = _Start(1e-3, 0.0, one_cycle=True, normalize=False)  # its norms are folded into it already


class PairwiseTask:
    """Learns to tell windows of true joins from windows of all others."""

    kind = "pairwise"

    def __init__(
        self,
        pages: Sequence[IntactPage],
        *,
        options: SampleOptions | None = None,
        training: PairwiseTrainingOptions | None = None,
    ) -> None:
        self.options = options or SampleOptions()
        self.training = t = training or PairwiseTrainingOptions()
        if len(pages) < 2:
            raise InputError(
                f"pairwise training needs at least 2 pages, to train and to validate on; got {len(pages)}."
            )
        start = _choose_start(t.init)
        dropout = start.dropout if t.dropout is None else t.dropout
        if start is _FROM_MODEL:
            assert t.init is not None
            plain = import_pairwise(t.init, options=self.options, dropout=dropout)
        else:
            plain = build_squeezenet(
                self.options.rows, self.options.columns, seed=t.seed, dropout=dropout, init=t.init
            )
        self.network = WindowNetwork(plain, normalize=start.normalize)
        self._pages = fingerprint_pages(pages)
        held_out = _choose_held_out(pages, t)
        self.validation_pages = [page for page, is_out in zip(pages, held_out, strict=True) if is_out]
        self.training_pages = [page for page, is_out in zip(pages, held_out, strict=True) if not is_out]
        self._validation = self._sample(self.validation_pages, _VALIDATION_EPOCH)
        self._epoch = 0
        self._samples = self._sample(self.training_pages, 0)
        for samples, purpose in ((self._samples, "train"), (self._validation, "validate")):
            if len(samples) < 2:
                raise InputError(
                    f"the pages to {purpose} on give no window with {self.options.min_ink:.0%} ink. "
                    "Give pages with more text, or lower min_ink."
                )
        self.validate_every = max(1, len(self._samples) // t.batch)  # steps of an epoch
        self.steps = self.validate_every * t.epochs
        self.optimizer, self.schedule = self._prepare_descent(start)

    def _prepare_descent(
        self, start: _Start
    ) -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler]:
        schedules = torch.optim.lr_scheduler
        rate = self.training.learning_rate or start.rate
        optimizer = torch.optim.Adam(self.network.parameters(), lr=rate, fused=True)
        if start.one_cycle:
            return optimizer, schedules.OneCycleLR(optimizer, rate, total_steps=self.steps + 1, pct_start=0.1)
        return optimizer, schedules.StepLR(optimizer, step_size=max(1, self.steps // 3), gamma=0.1)

    @property
    def identity(self) -> Mapping[str, Any]:
        training = asdict(self.training)
        if self.training.init is not None:
            init = self.training.init
            training["init"] = file_checksum(find_model(init) if _choose_start(init) is _FROM_MODEL else init)
        return {
            "options": asdict(self.options),
            "training": training,
            "pages": len(self.training_pages) + len(self.validation_pages),
            "pages_sha256": self._pages,
            "training_samples": len(self._samples),
            "validation_samples": len(self._validation),
        }

    def loss(self, step: int) -> tuple[Tensor, dict[str, float]]:
        epoch, at = divmod(step, self.validate_every)
        if epoch != self._epoch and self.training.fresh:
            self._samples = self._sample(self.training_pages, epoch)
        self._epoch = epoch
        # drawn anew each step rather than kept, so that a resumed run sees the same order
        order = np.random.default_rng([self.training.seed, epoch]).permutation(len(self._samples))
        chosen = order[(np.arange(self.training.batch) + at * self.training.batch) % len(order)]
        return self._classify(self.network, self._samples, chosen)

    @torch.no_grad()
    def validate(self, network: nn.Module) -> dict[str, float]:
        network.eval()
        figures = []
        sizes = []
        for start in range(0, len(self._validation), 256):
            chosen = np.arange(start, min(start + 256, len(self._validation)))
            loss, found = self._classify(network, self._validation, chosen)
            figures.append((loss.item(), found["accuracy"]))
            sizes.append(len(chosen))
        mean_loss, accuracy = np.average(figures, axis=0, weights=sizes)
        return {"loss": float(mean_loss), "accuracy": float(accuracy)}

    def export(self, network: nn.Module, path: Path, card: Mapping[str, Any]) -> None:
        assert isinstance(network, WindowNetwork)
        export_pairwise(network.fold(), path, options=self.options, card=card)
        quantize_pairwise(path, sample_edges(self.training_pages, self.options, seed=self.training.seed))

    def _sample(self, pages: Sequence[IntactPage], epoch: int) -> Samples:
        seeds = np.random.SeedSequence([self.training.seed, epoch + 1]).spawn(len(pages))
        return join_samples(
            [
                sample_page(page.ink, np.random.default_rng(seed), options=self.options)
                for page, seed in zip(pages, seeds, strict=True)
            ]
        )

    def _classify(
        self, network: nn.Module, samples: Samples, chosen: np.ndarray
    ) -> tuple[Tensor, dict[str, float]]:
        ink = torch.from_numpy(samples.windows(chosen))
        truth = torch.from_numpy(samples.labels[chosen]).long()
        logits = network(ink)
        accuracy = ((logits[:, FITS] > logits[:, 1 - FITS]) == (truth == FITS)).float().mean().item()
        return F.cross_entropy(logits, truth), {"accuracy": accuracy}


def _choose_start(init: Path | None) -> _Start:
    if init is None:
        return _FROM_SCRATCH
    is_model = init.suffix == ".onnx" or str(init) in [model.name for model in list_models()]
    return _FROM_MODEL if is_model else _FROM_IMAGENET


def _choose_held_out(pages: Sequence[IntactPage], training: PairwiseTrainingOptions) -> NDArray[np.bool_]:
    """Which pages are validated on: whole files where there are enough, as pages of a file look alike."""
    files = np.array([page.name.partition("[")[0] for page in pages])
    if len(np.unique(files)) * training.validation_share < 1:
        files = np.arange(len(pages))
    names = np.unique(files)
    order = np.random.default_rng(training.seed).permutation(len(names))
    return np.isin(files, names[order[: max(1, round(training.validation_share * len(names)))]])


def export_pairwise(
    network: SqueezeNet, path: Path, *, options: SampleOptions, card: Mapping[str, Any]
) -> None:
    """Write the network over blocks of joins as ONNX, with the options of its samples inside."""
    joins = SharedJoins(network, columns=options.columns)
    edges = torch.zeros(1, 2 * MAP_STEP, options.columns // 2, dtype=torch.uint8)
    kept: dict[str, Tensor] = {}
    axes: dict[str, dict[int, str]] = {
        "rights": {0: "a", 1: "right_rows"},
        "lefts": {0: "b", 1: "left_rows"},
        "map": {0: "n", 1: "steps"},
    }
    found: list[str] = []
    for which, side in (("right", joins.look_right(edges)), ("left", joins.look_left(edges))):
        for part, example in side._asdict().items():
            name, rows = f"{which}.{part}", {example.ndim - 2: "seam_rows" if part == "seam" else "rows"}
            found.append(name)
            kept[f"{name}.kept"] = torch.zeros_like(example)
            axes[f"{name}.kept"] = rows if which == "right" else {0: "n", **rows}
            axes[name] = {0: axes[f"{which}s"][0]} | {axis: f"{which}_{name}" for axis, name in rows.items()}
    export_onnx(
        joins,
        {"rights": edges, "lefts": edges, **kept},
        ["map", *found],
        axes,
        path,
        kind=PairwiseTask.kind,
        card={**card, "options": asdict(options), "receptive_rows": joins.receptive_rows},
        optional=list(kept),
    )


def import_pairwise(model: str | Path, *, options: SampleOptions, dropout: float = 0.0) -> SqueezeNet:
    """The plain network inside a pairwise model, to train it further: what `export_pairwise` has written."""
    made_for = _read_card(find_model(model))["options"]
    if (made_for["rows"], made_for["columns"]) != (options.rows, options.columns):
        raise SettingsError(
            f"{model}: its windows are {made_for['rows']} x {made_for['columns']} px, not {options.rows} x "
            f"{options.columns}. Train with the size it was made for."
        )
    network = SqueezeNet(dropout=dropout)
    restore_plain(network, read_tensors(find_model(model)))
    return network


def convert_pairwise(model: str | Path, output: Path) -> None:
    """Lay out a trained model as `deshred train pairwise` does now: the same weights, quantized alike."""
    card = dict(_read_card(find_model(model)))
    options = SampleOptions(**card.pop("options"))
    network = import_pairwise(model, options=options).eval()
    export_pairwise(network, output, options=options, card=card)
    quantize_alike(output, find_model(model))


def _read_card(model: Path) -> Mapping[str, Any]:
    """The card inside a model, also of one with another layout, which cannot score any more."""
    metadata = read_metadata(model)
    if metadata.get("deshred.kind") != PairwiseTask.kind:
        open_model(model, PairwiseTask.kind)  # says what is wrong with it
    return parse_card(metadata["deshred.card"], PairwiseTask.kind, model)


def train_pairwise(
    pages: Sequence[Path],
    output: Path,
    *,
    samples: SampleOptions | None = None,
    training: PairwiseTrainingOptions | None = None,
    options: TrainingOptions | None = None,
    progress: Progress | None = None,
    report: Report | None = None,
) -> Path:
    """Train the network of the paper on intact pages: the whole recipe behind `deshred train pairwise`."""
    training = training or PairwiseTrainingOptions()
    task = PairwiseTask(load_intact(pages, progress=progress), options=samples, training=training)
    options = replace(options or TrainingOptions(), seed=training.seed)
    return train(task, output, options=options, report=report)
