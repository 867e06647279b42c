"""How pages are composed."""

from __future__ import annotations

from dataclasses import dataclass

from deshred.errors import SettingsError


@dataclass(frozen=True)
class CompositionOptions:
    """How shreds are pushed together."""

    touching: float = 0.7  # share of the rows in which neighbors may touch or overlap by a hair
    straightens: bool = True  # shreds that lean or bow are set upright
    margin: int = 0  # white px around the page

    def __post_init__(self) -> None:
        if not 0 <= self.touching <= 1:
            raise SettingsError(f"touching is a share between 0 and 1, got {self.touching:g}.")
        if self.margin < 0:
            raise SettingsError(f"margin is a number of px from 0, got {self.margin}.")
