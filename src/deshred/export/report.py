"""A Reconstruction in, one self-contained HTML page to look at out: no network, no scripts.

Verdicts are told by color, shape and word. Pictures are scaled down and embedded. This module says what is
shown, the template `report.html` how; Jinja escapes everything that comes from file names or settings.
"""

from __future__ import annotations

import base64
import io
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import jinja2
import numpy as np
from PIL import Image as Pillow

from deshred.elements import Arrangement, Constraints, Image, Join, Page, Placement, ShredSet
from deshred.executors import default_executor
from deshred.export.encoding import hash_pixels
from deshred.export.names import clean, quote_toml
from deshred.imaging.composition import LazyPages, LostInk, find_lost_ink
from deshred.imaging.decoding import resize
from deshred.reading import Line, Reading

if TYPE_CHECKING:
    from deshred.pipeline import Reconstruction
from deshred.shelf import give_back

_PAGE_WIDTH, _LEAST_WIDTH = 1100, 400  # px as embedded
_MANY_PAGES = 150  # from here on pictures are smaller: a browser has to hold all of them
_TALLEST = 16_383  # px: browsers show no picture that is much taller
_QUALITY = 65  # of JPEG
_LITTLE = 0.15  # halvings by which a picture may be smaller than it could be: a tenth of its width
_OVERVIEW_SIDE = 1400
_THUMBNAIL_HEIGHT = 352
_CLOSEUP = (540, 330)  # px of the page: width, height
_MOST_CLOSEUPS = 60
_MOST_LINES = 8
_SOME_ROWS, _MANY_ROWS = 8, 400  # every eighth of many rows says where a shred begins
_MOST_ROWS_UNFOLDED = 40
_SIGNS = {"sure": "●", "likely": "◆", "open": "▲"}
JoinKey = tuple[str, str]  # ids of the left and the right shred
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
        """The image as JPEG in a data address: WebP would take eight times as long for as many bytes."""
        buffer = io.BytesIO()
        Pillow.fromarray(image).save(buffer, "JPEG", quality=_QUALITY)
        height, width = image.shape[:2]
        encoded = base64.b64encode(buffer.getvalue()).decode()
        return cls(f"data:image/jpeg;base64,{encoded}", width, height, clean(alt))


@dataclass(frozen=True)
class ClosePicture:
    """A close-up of a join, ready to be shown."""

    picture: Picture
    meets: float  # where the shreds meet, as a share of its width


@dataclass(frozen=True, eq=False)
class PageView:
    """What a report shows of a page, taken while its pixels are at hand: they are large, this is not."""

    told: str
    width: int
    height: int
    dpi: float
    picture: Picture
    pixels_sha256: str  # where there is no file
    columns: Mapping[str, float]  # of the page, where the paper of each shred begins
    closeups: Mapping[JoinKey, ClosePicture]
    lost: Sequence[LostInk]  # slivers
    file_sha256: str = ""  # of the picture as it is written, where it is


@dataclass(frozen=True, eq=False)
class Mark:
    """A join at its place."""

    number: int  # from 1, over all pages
    join: Join
    page_number: int
    share: float  # of the width of the page that lies left of where its shreds meet
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
        if join.price is not None and math.isfinite(join.price):  # without a required join there is no order
            facts["price"] = (
                f"{join.price:.3g} more without it" if join.price >= 0.005 else "as cheap without it"
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
    readings: Sequence[Reading | None] = (),
    views: Sequence[PageView] | None = None,
) -> str:
    """The report as one HTML page; text that was read can be selected and searched over the pictures.

    Without `views` every page is looked at now.
    """
    if views is None:
        viewer = PageViewer(reconstruction)
        views = default_executor().map(viewer.view, range(len(reconstruction.pages)))
    marks = _place_joins(reconstruction, views)
    doubtful = [mark for mark in marks if mark.join.verdict == "open"]
    chosen = _choose_doubtful(reconstruction.arrangement.joins)
    shown = [mark for key in chosen for mark in doubtful if (mark.join.left, mark.join.right) == key]
    lost = _list_lost_ink(views)
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
        pages=_show_pages(views, marks, readings),
        cards=[_show_card(mark, views[mark.page_number - 1]) for mark in shown],
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


def _list_lost_ink(views: Sequence[PageView]) -> list[LostPlace]:
    """Slivers at the very tear: what is left of a point or a comma looks like this."""
    return [
        LostPlace(
            number, f"{place.left} | {place.right}", f"{place.top / view.dpi * 25.4:.0f} mm", place.side
        )
        for number, view in enumerate(views, 1)
        for place in view.lost
    ]


def _choose_doubtful(joins: Sequence[Join]) -> list[JoinKey]:
    """The joins that get a close-up, the most doubtful first."""
    doubtful = [join for join in joins if join.verdict == "open"]
    doubtful.sort(key=lambda join: (join.probability or 0.0, join.score))
    return [(join.left, join.right) for join in doubtful[:_MOST_CLOSEUPS]]


class PageViewer:
    """Takes the view of one page after the other."""

    def __init__(self, reconstruction: Reconstruction) -> None:
        self._pages = reconstruction.pages
        self._shreds = reconstruction.shreds
        self._doubtful = frozenset(_choose_doubtful(reconstruction.arrangement.joins))
        smaller = math.sqrt(min(1.0, _MANY_PAGES / max(1, len(self._pages))))
        self._width = max(_LEAST_WIDTH, round(_PAGE_WIDTH * smaller))

    def view(self, index: int) -> PageView:
        """What the report shows of a page by its index."""
        pages = self._pages
        page = pages.compose(index) if isinstance(pages, LazyPages) else pages[index]
        return self.view_page(page, index + 1)

    def view_page(self, page: Page, number: int, *, file_sha256: str = "") -> PageView:
        """What the report shows of a page that is at hand, and perhaps in a file already."""
        height, width = page.mask.shape
        count = _count(len(page.placements), "shred")
        columns = {one.shred_id: _first_column(self._shreds, one) for one in page.placements}
        keys = [(one.shred_id, other.shred_id) for one, other in pairwise(page.placements)]
        return PageView(
            f"{page.copy} copy, {count}, {width / page.dpi * 2.54:.1f} x {height / page.dpi * 2.54:.1f} cm",
            width,
            height,
            page.dpi,
            Picture.of(_shrink(page.image, self._width, _TALLEST), f"Page {number}, composed of {count}"),
            "" if file_sha256 else hash_pixels(page),
            columns,
            {key: _take_closeup(page, key, columns[key[1]]) for key in keys if key in self._doubtful},
            [place for place in find_lost_ink(page) if place.is_sliver],
            file_sha256,
        )


def _take_closeup(page: Page, key: JoinKey, x: float) -> ClosePicture:
    closeup = cut_closeup(page, x)
    return ClosePicture(
        Picture.of(closeup.image, f"Close-up of the join of {key[0]} and {key[1]}"), closeup.meets
    )


def _place_joins(reconstruction: Reconstruction, views: Sequence[PageView]) -> list[Mark]:
    """Every join of the answer with its page and column."""
    joins = {(join.left, join.right): join for join in reconstruction.arrangement.joins}
    marks: list[Mark] = []
    for page_number, view in enumerate(views, 1):
        for left, right in pairwise(view.columns):
            join = joins.get((left, right))
            if join is not None:
                decided_by = tell_who_decided(join, reconstruction.constraints)
                share = view.columns[right] / view.width
                marks.append(Mark(len(marks) + 1, join, page_number, share, decided_by))
    return marks


def tell_who_decided(join: Join, constraints: Constraints) -> str:
    """Whether a person required the join or the machine found it."""
    return "a person" if (join.left, join.right) in constraints.required else "the machine"


def _first_column(shreds: ShredSet, placement: Placement) -> float:
    """The column of the page where the paper of a shred begins, half way down."""
    shred = shreds[shreds.index_of(placement.shred_id)]
    some = shred.mask[::_SOME_ROWS] if len(shred.mask) > _MANY_ROWS else shred.mask
    rows = some.any(axis=1)
    begins = float(np.median(some[rows].argmax(axis=1))) if rows.any() else 0.0
    give_back(shred)
    return placement.x + begins


def _show_pages(
    views: Sequence[PageView], marks: Sequence[Mark], readings: Sequence[Reading | None]
) -> list[dict[str, Any]]:
    own = _group_by_page(marks)
    return [
        _show_page(view, number, own[number], readings[number - 1] if readings else None)
        for number, view in enumerate(views, 1)
    ]


def _group_by_page(marks: Sequence[Mark]) -> Mapping[int, list[Mark]]:
    own: dict[int, list[Mark]] = defaultdict(list)
    for mark in marks:
        own[mark.page_number].append(mark)
    return own


def _show_page(view: PageView, number: int, marks: Sequence[Mark], reading: Reading | None) -> dict[str, Any]:
    open_count = sum(mark.join.verdict == "open" for mark in marks)
    told = view.told
    if open_count:
        told += f", {_count(open_count, 'join')} worth a look"
    if reading is not None:
        told += f", {reading.clear_share:.0%} of the words clear"
    return {
        "number": number,
        "told": told,
        "width": view.width,
        "height": view.height,
        "ratio": f"{view.width / view.height:.4f}",
        "picture": view.picture,
        "file_sha256": view.file_sha256,
        "pixels_sha256": view.pixels_sha256,
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


def _show_card(mark: Mark, view: PageView) -> dict[str, Any]:
    closeup = view.closeups[mark.join.left, mark.join.right]
    return {
        "mark": mark,
        "meets": f"{closeup.meets:.1%}",
        "picture": closeup.picture,
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
    own = _group_by_page(marks)
    for number, slots in enumerate(arrangement.pages, 1):
        # a join with a close-up is named by its card, every other by its row
        rows += [
            {"mark": mark, "is_named": mark.number not in carded, "cells": _list_cells(mark.join)}
            for mark in own[number]
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
    return "–" if value is None or not math.isfinite(value) else show(value)


def _show_blanks(blank: ShredSet) -> list[dict[str, Any]]:
    shown = []
    for shred in blank:
        white = np.where(shred.mask[:, :, None], shred.image, 255).astype(np.uint8)
        picture = Picture.of(_shrink(white, _PAGE_WIDTH, _THUMBNAIL_HEIGHT), f"Blank shred {shred.id}")
        shown.append({"picture": picture, "name": clean(shred.id)})
        give_back(shred)  # large piles lie on disk
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
        return f"It is proven that no order of these shreds is cheaper (cost {arrangement.cost:.6g})."
    return (
        f"Cost {arrangement.cost:.6g}; no order is cheaper than {arrangement.bound:.6g}. "
        "With more time a better order may be found."
    )


def _shrink(image: Image, width: int, height: int) -> Image:
    """The image scaled down to fit; never up."""
    scale = min(1.0, width / image.shape[1], height / image.shape[0])
    if scale == 1.0:
        return image
    # halves first, as they are quick and leave a quarter of the pixels; a little smaller will do, too
    halved = int(np.log2(1 / scale) + _LITTLE)
    if halved:
        rows, columns = (side >> halved << halved or side for side in image.shape[:2])  # the rest is slow
        image = resize(image[:rows, :columns], None, 0.5**halved, 0.5**halved)[0]
        scale = min(1.0, width / image.shape[1], height / image.shape[0])
    return resize(image, None, scale, scale)[0] if scale < 1 else image


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
