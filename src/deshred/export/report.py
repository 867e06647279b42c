"""A Reconstruction in, one self-contained HTML page to look at out: no network, no scripts.

Verdicts are told by color, shape and word. Pictures are scaled down and embedded. This module says what is
shown, the template `report.html` how; Jinja escapes everything that comes from file names or settings.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import jinja2
import numpy as np
from PIL import Image as Pillow

from deshred.elements import Arrangement, Constraints, Image, Join, Page, Placement, ShredSet
from deshred.executors import default_executor
from deshred.export.names import clean, quote_toml
from deshred.export.pictures import hash_pixels
from deshred.imaging.composition import find_lost_ink
from deshred.imaging.decoding import resize
from deshred.reading import Line, Reading
from deshred.shelf import give_back

if TYPE_CHECKING:
    from deshred.pipeline import Reconstruction

_PAGE_WIDTH = 1100  # px as embedded
_TALLEST = 16_383  # px: WebP holds no taller picture
_OVERVIEW_SIDE = 1400
_THUMBNAIL_HEIGHT = 352
_CLOSEUP = (540, 330)  # px of the page: width, height
_MOST_CLOSEUPS = 60
_MOST_LINES = 8
_MOST_ROWS_UNFOLDED = 40
_SIGNS = {"sure": "●", "likely": "◆", "open": "▲"}
_MEANINGS = {
    "sure": "at least 99 % probable",
    "likely": "at least 80 % probable",
    "open": "worth a look",
}


@dataclass(frozen=True, eq=False)
class Overview:
    """A picture of a scanned sheet with what was found on it."""

    title: str
    image: Image
    warnings: Sequence[str] = ()


@dataclass(frozen=True)
class Verdict:
    """A verdict by name, sign and meaning."""

    name: str
    count: int = 0

    @property
    def sign(self) -> str:
        return _SIGNS[self.name]

    @property
    def meaning(self) -> str:
        return _MEANINGS[self.name]


@dataclass(frozen=True)
class Picture:
    """An image that carries its pixels."""

    source: str
    width: int
    height: int
    alt: str

    @classmethod
    def of(cls, image: Image, alt: str) -> Picture:
        """The image as WebP in a data address."""
        buffer = io.BytesIO()
        Pillow.fromarray(image).save(buffer, "WEBP", quality=78, method=2)
        height, width = image.shape[:2]
        encoded = base64.b64encode(buffer.getvalue()).decode()
        return cls(f"data:image/webp;base64,{encoded}", width, height, clean(alt))


@dataclass(frozen=True, eq=False)
class Mark:
    """A join at its place: `x` is the column of the page where its shreds meet."""

    number: int  # from 1, over all pages
    join: Join
    page: Page
    page_number: int
    x: float
    decided_by: str

    @property
    def anchor(self) -> str:
        return f"join-{self.number}"

    @property
    def verdict(self) -> Verdict:
        return Verdict(self.join.verdict)

    @property
    def left(self) -> str:
        return clean(self.join.left)

    @property
    def right(self) -> str:
        return clean(self.join.right)

    @property
    def share(self) -> float:
        return self.x / int(self.page.image.shape[1])

    @property
    def position(self) -> str:
        return f"{100 * self.share:.2f}%"

    @property
    def side(self) -> str:
        """Where the numbers open, so that they stay on the page."""
        return " to-right" if self.share < 0.2 else " to-left" if self.share > 0.8 else ""

    @property
    def facts(self) -> dict[str, str]:
        """The numbers of the join as people read them."""
        join = self.join
        facts = {"score": f"{join.score:.2f}"}
        if join.probability is not None:
            facts["probability"] = _percent(join.probability)
        facts["offset"] = f"{join.offset:+d} px" if join.offset else "0 px"
        if join.price is not None:
            facts["price"] = (
                f"{join.price:.3g} dearer without it" if join.price >= 0.005 else "as cheap without it"
            )
        return facts | {"decided by": self.decided_by}


def render_report(
    reconstruction: Reconstruction,
    *,
    provenance: Mapping[str, str],
    overviews: Sequence[Overview] = (),
    title: str = "Reconstruction",
    made: datetime | None = None,
    command: str = "",
    readings: Sequence[Reading] | None = None,
) -> str:
    """The report as one HTML page; with readings the text can be selected and searched over the pictures."""
    marks = _place_joins(reconstruction)
    doubtful = [mark for mark in marks if mark.join.verdict == "open"]
    doubtful.sort(key=lambda mark: (mark.join.probability or 0.0, mark.join.score))
    shown = doubtful[:_MOST_CLOSEUPS]
    lost = _list_lost_ink(reconstruction.pages)
    sections = {
        "Pages": True,
        "Joins worth a look": True,
        "All joins": True,
        "Ink that may be lost": bool(lost),
        "Blank shreds": bool(reconstruction.blank),
        "Scanned sheets": bool(overviews),
        "Time": bool(reconstruction.seconds),
        "How this was made": bool(provenance),
    }
    return _load_template().render(
        title=clean(title),
        summary=reconstruction.summary(),
        made=made.strftime("%Y-%m-%d %H:%M UTC") if made else "",
        command=clean(command),
        style=(resources.files(__package__) / "templates" / "report.css").read_text(encoding="utf-8"),
        legend=[Verdict(name, sum(mark.join.verdict == name for mark in marks)) for name in _SIGNS],
        sections=[
            {"name": name, "anchor": name.lower().replace(" ", "-")}
            for name, there in sections.items()
            if there
        ],
        pages=_show_pages(reconstruction, marks, readings),
        cards=[_show_card(mark) for mark in shown],
        left_out=len(doubtful) - len(shown),
        rows=_list_rows(marks, shown, reconstruction.arrangement),
        lost=lost,
        blanks=_show_blanks(reconstruction.blank),
        sheets=[_show_sheet(overview) for overview in overviews],
        **_show_times(reconstruction.seconds),
        provenance={clean(name): clean(value) for name, value in provenance.items()},
        is_folded=len(provenance) > _MOST_ROWS_UNFOLDED,
        proof=_tell_proof(reconstruction.arrangement),
    )


@cache
def _load_template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("deshred.export"), autoescape=True, undefined=jinja2.StrictUndefined
    )
    return environment.get_template("report.html")


@dataclass(frozen=True)
class LostPlace:
    """Where a sliver of ink stops at a tear."""

    page: int
    join: str
    from_top: str  # in mm
    side: str


def _list_lost_ink(pages: Sequence[Page]) -> list[LostPlace]:
    """Slivers at the very tear: what is left of a point or a comma looks like this."""
    found = default_executor().map(find_lost_ink, pages)
    return [
        LostPlace(
            number, f"{place.left} | {place.right}", f"{place.top / page.dpi * 25.4:.0f} mm", place.side
        )
        for number, (page, places) in enumerate(zip(pages, found, strict=True), 1)
        for place in places
        if place.is_sliver
    ]


def _place_joins(reconstruction: Reconstruction) -> list[Mark]:
    """Every join of the answer with its page and column."""
    joins = {(join.left, join.right): join for join in reconstruction.arrangement.joins}
    marks: list[Mark] = []
    for page_number, page in enumerate(reconstruction.pages, 1):
        for left, right in zip(page.placements[:-1], page.placements[1:], strict=True):
            join = joins.get((left.shred_id, right.shred_id))
            if join is not None:
                x = _first_column(reconstruction.shreds, right)
                decided_by = tell_who_decided(join, reconstruction.constraints)
                marks.append(Mark(len(marks) + 1, join, page, page_number, x, decided_by))
    return marks


def tell_who_decided(join: Join, constraints: Constraints) -> str:
    """Whether a person required the join or the machine found it."""
    return "a person" if (join.left, join.right) in constraints.required else "the machine"


def _first_column(shreds: ShredSet, placement: Placement) -> float:
    """The column of the page where the paper of a shred begins, half way down."""
    mask = shreds[shreds.index_of(placement.shred_id)].mask
    rows = mask.any(axis=1)
    return placement.x + (float(np.median(mask[rows].argmax(axis=1))) if rows.any() else 0.0)


def _show_pages(
    reconstruction: Reconstruction, marks: Sequence[Mark], readings: Sequence[Reading] | None
) -> list[dict[str, Any]]:
    shown = []
    for index, page in enumerate(reconstruction.pages):
        own = [mark for mark in marks if mark.page_number == index + 1]
        reading = readings[index] if readings is not None else None
        shown.append(_show_page(page, index + 1, own, reading))
        give_back(page)  # each is looked at once, and many do not fit into memory
    return shown


def _show_page(page: Page, number: int, marks: Sequence[Mark], reading: Reading | None) -> dict[str, Any]:
    height, width = page.mask.shape
    count = _count(len(page.placements), "shred")
    open_count = sum(mark.join.verdict == "open" for mark in marks)
    told = f"{page.copy} copy, {count}, {width / page.dpi * 2.54:.1f} x {height / page.dpi * 2.54:.1f} cm"
    if open_count:
        told += f", {_count(open_count, 'join')} worth a look"
    if reading is not None:
        told += f", {reading.clear_share:.0%} of the words clear"
    return {
        "number": number,
        "told": told,
        "width": width,
        "height": height,
        "ratio": f"{width / height:.4f}",
        "picture": Picture.of(
            _shrink(page.image, _PAGE_WIDTH, _TALLEST), f"Page {number}, composed of {count}"
        ),
        "pixels_sha256": hash_pixels(page),
        "marks": marks,
        # else the page cannot be read for its lines
        "is_crowded": sum(mark.join.verdict != "sure" for mark in marks) > _MOST_LINES,
        "lines": [_show_line(line) for line in reading.lines] if reading is not None else [],
        "engine": reading.engine if reading is not None else "",
    }


def _show_line(line: Line) -> dict[str, Any]:
    words = [
        {"x": word.box.left, "length": max(1, word.box.width), "text": clean(word.text)}
        for word in line.words
    ]
    return {"y": round(max(line.baseline)), "size": max(8, line.box.height), "words": words}


def _percent(probability: float) -> str:
    if probability > 0.9999:
        return "over 99.99 %"
    if probability < 0.01:
        return "under 1 %"
    return f"{100 * probability:.{0 if probability < 0.9 else 2}f} %"


def _show_card(mark: Mark) -> dict[str, Any]:
    closeup = cut_closeup(mark.page, mark.x)
    return {
        "mark": mark,
        "meets": f"{closeup.meets:.1%}",
        "picture": Picture.of(
            closeup.image, f"Close-up of the join of {mark.join.left} and {mark.join.right}"
        ),
        "toml": [write_toml(name, mark.join) for name in ("required", "forbidden")],
    }


def write_toml(constraint: str, join: Join) -> str:
    """The line of a constraints file that requires or forbids a join."""
    return f"{constraint} = [[{quote_toml(join.left)}, {quote_toml(join.right)}]]"


@dataclass(frozen=True, eq=False)
class Closeup:
    """The part of a page around a join."""

    image: Image
    meets: float  # where the shreds meet, as a share of its width


def cut_closeup(page: Page, x: float) -> Closeup:
    """The part of the page around a column where most ink lies close to it."""
    image = page.image
    width, height = (min(size, side) for size, side in zip(_CLOSEUP, image.shape[1::-1], strict=True))
    left = int(np.clip(x - width / 2, 0, image.shape[1] - width))
    near = slice(max(0, round(x) - 40), round(x) + 40)
    ink = (image[:, near].min(axis=2) < 128).sum(axis=1)
    heaped = np.concatenate([[0], np.cumsum(ink)])
    top = int(np.argmax(heaped[height:] - heaped[: len(heaped) - height]))
    return Closeup(image[top : top + height, left : left + width], (x - left) / width)


def _list_rows(
    marks: Sequence[Mark], shown: Sequence[Mark], arrangement: Arrangement
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    breaks = {page_break.after: page_break for page_break in arrangement.breaks}
    carded = {mark.number for mark in shown}
    for number, slots in enumerate(arrangement.pages, 1):
        # a join with a close-up is named by its card, every other by its row
        rows += [
            {"mark": mark, "is_named": mark.number not in carded, "cells": _list_cells(mark.join)}
            for mark in marks
            if mark.page_number == number
        ]
        if slots and slots[-1].shred_id in breaks:
            ends = breaks[slots[-1].shred_id]
            cells = [_or_dash(ends.probability, _percent), _or_dash(ends.price)]
            rows.append(
                {"mark": None, "after": clean(ends.after), "before": clean(ends.before), "cells": cells}
            )
    return rows


def _list_cells(join: Join) -> list[str]:
    numbers = [_or_dash(join.probability, _percent), _or_dash(join.price)]
    return [str(join.offset), f"{join.score:.2f}", *numbers]


def _or_dash(value: float | None, show: Callable[[float], str] = "{:.3g}".format) -> str:
    return "–" if value is None else show(value)


def _show_blanks(blank: ShredSet) -> list[dict[str, Any]]:
    shown = []
    for shred in blank:
        white = np.where(shred.mask[:, :, None], shred.image, 255).astype(np.uint8)
        picture = Picture.of(_shrink(white, 10**6, _THUMBNAIL_HEIGHT), f"Blank shred {shred.id}")
        shown.append({"picture": picture, "name": clean(shred.id)})
    return shown


def _show_sheet(overview: Overview) -> dict[str, Any]:
    image = _shrink(overview.image, _OVERVIEW_SIDE, _OVERVIEW_SIDE)
    return {
        "title": clean(overview.title),
        "picture": Picture.of(image, f"Sheet {overview.title}"),
        "warnings": [clean(warning) for warning in overview.warnings],
    }


def _show_times(seconds: Mapping[str, float]) -> dict[str, Any]:
    total = sum(seconds.values())
    times = [
        {"stage": clean(stage), "seconds": f"{spent:.2f}", "share": f"{spent / (total or 1):.1%}"}
        for stage, spent in seconds.items()
    ]
    return {"times": times, "total_seconds": f"{total:.1f}"}


def _tell_proof(arrangement: Arrangement) -> str:
    if arrangement.is_optimal:
        return (
            f"No order of these shreds is cheaper than this one (cost {arrangement.cost:.6g}): it is proven."
        )
    return (
        f"Cost {arrangement.cost:.6g}; no order is cheaper than {arrangement.bound:.6g}. "
        "With more time a better order may be found."
    )


def _shrink(image: Image, width: int, height: int) -> Image:
    """The image scaled down to fit; never up."""
    scale = min(1.0, width / image.shape[1], height / image.shape[0])
    return image if scale == 1.0 else resize(image, None, scale, scale)[0]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
