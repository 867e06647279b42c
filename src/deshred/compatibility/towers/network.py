"""The two towers and how they learn: one encoder per side, joined by inner products of their rows.

An edge becomes d features for every 4 px of its height. The score of a join at a shift is the sum of the
inner products of rows that meet; symmetric InfoNCE teaches it to be log p(left | right) / p(left), so
rows add up as evidence. Needs torch; inference is in `scorer.py`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from deshred.compatibility.models import find_model, open_model
from deshred.compatibility.towers.quantizing import Windows, quantize
from deshred.compatibility.towers.scorer import ROW_STEP, TowerOptions
from deshred.compatibility.towers.students import price_unlikeness
from deshred.compatibility.training import export_onnx, fingerprint_pages, read_tensors
from deshred.errors import InputError, ModelError, SettingsError
from deshred.options import option
from deshred.simulation.intact import IntactPage
from deshred.simulation.shredding import Damage, sample_joins

_BLANK = 0.005  # share of ink up to which a window of an edge is blank
_QUANTIZED_ON = 16  # batches
_RISING = 200  # steps until a learning rate that does not fall is reached


@dataclass(frozen=True)
class WindowOptions:
    """What one batch shows of pages."""

    pages: int
    cuts: int
    rows: int
    worth: float = 1.0  # of a nat

    def __post_init__(self) -> None:
        if self.pages < 1 or self.cuts < 2 or self.rows < 1 or self.rows % ROW_STEP:
            raise SettingsError(
                f"a batch has at least 1 page, 2 cuts and {ROW_STEP} rows, in steps of {ROW_STEP}; got "
                f"{self.pages}, {self.cuts} and {self.rows}."
            )


@dataclass(frozen=True)
class TowerTrainingOptions:
    """One batch is `pages` bands with `cuts` cuts each; all of a batch are candidates for each other.

    Short windows teach letters. A few lines cannot tell that a page ends where they end; so every third batch
    has long windows, of fewer cuts. Their rows depend on each other, and count for less than their number.
    """

    steps: int = option(4000, "Batches to learn from.")
    short: WindowOptions = WindowOptions(pages=6, cuts=24, rows=256)
    long: WindowOptions = WindowOptions(pages=3, cuts=14, rows=1024, worth=0.5)
    long_every: int = 3  # steps; 0 is never
    precision: Literal["float32", "bfloat16"] = option(
        "float32",
        "bfloat16 takes half the time on processors that support it, and minutes per step on others.",
    )
    learning_rate: float = option(
        2e-3, "The highest learning rate; half of it or less to train a good model further.", metavar="R"
    )
    anneal: bool = option(
        True, "Let the learning rate fall to nothing; not for a network that others start from."
    )
    average: float = 0.998
    seed: int = option(0, "Seed for everything random.")
    damage: Damage = field(default_factory=Damage)

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise SettingsError(f"training needs at least 1 step, got {self.steps}.")
        if not 0 < self.learning_rate < 1:
            raise SettingsError(f"learning_rate lies between 0 and 1, got {self.learning_rate}.")
        if self.precision not in ("float32", "bfloat16"):
            raise SettingsError(f"precision is {self.precision!r}; it must be float32 or bfloat16.")
        if self.seed < 0 or self.long_every < 0:
            raise SettingsError(
                f"seed and long_every must be at least 0, got {self.seed} and {self.long_every}."
            )

    def windows(self, step: int) -> WindowOptions:
        """What the batch of a step looks like."""
        is_long = self.long_every > 0 and step % self.long_every == self.long_every - 1
        return self.long if is_long else self.short


def _block(inputs: int, outputs: int) -> nn.Sequential:
    convolution = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


class Tower(nn.Module):
    """Ink of edges, the tear at column 0, to row features. (n, rows, width) -> (n, rows / 4, d)"""

    def __init__(self, options: TowerOptions) -> None:
        super().__init__()
        a, b, c, d = options.channels
        self.stem = _block(4, a)
        self.middle = nn.Sequential(_block(a, b), _block(b, b))
        self.deep = nn.Sequential(_block(b, c), _block(c, c))
        self.last = _block(c, d)
        self.head = nn.Conv2d(d, options.features, (1, options.width // 16))

    def forward(self, ink: Tensor) -> Tensor:
        x = F.pixel_unshuffle(ink[:, None], 2)  # (n, 4, rows/2, width/2): nothing of 300 dpi is lost
        x = F.max_pool2d(self.stem(x), 2)
        x = F.max_pool2d(self.middle(x), (1, 2))
        x = F.max_pool2d(self.deep(x), (1, 2))
        rows: Tensor = self.head(self.last(x))[..., 0]
        return rows.transpose(1, 2)


class Towers(nn.Module):
    """Both sides, and what turns their products into nats: a scale, and how likely each shift is."""

    def __init__(self, options: TowerOptions) -> None:
        super().__init__()
        self.options = options
        self.right = Tower(options)
        self.left = Tower(options)
        self.log_scale = nn.Parameter(torch.tensor(-3.0))
        self.shift_bias = nn.Parameter(torch.zeros(2 * options.shifts + 1))

    def forward(self, rights: Tensor, lefts: Tensor) -> tuple[Tensor, Tensor]:
        """Row features of both sides; the scale is inside the right ones."""
        return self.right(rights) * torch.exp(self.log_scale), self.left(lefts)

    @torch.no_grad()
    def take_scale(self, other: Towers) -> None:
        """Begin with the scale and the shifts of another network."""
        self.log_scale.copy_(other.log_scale)
        self.shift_bias.copy_(other.shift_bias)

    def fingerprint(self) -> str:
        """SHA-256 over the weights."""
        return _fingerprint_weights(self.state_dict())

    def scores(self, rights: Tensor, lefts: Tensor) -> Tensor:
        """Log-sum over shifts of the evidence. (n, h, d), (m, h, d) -> (n, m)"""
        reach = self.options.shifts
        rows = rights.shape[1]
        per_shift = []
        for shift in range(-reach, reach + 1):
            above, below = max(0, -shift), max(0, shift)
            upper = rights[:, above : rows - below].flatten(1)
            lower = lefts[:, below : rows - above].flatten(1)
            per_shift.append(upper @ lower.T)
        stacked = torch.stack(per_shift).float()
        return torch.logsumexp(stacked + self.shift_bias.log_softmax(0)[:, None, None], 0)


def load_weights(model: str | Path) -> dict[str, Tensor]:
    """The weights inside a towers model, to start a training from."""
    opened = open_model(model, "towers")
    weights = {
        name.removeprefix("towers."): tensor
        for name, tensor in read_tensors(find_model(model)).items()
        if name.startswith("towers.")
    }
    weights["shift_bias"] = torch.tensor(opened.card["shift_bias"])
    return weights


def load_towers(model: str | Path) -> Towers:
    """The network inside a towers model."""
    card = open_model(model, "towers").card["options"]
    towers = Towers(TowerOptions(**{**card, "channels": tuple(card["channels"])}))
    _take_over(towers, load_weights(model))
    towers.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return towers.eval()


@dataclass(frozen=True, eq=False)
class Split:
    """Pages to learn from, and pages to judge by."""

    training: Sequence[IntactPage]
    held_out: Sequence[IntactPage]


def hold_out(pages: Sequence[IntactPage], seed: int) -> Split:
    """Hold a twentieth of the pages out; of a single page nothing."""
    order = np.random.default_rng(seed).permutation(len(pages))
    count = max(1, len(pages) // 20) if len(pages) > 1 else 0
    return Split([pages[i] for i in order[count:]], [pages[i] for i in order[:count]])


class TowerTask:
    """Learns to find, for each side of a cut, the other side among all cuts of the batch."""

    kind = "towers"
    validate_every = 200

    def __init__(
        self,
        pages: Sequence[IntactPage],
        *,
        options: TowerOptions | None = None,
        training: TowerTrainingOptions | None = None,
        init: Mapping[str, Tensor] | None = None,
        teacher: Towers | None = None,
        held_out: Sequence[IntactPage] = (),
    ) -> None:
        """With a teacher, the network also learns to see in every row what the teacher sees.

        Without pages to hold out, a twentieth of the others is held out.
        """
        self.options = options or TowerOptions()
        self.training = training or TowerTrainingOptions()
        if not held_out and len(pages) < 2:
            raise InputError(f"towers need at least 2 pages to train and to validate on, got {len(pages)}.")
        split = Split(pages, held_out) if held_out else hold_out(pages, self.training.seed)
        self.training_pages, self.validation_pages = list(split.training), list(split.held_out)
        self.steps = self.training.steps
        self._pages = fingerprint_pages([*pages, *held_out])
        self._init = None if init is None else _fingerprint_weights(init)
        self._teacher = None if teacher is None else teacher.eval()
        torch.manual_seed(self.training.seed)
        self.network = Towers(self.options)
        if teacher is not None:
            self.network.take_scale(teacher)
        if init is not None:
            _take_over(self.network, init)
        self.network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        rate = self.training.learning_rate
        self.optimizer = torch.optim.AdamW(self.network.parameters(), lr=rate, weight_decay=1e-4)
        self.schedule = _schedule(self.optimizer, self.training)

    @property
    def identity(self) -> Mapping[str, Any]:
        taught = {} if self._teacher is None else {"teacher_sha256": self._teacher.fingerprint()}
        return {
            **taught,
            "options": asdict(self.options),
            "training": asdict(self.training),
            "pages": len(self.training_pages) + len(self.validation_pages),
            "pages_sha256": self._pages,
            "init_sha256": self._init,
        }

    def loss(self, step: int) -> tuple[Tensor, dict[str, float]]:
        rng = np.random.default_rng([self.training.seed, step])
        return self._contrast(self.network, self.training_pages, self.training.windows(step), rng)

    @torch.no_grad()
    def validate(self, network: Towers) -> dict[str, float]:
        network.eval()
        rng = np.random.default_rng(0)
        found = []
        for step in range(15):
            windows = self.training.windows(step)
            loss, figures = self._contrast(network, self.validation_pages, windows, rng)
            found.append((float(loss), figures["accuracy"]))
        mean_loss, accuracy = np.mean(found, axis=0)
        return {"loss": float(mean_loss), "accuracy": float(accuracy)}

    def _contrast(
        self, network: Towers, pages: Sequence[IntactPage], options: WindowOptions, rng: np.random.Generator
    ) -> tuple[Tensor, dict[str, float]]:
        windows = _sample(pages, options, self.options.width, self.training.damage, rng)
        rights, lefts = (torch.from_numpy(windows[side]).float() for side in ("rights", "lefts"))
        quick = network.training and self.training.precision == "bfloat16"
        with torch.autocast("cpu", torch.bfloat16, enabled=quick):
            features = network(rights, lefts)
        features = _in_full(features)
        scores = options.worth * network.scores(*features)
        blank_rights, blank_lefts = _is_blank(rights), _is_blank(lefts)
        loss = (surprise_of(scores, blank_lefts) + surprise_of(scores.T, blank_rights)).mean() / 2
        told = ~(blank_rights | blank_lefts)
        right = scores.argmax(1) == torch.arange(len(scores))
        accuracy = right[told].float().mean().item() if told.any() else 0.0
        if self._teacher is not None and network.training:
            with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=quick):
                taught = self._teacher(rights, lefts)
            loss = loss + price_unlikeness(features, _in_full(taught))
        return loss, {"accuracy": accuracy}

    def export(self, network: Towers, path: Path, card: Mapping[str, Any]) -> None:
        bias = network.shift_bias.log_softmax(0).tolist()
        rights = torch.zeros(2, 4 * ROW_STEP, self.options.width)
        lefts = torch.zeros(3, 8 * ROW_STEP, self.options.width)
        export_onnx(
            _Plain(network),
            {"rights": rights, "lefts": lefts},
            ["right_features", "left_features"],
            {
                "rights": {0: "n", 1: "right_rows"},
                "lefts": {0: "m", 1: "left_rows"},
                "right_features": {0: "n", 1: "right_steps"},
                "left_features": {0: "m", 1: "left_steps"},
            },
            path,
            kind=self.kind,
            card={**card, "shift_bias": bias},
        )
        quantize(path, sample_windows(self.training_pages, self.options, self.training))


def _schedule(
    optimizer: torch.optim.Optimizer, training: TowerTrainingOptions
) -> torch.optim.lr_scheduler.LRScheduler:
    """The learning rate rises, and then falls or stays."""
    if training.anneal:
        return torch.optim.lr_scheduler.OneCycleLR(
            optimizer,
            training.learning_rate,
            total_steps=training.steps + 1,
            pct_start=max(0.1, 1.5 / (training.steps + 1)),  # at least half a step
        )
    return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / _RISING))


def sample_windows(
    pages: Sequence[IntactPage], options: TowerOptions, training: TowerTrainingOptions
) -> Iterator[Windows]:
    """Some batches of the kind that a model learns from, to quantize it on."""
    for step in range(_QUANTIZED_ON):
        rng = np.random.default_rng([training.seed, step])
        yield _sample(pages, training.windows(step), options.width, training.damage, rng)


def _sample(
    pages: Sequence[IntactPage],
    options: WindowOptions,
    width: int,
    damage: Damage,
    rng: np.random.Generator,
) -> Windows:
    """Both sides of the cuts of one batch. (n, rows, width)"""
    windows = [
        sample_joins(
            pages[i].ink,
            rng,
            cuts=options.cuts,
            rows=options.rows,
            width=width,
            damage=damage,
            places=pages[i].places,
        )
        for i in rng.integers(0, len(pages), options.pages)
    ]
    return {
        "rights": np.concatenate([window.rights for window in windows]),
        "lefts": np.concatenate([window.lefts for window in windows]),
    }


def _in_full(features: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """Features in single precision."""
    right, left = features
    return right.float(), left.float()


def _is_blank(windows: Tensor) -> Tensor:  # (n, rows, width) -> (n,)
    """Windows with nothing but specks on them."""
    return windows.mean((1, 2)) <= _BLANK


def surprise_of(scores: Tensor, blank: Tensor) -> Tensor:  # (n, m), (m,) -> (n,)
    """How unlikely the true partner i of each edge i looks among all candidates.

    Blank candidates cannot be told from each other: where the true one is blank, any of them is right. If
    such windows were left out, the margins of a page would only ever be seen as false partners of its text.
    """
    right = torch.eye(len(scores), dtype=torch.bool) | (blank[:, None] & blank)
    found = scores.masked_fill(~right, -torch.inf).logsumexp(1)
    return scores.logsumexp(1) - found


def _fingerprint_weights(weights: Mapping[str, Tensor]) -> str:
    digest = hashlib.sha256()
    for name in sorted(weights):
        digest.update(name.encode())
        digest.update(weights[name].contiguous().numpy().data)
    return digest.hexdigest()


def _take_over(network: Towers, weights: Mapping[str, Tensor]) -> None:
    """Load weights; a model of another shape, or made elsewhere, is refused."""
    try:
        missing, unexpected = network.load_state_dict(dict(weights), strict=False)
    except RuntimeError as error:
        raise ModelError(f"the model to start from has another shape: {error}.") from error
    # counters of batch normalization are not part of a model file
    lost = [name for name in missing if not name.endswith("num_batches_tracked")]
    if lost or unexpected:
        raise ModelError(f"the model to start from lacks {lost[:3]} and has {unexpected[:3]} too many.")


class _Plain(nn.Module):
    """The towers in ordinary memory layout, as the exporter wants them."""

    def __init__(self, towers: Towers) -> None:
        super().__init__()
        self.towers = towers.to(memory_format=torch.contiguous_format)  # type: ignore[call-overload]

    def forward(self, rights: Tensor, lefts: Tensor) -> tuple[Tensor, Tensor]:
        out: tuple[Tensor, Tensor] = self.towers(rights, lefts)
        return out
