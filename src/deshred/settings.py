"""Settings: the options of every stage in one value, read from TOML and changed flag by flag.

A table of the file is a stage, a key one of its options; what is not known is an error, not ignored.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from deshred.arrangement import ArrangementOptions
from deshred.budgets import Budget
from deshred.compatibility.contract import AnyScorer
from deshred.compatibility.pairwise.scorer import PairwiseOptions
from deshred.compatibility.scorers import ScorerName, load_scorer
from deshred.compatibility.scoring import ScoringOptions
from deshred.errors import SettingsError
from deshred.executors import check_jobs
from deshred.imaging.binarization import BlankOptions
from deshred.imaging.composition import CompositionOptions
from deshred.imaging.scans import ScanOptions
from deshred.imaging.sheets.segmentation import SegmentationOptions
from deshred.options import option
from deshred.orientation import Orientation
from deshred.sides import Sides
from deshred.textfiles import read_toml

Options = TypeVar("Options")


@dataclass(frozen=True)
class Settings:
    """Everything that can be set about a reconstruction."""

    scorer: ScorerName = option("default", "What scores the joins.")
    model: str | None = option(
        None, "A model file, or the name of a shipped model.", shown="that of the scorer"
    )
    orientation: Orientation = option(
        "sheets", "What to turn the right way up: whole sheets, nothing, everything, or any single shred."
    )
    sides: Sides = option("single", "Whether shreds were scanned on one side or on both.")
    show_missing: bool = option(False, "Leave room on a page where shreds seem to be missing.")
    jobs: int | None = option(None, "Processors to use.", shown="all")
    cluster: str | None = option(
        None,
        "Dask workers: local:N, tcp://HOST:PORT, or the scheduler's JSON or Dask's YAML file.",
        metavar="WHERE",
        shown="none",
    )
    store: str | None = option(
        None,
        "A folder or URL, such as s3://BUCKET/FOLDER, where artefacts are kept; workers must reach it.",
        metavar="WHERE",
        shown="in the output folder",
    )
    budget: Budget = field(default_factory=Budget)
    scans: ScanOptions = field(default_factory=ScanOptions)
    segmentation: SegmentationOptions = field(default_factory=SegmentationOptions)
    blank: BlankOptions = field(default_factory=BlankOptions)
    scoring: ScoringOptions = field(default_factory=ScoringOptions)
    pairwise: PairwiseOptions = field(default_factory=PairwiseOptions)
    arrangement: ArrangementOptions = field(default_factory=ArrangementOptions)
    composition: CompositionOptions = field(default_factory=CompositionOptions)

    def __post_init__(self) -> None:
        if self.jobs is not None:
            check_jobs(self.jobs)

    def change(self, key: str, value: Any, *, where: str = "the settings") -> Settings:
        """The same settings with one value changed; the key is `option` or `stage.option`."""
        return _apply(self, _nest(key, value), where)

    def load_scorer(self) -> AnyScorer:
        """The scorer that is asked for."""
        return load_scorer(self.scorer, self.model, pairwise=self.pairwise, threads=self.jobs or 0)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as `arrangement.json` keeps them."""
        return dataclasses.asdict(self)


def read_settings(path: str | Path) -> Settings:
    """Settings from a TOML file; what it does not mention keeps its default."""
    return settings_from(read_toml(path, wrong=SettingsError), str(path))


def settings_from(content: Mapping[str, Any], where: str) -> Settings:
    """Settings from plain values, such as `Settings.to_dict` gives; `where` names them in errors."""
    return _apply(Settings(), content, where)


def list_keys() -> list[str]:
    """Every key there is, as `option` or `stage.option`."""
    keys: list[str] = []
    for name, kind in _field_types(Settings).items():
        inner = _field_types(kind) if dataclasses.is_dataclass(kind) else None
        keys += [name] if inner is None else [f"{name}.{key}" for key in inner]
    return keys


def _nest(key: str, value: Any) -> Mapping[str, Any]:
    for part in reversed(key.split(".")):
        value = {part: value}
    return typing.cast(Mapping[str, Any], value)


def _apply(options: Options, content: Mapping[str, Any], where: str) -> Options:
    kinds = _field_types(type(options))
    changes: dict[str, Any] = {}
    for key, value in content.items():
        if key not in kinds:
            raise SettingsError(f"{where}: there is no setting {key!r}. {_suggest(key, kinds)}")
        if dataclasses.is_dataclass(kinds[key]):
            if not isinstance(value, Mapping):
                raise SettingsError(f"{where}: {key} must be a table of settings, got {value!r}.")
            inner = where if where.startswith("--") else f"{where} [{key}]"  # a flag stands for one option
            changes[key] = _apply(getattr(options, key), value, inner)
        else:
            changes[key] = _coerce(value, kinds[key], f"{where}: {key}")
    try:
        return dataclasses.replace(options, **changes)  # type: ignore[type-var]
    except SettingsError as error:
        told = str(error)
        raise SettingsError(told if told.startswith(where) else f"{where}: {told}") from None


def _field_types(options: Any) -> dict[str, Any]:
    kinds = typing.get_type_hints(options)
    return {entry.name: kinds[entry.name] for entry in dataclasses.fields(options) if entry.init}


def _coerce(value: Any, kind: Any, where: str) -> Any:
    """The value as the option's type has it, or an error; TOML has no None, no tuples, and 300 for 300.0."""
    alternatives = typing.get_args(kind) if _is_union(kind) else (kind,)
    for alternative in alternatives:
        origin = typing.get_origin(alternative) or alternative
        if origin is typing.Literal:
            if value in typing.get_args(alternative):
                return value
        elif origin is tuple and isinstance(value, list | tuple):
            kinds = typing.get_args(alternative)
            kinds = kinds[:1] * len(value) if kinds[-1] is Ellipsis else kinds
            if len(value) == len(kinds):
                return tuple(_coerce(item, kind, where) for item, kind in zip(value, kinds, strict=True))
        elif origin is float and isinstance(value, int | float) and not isinstance(value, bool):
            if math.isfinite(value):
                return float(value)
        elif origin is Path and isinstance(value, str):
            return Path(value)
        elif isinstance(value, bool) != (origin is bool):
            continue
        elif isinstance(origin, type) and isinstance(value, origin):
            return value
    expected = " or ".join(_describe(alternative) for alternative in alternatives)
    raise SettingsError(f"{where} must be {expected}, got {value!r}.")


def _is_union(kind: Any) -> bool:
    return typing.get_origin(kind) in (typing.Union, types.UnionType)


def _describe(kind: Any) -> str:
    if typing.get_origin(kind) is typing.Literal:
        return " or ".join(repr(value) for value in typing.get_args(kind))
    if typing.get_origin(kind) is tuple:
        return str(kind)
    return "nothing" if kind is type(None) else str(getattr(kind, "__name__", kind))


def _suggest(key: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(key, known, n=1)
    return f"Did you mean {close[0]!r}?" if close else f"The known ones are: {', '.join(known)}."
