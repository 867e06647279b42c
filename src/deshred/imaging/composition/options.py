"""How pages are composed."""

from __future__ import annotations

from dataclasses import dataclass

from deshred.errors import SettingsError

_WIDEST_SHEET_MM = 2000


@dataclass(frozen=True)
class CompositionOptions:
    """How shreds are pushed together."""

    touching: float = 0.7  # share of the rows in which neighbors may touch or overlap by a hair
    straightens: bool = True  # shreds that lean or bow are set upright
    margin: int = 0  # white px around the page
    sheet_width_mm: float | None = None  # narrower pages get white sides; what is wider stays as it is

    def __post_init__(self) -> None:
        if not 0 <= self.touching <= 1:
            raise SettingsError(f"touching must be a share between 0 and 1, got {self.touching:g}.")
        if self.margin < 0:
            raise SettingsError(f"margin must be at least 0 px, got {self.margin}.")
        if self.sheet_width_mm is not None and not 0 < self.sheet_width_mm <= _WIDEST_SHEET_MM:
            raise SettingsError(
                f"sheet_width_mm must be a width such as 210 for A4, got {self.sheet_width_mm:g}."
            )

    def find_sides(self, width: int, dpi: float) -> tuple[int, int]:
        """White px left and right of a page so wide that give it the width of its sheet: nobody knows which
        side the blank shreds come from.
        """
        if self.sheet_width_mm is None:
            return 0, 0
        missing = max(0, round(self.sheet_width_mm / 25.4 * dpi) - width)
        return missing // 2, missing - missing // 2
