"""What a model file says about itself in, checked: a scorer may rely on every field that it reads.

The file is anybody's. What is missing, of another type or out of range is a ModelError, before it is run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from deshred.errors import ModelError
from deshred.textfiles import parse_json

_MOST_SHIFTS = 64
_WIDEST = 1024


def parse_card(text: str, kind: str, where: object) -> Mapping[str, Any]:
    """The card of a model of a kind; `where` names the file in errors."""
    card = parse_json(text, where, wrong=ModelError)
    checked = _Fields(card, "", where)
    if kind == "towers":
        _check_towers(checked)
    if kind == "pairwise":
        _check_pairwise(checked)
    fields: Mapping[str, Any] = card
    return fields


def check_shapes(session: Any, kind: str, card: Mapping[str, Any], where: object) -> None:
    """Whether a network takes and gives what the card promises."""
    options = card["options"]
    if kind == "towers":
        width, given = options["width"], {"right_features": options["features"]}
        given["left_features"] = options["features"]
    elif kind == "pairwise":
        width, given = options["columns"] // 2, {}
    else:
        return
    try:
        taken = {entry.name: entry.shape for entry in session.get_inputs()}
        results = {entry.name: entry.shape for entry in session.get_outputs()}
    except UnicodeDecodeError:
        raise ModelError(f"{where}: names in its network are not text. Train the model again.") from None
    if kind == "pairwise" and list(results) == ["map"]:
        raise ModelError(
            f"{where}: its network sees whole joins at once, as older versions had it. Lay it out anew with "
            "`convert_pairwise` of deshred.compatibility.pairwise.training; it need not be trained again."
        )
    fits = set(taken) == {"rights", "lefts"} and all(_ends_in(shape, 3, width) for shape in taken.values())
    if given:
        fits = fits and all(_ends_in(results.get(name), 3, size) for name, size in given.items())
    else:
        fits = fits and _ends_in(results.get("map"), 3, 2)
    if not fits:
        raise ModelError(
            f"{where}: its network takes {taken} and gives {results}, not what a {kind} model of its card "
            "would. The file is damaged or made for something else; train the model again."
        )


def _check_towers(card: _Fields) -> None:
    options = card.table("options", only=("width", "channels", "features", "shifts"))
    options.whole("width", 16, _WIDEST)
    options.numbers("channels", 4)
    options.whole("features", 1, _WIDEST)
    shifts = options.whole("shifts", 0, _MOST_SHIFTS)
    card.numbers("shift_bias", 2 * shifts + 1)
    if "fusion" in card:
        fusion = card.table("fusion", only=("ink", "outline"))
        fusion.number("ink")
        fusion.number("outline")
    if "close_look" in card:
        card.words("close_look")
    if "calibration" in card:
        curves = card.table("calibration")
        for name in curves:
            curve = curves.table(name, only=("slope", "intercept"), perhaps=("beaten",))
            curve.number("slope")
            curve.number("intercept")
            curve.share("beaten")


def _check_pairwise(card: _Fields) -> None:
    card.table("options").whole("columns", 2, _WIDEST)
    card.whole("receptive_rows", 1, 4096)


def _ends_in(shape: Sequence[Any] | None, dimensions: int, last: int | None) -> bool:
    if shape is None or len(shape) != dimensions:
        return False
    return last is None or not isinstance(shape[-1], int) or shape[-1] == last


class _Fields:
    """A table of a card that is asked for its fields."""

    def __init__(self, content: Any, name: str, where: object) -> None:
        self._name, self._where = name, where
        if not isinstance(content, dict):
            self._refuse(name or "the card", content, "a table")
        self._content: dict[str, Any] = content

    def __contains__(self, key: str) -> bool:
        return key in self._content

    def __iter__(self) -> Any:
        return iter(self._content)

    def table(self, key: str, *, only: Sequence[str] | None = None, perhaps: Sequence[str] = ()) -> _Fields:
        inner = _Fields(self._content.get(key), self._path(key), self._where)
        if only is not None and set(inner) - set(perhaps) != set(only):
            self._refuse(self._path(key), sorted(inner), f"a table of {' and '.join(only)}")
        return inner

    def whole(self, key: str, least: int, most: int) -> int:
        value = self._content.get(key)
        if type(value) is not int or not least <= value <= most:
            self._refuse(self._path(key), value, f"a whole number from {least} to {most}")
        return value  # type: ignore[return-value]

    def number(self, key: str) -> None:
        if not _is_number(self._content.get(key)):
            self._refuse(self._path(key), self._content.get(key), "a number")

    def words(self, key: str) -> None:
        """A string."""
        if not isinstance(self._content.get(key), str):
            self._refuse(self._path(key), self._content.get(key), "a string")

    def share(self, key: str) -> None:
        """A number from 0 to 1, or nothing."""
        value = self._content.get(key, 0)
        if not _is_number(value) or not 0 <= value <= 1:
            self._refuse(self._path(key), value, "a number from 0 to 1")

    def numbers(self, key: str, count: int) -> None:
        value = self._content.get(key)
        if not isinstance(value, list) or len(value) != count or not all(map(_is_number, value)):
            self._refuse(self._path(key), value, f"a list of {count} numbers")

    def _path(self, key: str) -> str:
        return f"{self._name}.{key}" if self._name else key

    def _refuse(self, path: str, value: object, wanted: str) -> None:
        shown = repr(value)
        shown = shown if len(shown) <= 60 else f"{shown[:60]}..."
        raise ModelError(
            f"{self._where}: the card of the model is damaged: {path} is {shown}, not {wanted}. "
            "Train the model again, or name a shipped one from `deshred models`."
        )


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]
