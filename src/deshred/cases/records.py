"""Compatibility as `.npz`, Constraints as TOML: the nouns that are kept in files, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deshred.arrayfiles import parse_npz
from deshred.cases.store import pack_arrays
from deshred.cases.writing import write_atomically
from deshred.elements import Calibration, Compatibility, Constraints, Margins
from deshred.errors import InputError, MismatchError, SettingsError
from deshred.textfiles import read_file, read_toml

_MOST_BYTES = 4 << 30  # the full matrix of 20,000 shreds
_OF_ONE_SHRED = ("first", "last", "not_first", "not_last", "turned")
_MARGINS = ("starts", "ends", "widths_mm", "heights_mm")
_MEMBERS = (
    "ids",
    "scores",
    "offsets",
    "fingerprint",
    "row_starts",
    "columns",
    "calibration",
    "beliefs",
    *_MARGINS,
)


def load_constraints(path: str | Path) -> Constraints:
    """Read what is known for sure from a TOML file: lists of joins, of shreds, or of groups of shreds."""
    return read_constraints(read_toml(path), path)


def read_constraints(content: Mapping[str, Any], where: object) -> Constraints:
    """Constraints from plain values; `where` names them in errors."""
    known = [entry.name for entry in fields(Constraints)]
    for key, value in content.items():
        if key not in known:
            raise InputError(
                f"{where}: there is no constraint {key!r}. The known ones are: {', '.join(known)}."
            )
        if not _holds_ids(value, nested=key not in _OF_ONE_SHRED):
            form = '["a", "b"]' if key in _OF_ONE_SHRED else '[["a", "b"], ["c", "d"]]'
            raise InputError(f"{where}: {key} must look like {form}, got {value!r}.")
    try:
        return Constraints(**content)
    except SettingsError as error:
        raise InputError(f"{where}: {error}") from None


def _holds_ids(value: Any, *, nested: bool) -> bool:
    if not isinstance(value, list):
        return False
    return all(_holds_ids(item, nested=False) if nested else isinstance(item, str) for item in value)


def save_compatibility(compatibility: Compatibility, path: str | Path) -> None:
    """Write scores, offsets and what makes them honest as `.npz`, the form `deshred arrange` reads."""
    write_atomically(Path(path), pack_compatibility(compatibility))


def load_compatibility(path: str | Path) -> Compatibility:
    """Read what `save_compatibility` wrote, or a bare matrix of scores."""
    return unpack_compatibility(read_file(path, most_bytes=_MOST_BYTES), Path(path))


def pack_compatibility(compatibility: Compatibility) -> bytes:
    """The bytes of the `.npz` form."""
    arrays: dict[str, NDArray[Any]] = {
        "ids": np.array(compatibility.ids, dtype=np.str_),
        "scores": compatibility.scores,
        "offsets": compatibility.offsets,
        "fingerprint": np.array(compatibility.fingerprint),
    }
    for name in ("row_starts", "columns"):
        if getattr(compatibility, name) is not None:
            arrays[name] = getattr(compatibility, name)
    if compatibility.margins is not None:
        for name in _MARGINS:
            if getattr(compatibility.margins, name) is not None:
                arrays[name] = getattr(compatibility.margins, name)
    if compatibility.calibration is not None:
        curve = compatibility.calibration
        beaten = np.nan if curve.beaten is None else curve.beaten
        arrays["calibration"] = np.array([curve.slope, curve.intercept, curve.asks_for_fit, beaten])
    if compatibility.beliefs is not None:
        arrays["beliefs"] = compatibility.beliefs
    return pack_arrays(arrays)


def unpack_compatibility(content: bytes, path: Path) -> Compatibility:
    """The scores in the bytes of an `.npz` file; `path` names it in errors."""
    held = parse_npz(content, _MEMBERS, path, most_bytes=_MOST_BYTES)
    try:
        scores = np.asarray(held["scores"], np.float32)
        ids = tuple(map(str, _flat(held.get("ids", np.arange(len(scores)))).tolist()))
        _check_rows(held, len(ids))
        return Compatibility(
            ids=ids,
            scores=scores,
            offsets=_whole(held.get("offsets", np.zeros(scores.shape, np.int16)), np.int16),
            fingerprint=str(held.get("fingerprint", "")),
            row_starts=_whole(_flat(held["row_starts"]), np.int64) if "columns" in held else None,
            columns=_whole(_flat(held["columns"]), np.int32) if "columns" in held else None,
            margins=_read_margins(held, len(ids)),
            calibration=_read_calibration(held),
            beliefs=np.asarray(held["beliefs"], np.float32) if "beliefs" in held else None,
        )
    except (MismatchError, InputError) as error:
        raise InputError(f"{path}: {error}") from None
    except (ValueError, KeyError, TypeError, OverflowError):
        raise InputError(
            f"{path}: this is not a complete file of scores. Give the compatibility.npz of a case."
        ) from None


def _check_rows(held: dict[str, NDArray[Any]], count: int) -> None:
    """Refuse sparse rows that are not one behind the other, or whose columns are not there."""
    if "columns" not in held:
        return
    starts, columns = held["row_starts"], held["columns"]
    if (
        len(starts) != count + 1
        or starts[0] != 0
        or starts[-1] != len(columns)
        or (np.diff(starts) < 0).any()
    ):
        raise InputError("the rows of its scores do not follow each other.")
    if len(columns) and not (columns.min() >= 0 and columns.max() < count):
        raise InputError("it has scores of shreds that do not exist.")


def _read_margins(held: dict[str, NDArray[Any]], count: int) -> Margins | None:
    if "starts" not in held:
        return None
    for name in _MARGINS:
        if name in held and held[name].shape != (count,):
            raise InputError(f"{name} are {held[name].shape}, but there are {count} shreds.")
    starts, ends, widths = (np.asarray(held[name], np.float32) for name in _MARGINS[:3])
    heights = np.asarray(held["heights_mm"], np.float32) if "heights_mm" in held else None
    return Margins(starts, ends, widths, heights)


def _read_calibration(held: dict[str, NDArray[Any]]) -> Calibration | None:
    if "calibration" not in held:
        return None
    numbers: list[float] = _flat(np.asarray(held["calibration"], np.float64)).tolist()
    slope, intercept, asks, beaten = [*numbers, *(0.0, np.nan)[len(numbers) - 2 :]]  # older files hold fewer
    if np.isnan(beaten):
        return Calibration(slope, intercept, bool(asks))
    if not 0 <= beaten <= 1:
        raise ValueError(f"{beaten:g} is no probability")
    return Calibration(slope, intercept, bool(asks), beaten)


def _flat(array: NDArray[Any]) -> NDArray[Any]:
    if array.ndim != 1:
        raise ValueError("a list is needed")
    return array


def _whole(array: NDArray[Any], kind: type[np.signedinteger[Any]]) -> NDArray[Any]:
    """Whole numbers, all of which fit into the kind."""
    if array.dtype.kind not in "iu" or not np.array_equal(array.astype(kind), array):
        raise ValueError("whole numbers are needed")
    return array.astype(kind)
