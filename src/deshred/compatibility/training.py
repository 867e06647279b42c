"""A task and pages in, a trained ONNX model out: the loop, flat, for both networks. Needs torch.

Every random number of a step is drawn from (seed, step), so a run that is killed and resumed from its
checkpoint ends with the same weights as one that was not.
"""

from __future__ import annotations

import hashlib
import io
import json
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from deshred.cases.writing import replace_durably, writing
from deshred.compatibility.whole_numbers import read_weights
from deshred.errors import MissingDependencyError, ModelError, OutputError, SettingsError
from deshred.executors import usable_cpus
from deshred.options import option
from deshred.simulation.intact import IntactPage

try:
    import torch
except ImportError as error:
    raise MissingDependencyError(
        "training needs PyTorch, which is not installed. Try: pip install 'deshred[train]'"
    ) from error


@dataclass(frozen=True)
class TrainingOptions:
    """What every training has, whatever it teaches."""

    threads: int = option(0, "Processors to use.", shown="all")
    resume: bool = option(False, "Continue from the checkpoint of a killed run.")
    force: bool = option(False, "Replace the file if it exists.")
    seed: int = 0
    checkpoint_every: int = 200

    def __post_init__(self) -> None:
        if self.checkpoint_every < 1:
            raise SettingsError(f"checkpoint_every must be at least 1, got {self.checkpoint_every}.")
        if self.seed < 0 or self.threads < 0:
            raise SettingsError(f"seed and threads must be at least 0, got {self.seed} and {self.threads}.")


@dataclass(frozen=True)
class Figures:
    """One point of the learning curves."""

    step: int
    values: Mapping[str, float]


class Task(Protocol):
    """What is trained. `batch` must depend on its step and the task's seed alone."""

    kind: str
    steps: int
    validate_every: int

    @property
    def network(self) -> torch.nn.Module:
        """The weights being trained."""

    @property
    def optimizer(self) -> torch.optim.Optimizer: ...

    @property
    def schedule(self) -> torch.optim.lr_scheduler.LRScheduler: ...

    @property
    def identity(self) -> Mapping[str, Any]:
        """What must be equal for a checkpoint to be resumed: options, seed, pages."""

    def loss(self, step: int) -> tuple[torch.Tensor, dict[str, float]]:
        """The loss of one batch, and figures to watch."""

    def validate(self, network: Any) -> dict[str, float]:
        """Figures on pages that are not trained on; `loss` picks the best weights."""

    def export(self, network: Any, path: Path, card: Mapping[str, Any]) -> None:
        """Write the ONNX model, its options inside."""


@dataclass
class _State:
    """All that a checkpoint holds beside weights."""

    step: int = 0
    best_loss: float = float("inf")
    best_step: int = 0
    history: list[Figures] = field(default_factory=list)
    recent: list[dict[str, float]] = field(default_factory=list)  # since the last point of the history


Report = Callable[[int, int, Mapping[str, float]], None]  # (step, steps, figures)


def train(
    task: Task,
    output: Path,
    *,
    options: TrainingOptions | None = None,
    average: float | None = None,
    refine: Callable[[Path], None] | None = None,
    report: Report | None = None,
) -> Path:
    """Train, keep the weights with the least validation loss, and write them as ONNX.

    `average` is the decay of an exponential moving average of the weights; the average is then what is
    validated and exported. `refine` adds to the model file what can only be learned from it; until then
    the checkpoint stays, and the file does not have its name.
    """
    options = options or TrainingOptions()
    torch.set_num_threads(options.threads or usable_cpus())
    checkpoint = output.with_suffix(".checkpoint")
    check_output(output, force=options.force)
    averaged = _averaged(task.network, average)
    state = _State()
    best = _weights(averaged)
    if options.resume and checkpoint.exists():
        best = _restore(checkpoint, task, averaged, state)
    elif checkpoint.exists():
        raise OutputError(
            f"{checkpoint} is the checkpoint of an unfinished training. Continue with --resume, or remove it."
        )

    began = time.monotonic()
    first = state.step
    while state.step < task.steps:
        torch.manual_seed(int(np.random.SeedSequence([options.seed, state.step]).generate_state(1)[0]))
        task.network.train()
        loss, figures = task.loss(state.step)
        task.optimizer.zero_grad()
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(task.network.parameters(), 1.0)
        task.optimizer.step()
        task.schedule.step()
        if average is not None:
            averaged.update_parameters(task.network)
        state.step += 1
        state.recent.append({"loss": float(loss.detach()), **figures})

        if state.step % task.validate_every == 0 or state.step == task.steps:
            values = {f"validation {k}": v for k, v in task.validate(averaged.module).items()}
            values |= _mean(state.recent)
            state.recent.clear()
            state.history.append(Figures(state.step, values))
            if values["validation loss"] <= state.best_loss:
                state.best_loss, state.best_step = values["validation loss"], state.step
                best = _weights(averaged)
        if state.step % options.checkpoint_every == 0 or state.step == task.steps:
            _save(checkpoint, task, averaged, best, state)
        if report:
            per_step = (time.monotonic() - began) / (state.step - first)
            latest = state.history[-1].values.get("validation loss") if state.history else None
            shown = {**_mean(state.recent[-20:]), "s/step": per_step}
            report(state.step, task.steps, shown if latest is None else {**shown, "validation": latest})

    averaged.module.load_state_dict(best)
    averaged.module.eval()
    card = {**task.identity, "best_step": state.best_step, **_validation(state)}
    unfinished = output.with_suffix(".unfinished.onnx")
    task.export(averaged.module, unfinished, card)
    if refine:
        refine(unfinished)
    plot_history(state.history, output.with_suffix(".training.png"))
    _write_json(output.with_suffix(".training.json"), [{"step": f.step, **f.values} for f in state.history])
    replace_durably(unfinished, output)
    checkpoint.unlink()
    return output


def fingerprint_pages(pages: Sequence[IntactPage]) -> str:
    """SHA-256 over the ink of pages: a training goes on with the very pages it began with."""
    digest = hashlib.sha256()
    for page in pages:
        digest.update(f"{page.bits.shape}{page.width}".encode())
        digest.update(np.ascontiguousarray(page.bits).data)
    return digest.hexdigest()


def plot_history(history: list[Figures], path: Path) -> None:
    """Loss and accuracy over the steps, as one picture."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (losses, accuracies) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    for name in sorted({key for figures in history for key in figures.values}):
        axis = losses if "loss" in name else accuracies if "accuracy" in name else None
        if axis is not None:
            points = [(f.step, f.values[name]) for f in history if name in f.values]
            axis.plot(*zip(*points, strict=True), marker=".", label=name)
    for axis, title in ((losses, "loss"), (accuracies, "accuracy")):
        axis.set(title=title, xlabel="step")
        axis.legend()
        axis.grid(alpha=0.3)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def export_onnx(
    module: torch.nn.Module,
    inputs: Mapping[str, torch.Tensor],
    outputs: list[str],
    dynamic: Mapping[str, Mapping[int, str]],
    path: Path,
    *,
    kind: str,
    card: Mapping[str, Any],
    optional: Sequence[str] = (),
) -> None:
    """Write a module as one self-contained ONNX file with its kind and card inside.

    Inputs that are `optional` are what they are here where a run does not give them.
    """
    import onnx

    scratch = path.with_suffix(".onnx.part")
    module.eval()
    with torch.no_grad(), warnings.catch_warnings():
        # the newer exporter renames and folds weights, and needs one more package
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.filterwarnings("ignore", "Constant folding")  # of mirrored kernels: nothing is folded
        torch.onnx.export(
            module,
            tuple(inputs.values()),
            str(scratch),
            input_names=list(inputs),
            output_names=outputs,
            dynamic_axes={key: dict(axes) for key, axes in dynamic.items()},
            opset_version=17,
            do_constant_folding=False,  # a model can be trained on: its layers stay what they are
            training=torch.onnx.TrainingMode.PRESERVE,
            dynamo=False,
        )
    model = onnx.load(str(scratch))
    scratch.unlink()
    defaults = [onnx.numpy_helper.from_array(inputs[name].numpy(), name) for name in optional]
    model.graph.initializer.extend(defaults)
    onnx.helper.set_model_props(model, {"deshred.kind": kind, "deshred.card": json.dumps(dict(card))})
    onnx.checker.check_model(model)
    onnx.save(model, str(scratch))
    scratch.replace(path)


def read_tensors(path: Path) -> dict[str, torch.Tensor]:
    """All weights inside an ONNX file, by name."""
    import onnx

    weights = read_weights(onnx.load(str(path)).graph)
    return {name: torch.tensor(values) for name, values in weights.items()}


def read_metadata(path: Path) -> dict[str, str]:
    """What an ONNX file says about itself."""
    import onnx

    return {entry.key: entry.value for entry in onnx.load(str(path)).metadata_props}


def _averaged(network: torch.nn.Module, decay: float | None) -> torch.optim.swa_utils.AveragedModel:
    """The averaged weights; without averaging, a shell around the very network."""
    from torch.optim.swa_utils import AveragedModel

    if decay is None:
        shell = AveragedModel(torch.nn.Identity())
        shell.module = network
        return shell

    @torch.no_grad()
    def average(averaged: Any, current: Any, count: Any) -> None:
        # the window grows with the run: early weights must not linger in short trainings
        keep = min(decay, (1 + int(count)) / (10 + int(count)))
        for old, new in zip(averaged, current, strict=True):
            if old.is_floating_point():
                old.lerp_(new, 1 - keep)
            else:
                old.copy_(new)

    return AveragedModel(network, multi_avg_fn=average, use_buffers=True)


def _weights(averaged: torch.optim.swa_utils.AveragedModel) -> dict[str, torch.Tensor]:
    return {name: value.detach().clone() for name, value in averaged.module.state_dict().items()}


def _validation(state: _State) -> dict[str, float]:
    """How the weights that are kept did on pages held out."""
    found = {figures.step: figures.values for figures in state.history}[state.best_step]
    return {f"validation_{name}": round(found[f"validation {name}"], 5) for name in ("loss", "accuracy")}


def _mean(figures: list[dict[str, float]]) -> dict[str, float]:
    return {key: float(np.mean([f[key] for f in figures])) for key in (figures[0] if figures else {})}


def _save(path: Path, task: Task, averaged: Any, best: dict[str, torch.Tensor], state: _State) -> None:
    content = {
        "identity": json.dumps(dict(task.identity), sort_keys=True),
        "network": task.network.state_dict(),
        "averaged": averaged.state_dict(),
        "optimizer": task.optimizer.state_dict(),
        "schedule": task.schedule.state_dict(),
        "best": best,
        "step": state.step,
        "best_loss": state.best_loss,
        "best_step": state.best_step,
        "history": [(f.step, dict(f.values)) for f in state.history],
        "recent": state.recent,
    }
    part = path.with_suffix(".checkpoint.part")
    packed = io.BytesIO()
    torch.save(content, packed)  # to memory first: of a full disk torch tells in words of its own
    with writing(path):
        part.write_bytes(packed.getbuffer())
    replace_durably(part, path)


def _restore(path: Path, task: Task, averaged: Any, state: _State) -> dict[str, torch.Tensor]:
    try:
        content = torch.load(path, weights_only=True)
    except Exception as error:
        raise ModelError(
            f"{path}: the checkpoint cannot be read ({error}). Remove it and start again."
        ) from error
    if content["identity"] != json.dumps(dict(task.identity), sort_keys=True):
        raise ModelError(
            f"{path} was made with other options, pages or another seed than the ones given. "
            "Give the same ones, or remove it to start again."
        )
    task.network.load_state_dict(content["network"])
    averaged.load_state_dict(content["averaged"])
    task.optimizer.load_state_dict(content["optimizer"])
    task.schedule.load_state_dict(content["schedule"])
    state.step, state.best_step = content["step"], content["best_step"]
    state.best_loss = content["best_loss"]
    state.history = [Figures(step, values) for step, values in content["history"]]
    state.recent = content.get("recent", [])
    best: dict[str, torch.Tensor] = content["best"]
    return best


def check_output(output: Path, *, force: bool) -> None:
    """Fail now rather than after hours."""
    if output.suffix != ".onnx":
        raise SettingsError(f"{output}: a model file ends in .onnx.")
    if output.exists() and not force:
        raise OutputError(
            f"{output}: the file already exists; nothing was touched. Choose another name with -o, or "
            "replace it with --force."
        )
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=output.parent):
            pass
    except OSError as error:
        raise OutputError(
            f"{output.parent}: cannot be written ({error.strerror}). Choose another -o."
        ) from error


def _write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n")
