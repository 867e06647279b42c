"""The models that ship with deshred, and the door through which any model file is opened.

A model is one ONNX file. Its metadata says what kind it is and carries its card: the options it was trained
with, the data, the seed, the validation figures.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from deshred.errors import ModelError
from deshred.executors import usable_cpus

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, eq=False)
class Model:
    """An opened model: a session of ONNX Runtime, and what the file says about itself."""

    name: str
    kind: str
    card: Mapping[str, Any]
    sha256: str
    session: Any

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


@lru_cache(maxsize=8)
def _open(path: Path, _state: tuple[int, ...], kind: str, threads: int) -> Model:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads or usable_cpus()
    options.log_severity_level = 3
    try:
        content = path.read_bytes()
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
    card = json.loads(metadata["deshred.card"])
    return Model(path.stem, kind, card, hashlib.sha256(content).hexdigest(), session)
