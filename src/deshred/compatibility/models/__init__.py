"""The models that ship with deshred, and the door through which any model file is opened.

A model is one ONNX file. Its metadata says what kind it is and carries its card: the options it was trained
with, the data, the seed, the validation figures.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deshred.compatibility.models.cards import check_shapes, parse_card
from deshred.compatibility.models.externals import uses_other_files
from deshred.errors import ModelError
from deshred.executors import usable_cpus
from deshred.textfiles import read_file

_FOLDER = Path(__file__).parent
_MOST_BYTES = 512 << 20
_SILENT = 4  # of ONNX Runtime: what is wrong with a file we say ourselves
_TRIAL_ROWS = 256


@dataclass(frozen=True, eq=False)
class Model:
    """An opened model: a session of ONNX Runtime, and what the file says about itself."""

    name: str
    kind: str
    card: Mapping[str, Any]
    sha256: str
    session: Any
    path: Path
    threads: int = 0

    def __reduce__(self) -> tuple[Any, ...]:
        return _open_same, (self.path, self.kind, self.threads, self.sha256)

    def run(self, outputs: Sequence[str] | None, inputs: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
        """What the network gives; that it fails, or gives what is no number, is the fault of the model."""
        try:
            results: list[NDArray[Any]] = self.session.run(outputs, dict(inputs))
        except Exception as error:  # ONNX Runtime has a class of its own for each
            raise ModelError(
                f"{self.name}: the model cannot be run ({type(error).__name__}). The file is damaged; train "
                "it again, or name a shipped one from `deshred models`."
            ) from error
        if not all(np.isfinite(result).all() for result in results):
            raise ModelError(
                f"{self.name}: the model gives values that are not numbers. The file is damaged; train it "
                "again, or name a shipped one from `deshred models`."
            )
        return results

    def check_shape(self, found: NDArray[Any], expected: Sequence[int | None]) -> None:
        """Refuse what the network gives in another shape than it should have; None is any size but 0.

        A file can declare one shape and give another.
        """
        fits = len(expected) == found.ndim and all(
            size == have or (size is None and have) for size, have in zip(expected, found.shape, strict=True)
        )
        if not fits:
            raise ModelError(
                f"{self.name}: the model gives {' x '.join(map(str, found.shape))} values, not what its card "
                "says. The file is damaged; train it again, or name a shipped one from `deshred models`."
            )

    def __repr__(self) -> str:
        return f"Model({self.name}, {self.kind}, sha256 {self.sha256[:12]})"


@dataclass(frozen=True)
class ShippedModel:
    """A model in the package, with its card for people."""

    name: str
    path: Path
    card: str


def list_models() -> list[ShippedModel]:
    """The shipped models, by name."""
    return [
        ShippedModel(path.stem, path, path.with_suffix(".md").read_text(encoding="utf-8"))
        for path in sorted(_FOLDER.glob("*.onnx"))
    ]


def find_model(name_or_path: str | Path) -> Path:
    """The file behind the name of a shipped model, or the given file itself."""
    path = Path(name_or_path)
    with suppress(OSError):  # a name that is too long for a file is no file
        if path.is_file():
            return path
    shipped = {model.name: model.path for model in list_models()}
    try:
        return shipped[str(name_or_path)]
    except KeyError:
        raise ModelError(
            f"{name_or_path}: neither a model file nor one of the shipped models ({', '.join(shipped)}). "
            "List them with: deshred models"
        ) from None


def open_model(name_or_path: str | Path, kind: str, threads: int = 0) -> Model:
    """Open a model of a kind for inference; `threads` 0 means all cores. An unchanged file is read once."""
    path = find_model(name_or_path).absolute()
    found = path.stat()
    return _open(path, (found.st_mtime_ns, found.st_size, found.st_ino), kind, threads)


def _open_same(path: Path, kind: str, threads: int, sha256: str) -> Model:
    """The model that another process has open: from the same file, or the shipped one of that name."""
    if not path.is_file() and path.stem not in {model.name for model in list_models()}:
        raise ModelError(
            f"{path}: a worker does not have this model. Copy the model to the same place there."
        )
    model = open_model(path if path.is_file() else path.stem, kind, threads)
    if model.sha256 != sha256:
        raise ModelError(
            f"{model.path}: differs from the model where the run was started (SHA-256 "
            f"{model.sha256[:12]} and {sha256[:12]}). Copy the model, or install the same "
            "deshred on every machine."
        )
    return model


@lru_cache(maxsize=8)
def _open(path: Path, _state: tuple[int, ...], kind: str, threads: int) -> Model:
    import onnxruntime

    content = read_file(path, most_bytes=_MOST_BYTES, wrong=ModelError)
    _refuse_other_files(content, path)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads or usable_cpus()
    options.log_severity_level = _SILENT
    try:
        session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        metadata = session.get_modelmeta().custom_metadata_map
    except Exception as error:
        raise ModelError(
            f"{path}: not a readable ONNX model ({type(error).__name__}). Train one with `deshred train`, "
            "or name a shipped one from `deshred models`."
        ) from error
    found = metadata.get("deshred.kind")
    if found != kind:
        raise ModelError(
            f"{path}: is {f'a {found} model' if found else 'not a model made by deshred'}, but the scorer "
            f"needs a {kind} model. See `deshred models`."
        )
    card = parse_card(metadata.get("deshred.card", ""), kind, path)
    check_shapes(session, kind, card, path)
    return Model(path.stem, kind, card, hashlib.sha256(content).hexdigest(), session, path, threads)


def _refuse_other_files(content: bytes, path: Path) -> None:
    try:
        outside = uses_other_files(content)
    except ValueError as error:
        raise ModelError(
            f"{path}: not a readable ONNX model ({error}). Train one with `deshred train`, "
            "or name a shipped one from `deshred models`."
        ) from None
    if outside:
        raise ModelError(
            f"{path}: keeps its weights in other files, which are not opened. Save the model as one file."
        )


@dataclass(frozen=True)
class TriedModel:
    """A shipped model that was opened and run."""

    name: str
    problem: str  # empty when it is well


def try_models() -> list[TriedModel]:
    """Open every shipped model and let it look at a little ink."""
    return [TriedModel(model.name, _try_model(model)) for model in list_models()]


def _try_model(model: ShippedModel) -> str:
    try:
        opened = open_model(model.path, model.name.partition("-")[0], 1)
        width = next(entry.shape[-1] for entry in opened.session.get_inputs())
        kinds = {entry.name: entry.type for entry in opened.session.get_inputs()}
        ink = np.zeros((1, _TRIAL_ROWS, width), np.uint8)
        ink[:, ::7] = 1
        opened.run(
            None, {name: ink if "uint8" in kind else ink.astype(np.float32) for name, kind in kinds.items()}
        )
    except ModelError as error:
        return str(error)
    return ""
