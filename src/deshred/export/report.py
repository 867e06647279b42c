"""A Reconstruction in, one self-contained HTML page to look at out: no network, no scripts.

Verdicts are told by color, shape and word. Pictures are scaled down and embedded. Everything that
comes from file names or settings is escaped.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from string import Template
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image as Pillow

from deshred.elements import Arrangement, Image, Join, Page, PageBreak, Placement, Shred, ShredSet

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
_MARKS = {"sure": "●", "likely": "◆", "open": "▲"}
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


@dataclass(frozen=True, eq=False)
class _Mark:
    """A join at its place: `x` is the column of the page where its shreds meet."""

    number: int  # from 1, over all pages
    join: Join
    page: Page
    page_number: int
    x: float

    @property
    def anchor(self) -> str:
        return f"join-{self.number}"

    @property
    def position(self) -> str:
        return f"{100 * self.x / self.page.image.shape[1]:.2f}%"


def render_report(
    reconstruction: Reconstruction,
    *,
    provenance: Mapping[str, str],
    overviews: Sequence[Overview] = (),
    title: str = "Reconstruction",
) -> str:
    """The report as one HTML page."""
    marks = _place_joins(reconstruction)
    doubtful = [mark for mark in marks if mark.join.verdict == "open"]
    doubtful.sort(key=lambda mark: (mark.join.probability or 0.0, mark.join.score))
    shown = doubtful[:_MOST_CLOSEUPS]
    sections = {
        "Pages": _pages(reconstruction, marks),
        "Joins worth a look": _doubts(shown, len(doubtful) - len(shown)),
        "All joins": _join_table(marks, shown, reconstruction.arrangement),
        "Blank shreds": _blanks(reconstruction.blank),
        "Scanned sheets": "".join(_overview(overview) for overview in overviews),
        "Time": _times(reconstruction.seconds),
        "How this was made": _provenance(provenance),
    }
    template = Template((resources.files(__package__) / "report.html").read_text(encoding="utf-8"))
    return template.substitute(
        title=escape(title),
        summary=escape(reconstruction.summary()),
        legend=_legend(marks),
        links="".join(
            f'<li><a href="#{_slug(name)}">{name}</a></li>' for name, body in sections.items() if body
        ),
        sections="\n".join(
            f'<section aria-labelledby="{_slug(name)}"><h2 id="{_slug(name)}">{name}</h2>{body}</section>'
            for name, body in sections.items()
            if body
        ),
        footer=_proof(reconstruction.arrangement),
    )


def _slug(name: str) -> str:
    return name.lower().replace(" ", "-")


def _place_joins(reconstruction: Reconstruction) -> list[_Mark]:
    """Every join of the answer with its page and column."""
    joins = {(join.left, join.right): join for join in reconstruction.arrangement.joins}
    marks: list[_Mark] = []
    for page_number, page in enumerate(reconstruction.pages, 1):
        for left, right in zip(page.placements[:-1], page.placements[1:], strict=True):
            join = joins.get((left.shred_id, right.shred_id))
            if join is not None:
                x = _first_column(reconstruction.shreds, right)
                marks.append(_Mark(len(marks) + 1, join, page, page_number, x))
    return marks


def _first_column(shreds: ShredSet, placement: Placement) -> float:
    """The column of the page where the paper of a shred begins, half way down."""
    mask = shreds[shreds.index_of(placement.shred_id)].mask
    rows = mask.any(axis=1)
    return placement.x + (float(np.median(mask[rows].argmax(axis=1))) if rows.any() else 0.0)


def _legend(marks: Iterable[_Mark]) -> str:
    verdicts = [mark.join.verdict for mark in marks]
    return "".join(
        f'<li class="{verdict}"><span class="mark" aria-hidden="true">{sign}</span> '
        f'<b>{verdicts.count(verdict)}</b> <span class="verdict">{verdict}</span> '
        f'<span class="soft">({_MEANINGS[verdict]})</span></li>'
        for verdict, sign in _MARKS.items()
    )


def _pages(reconstruction: Reconstruction, marks: Sequence[_Mark]) -> str:
    switch = (
        '<p class="soft">The signs above a page stand where two shreds meet: '
        "point at one, or tap it, for its numbers.</p>"
        '<label class="switch"><input type="checkbox" id="marks"> Draw every join over the pages</label>'
    )
    figures = [
        _page(page, number, len(reconstruction.pages), [mark for mark in marks if mark.page_number == number])
        for number, page in enumerate(reconstruction.pages, 1)
    ]
    return switch + "".join(figures)


def _page(page: Page, number: int, total: int, marks: Sequence[_Mark]) -> str:
    height, width = page.mask.shape
    size = f"{width / page.dpi * 2.54:.1f} x {height / page.dpi * 2.54:.1f} cm"
    count = _count(len(page.placements), "shred")
    open_count = sum(mark.join.verdict == "open" for mark in marks)
    note = f", {_count(open_count, 'join')} worth a look" if open_count else ""
    picture = _embed(_shrink(page.image, _PAGE_WIDTH, _TALLEST), f"Page {number}, composed of {count}")
    signposts = "".join(_signpost(mark) for mark in marks)
    doubtful = sum(mark.join.verdict != "sure" for mark in marks)
    crowded = " crowded" if doubtful > _MOST_LINES else ""  # else the page cannot be read for its lines
    return (
        f'<figure class="page" id="page-{number}"><figcaption><h3>Page {number} of {total}</h3>'
        f'<span class="soft">{count}, {size}{note}</span></figcaption>'
        f'<div class="sheet{crowded}" style="--ratio:{width / height:.4f}">{picture}{signposts}</div>'
        "</figure>"
    )


def _signpost(mark: _Mark) -> str:
    """The sign of a join above its page, with its numbers for who points at it."""
    share = mark.x / mark.page.image.shape[1]
    side = " to-right" if share < 0.2 else " to-left" if share > 0.8 else ""
    join = mark.join
    numbers = "<br>".join(f"{name}: {value}" for name, value in _facts(join).items())
    return (
        f'<a class="join {join.verdict}" href="#{mark.anchor}" style="left:{mark.position}" '
        f'aria-label="Join {mark.number}, {join.verdict}: {escape(join.left)} to {escape(join.right)}">'
        f'<span class="mark" aria-hidden="true">{_MARKS[join.verdict]}</span>'
        f'<span class="tip{side}" role="tooltip"><b>Join {mark.number}: {join.verdict}</b>'
        f"{escape(join.left)} → {escape(join.right)}<br>{numbers}</span></a>"
    )


def _facts(join: Join) -> dict[str, str]:
    """The numbers of a join as people read them."""
    facts = {"score": f"{join.score:.2f}"}
    if join.probability is not None:
        facts["probability"] = _percent(join.probability)
    facts["offset"] = f"{join.offset:+d} px" if join.offset else "0 px"
    if join.price is not None:
        facts["price"] = (
            f"{join.price:.3g} dearer without it" if join.price >= 0.005 else "as cheap without it"
        )
    return facts


def _percent(probability: float) -> str:
    if probability > 0.9999:
        return "over 99.99 %"
    if probability < 0.01:
        return "under 1 %"
    return f"{100 * probability:.{0 if probability < 0.9 else 2}f} %"


def _doubts(shown: Sequence[_Mark], left_out: int) -> str:
    if not shown:
        return "<p>None: every join is sure or likely.</p>"
    more = f" The {left_out} least doubtful are only in the table below." if left_out else ""
    intro = f"<p>The most doubtful first, each at the height where most is written across it.{more}</p>"
    return f'{intro}<ul class="cards">{"".join(_card(mark) for mark in shown)}</ul>'


def _card(mark: _Mark) -> str:
    join = mark.join
    closeup = _closeup(mark)
    facts = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in _facts(join).items())
    alt = f"Close-up of the join of {join.left} and {join.right}"
    return (
        f'<li class="card {join.verdict}" id="{mark.anchor}"><h3><span class="mark" aria-hidden="true">'
        f"{_MARKS[join.verdict]}</span> Join {mark.number}, "
        f'<a href="#page-{mark.page_number}">page {mark.page_number}</a></h3>'
        f'<div class="soft">{escape(join.left)} → {escape(join.right)}</div>'
        f'<div class="closeup" style="--at:{closeup.meets:.1%}">{_embed(closeup.image, alt)}</div>'
        f"<dl>{facts}</dl></li>"
    )


@dataclass(frozen=True, eq=False)
class _Closeup:
    image: Image
    meets: float  # where the shreds meet, as a share of its width


def _closeup(mark: _Mark) -> _Closeup:
    """The part of the page around a join where most ink lies close to it."""
    image = mark.page.image
    width, height = (min(size, side) for size, side in zip(_CLOSEUP, image.shape[1::-1], strict=True))
    left = int(np.clip(mark.x - width / 2, 0, image.shape[1] - width))
    near = slice(max(0, round(mark.x) - 40), round(mark.x) + 40)
    ink = (image[:, near].min(axis=2) < 128).sum(axis=1)
    heaped = np.concatenate([[0], np.cumsum(ink)])
    top = int(np.argmax(heaped[height:] - heaped[: len(heaped) - height]))
    return _Closeup(image[top : top + height, left : left + width], (mark.x - left) / width)


def _join_table(marks: Sequence[_Mark], shown: Sequence[_Mark], arrangement: Arrangement) -> str:
    rows = []
    breaks = {page_break.after: page_break for page_break in arrangement.breaks}
    for number, slots in enumerate(arrangement.pages, 1):
        # a join with a close-up is named by its card, every other by its row
        rows += [_join_row(mark, is_named=mark not in shown) for mark in marks if mark.page_number == number]
        if slots and slots[-1].shred_id in breaks:
            rows.append(_break_row(breaks[slots[-1].shred_id]))
    heads = ("Join", "Page", "Left shred", "Right shred", "Verdict")
    numbers = ("Offset (px)", "Score", "Probability", "Price")
    return (
        "<details><summary>Show the table</summary>"
        '<div class="scroll"><table><caption>Offset: px the right shred moves down. Score: up is good. '
        "Price: how much dearer every order without the join is at least.</caption><thead><tr>"
        + "".join(f'<th scope="col">{head}</th>' for head in heads)
        + "".join(f'<th scope="col" class="number">{head}</th>' for head in numbers)
        + f"</tr></thead><tbody>{''.join(rows)}</tbody></table></div></details>"
    )


def _join_row(mark: _Mark, *, is_named: bool) -> str:
    join = mark.join
    cells = [join.offset, f"{join.score:.2f}", _or_dash(join.probability, _percent), _or_dash(join.price)]
    name = f' id="{mark.anchor}"' if is_named else ""
    return (
        f'<tr{name} class="{join.verdict}"><th scope="row">{mark.number}</th><td>{mark.page_number}</td>'
        f"<td>{escape(join.left)}</td><td>{escape(join.right)}</td>"
        f'<td class="verdict">{_MARKS[join.verdict]} {join.verdict}</td>'
        + "".join(f'<td class="number">{cell}</td>' for cell in cells)
        + "</tr>"
    )


def _break_row(ends: PageBreak) -> str:
    return (
        f'<tr><th scope="row"></th><td></td><td>{escape(ends.after)}</td>'
        f'<td>{escape(ends.before)}</td><td class="soft">page ends here</td><td></td><td></td>'
        f'<td class="number">{_or_dash(ends.probability, _percent)}</td>'
        f'<td class="number">{_or_dash(ends.price)}</td></tr>'
    )


def _or_dash(value: float | None, show: Callable[[float], str] = "{:.3g}".format) -> str:
    return "–" if value is None else show(value)


def _blanks(blank: ShredSet) -> str:
    if not blank:
        return ""
    items = "".join(_blank(shred) for shred in blank)
    return (
        "<p>Without ink there is nothing to match: these were set aside, and belong to no page yet.</p>"
        f'<ul class="strips">{items}</ul>'
    )


def _blank(shred: Shred) -> str:
    white = np.where(shred.mask[:, :, None], shred.image, 255).astype(np.uint8)
    picture = _embed(_shrink(white, 10**6, _THUMBNAIL_HEIGHT), f"Blank shred {shred.id}")
    return f"<li>{picture}{escape(shred.id)}</li>"


def _overview(overview: Overview) -> str:
    picture = _embed(_shrink(overview.image, _OVERVIEW_SIDE, _OVERVIEW_SIDE), f"Sheet {overview.title}")
    warnings = "".join(f"<li>{escape(warning)}</li>" for warning in overview.warnings)
    return (
        f'<figure class="overview"><figcaption>{escape(overview.title)}</figcaption>{picture}'
        + (f"<ul>{warnings}</ul>" if warnings else "")
        + "</figure>"
    )


def _times(seconds: Mapping[str, float]) -> str:
    if not seconds:
        return ""
    total = sum(seconds.values())
    rows = "".join(
        f'<tr><th scope="row">{escape(stage)}</th><td class="number">{spent:.2f}</td>'
        f'<td style="width:70%"><span class="bar" style="width:{spent / (total or 1):.1%}"></span></td></tr>'
        for stage, spent in seconds.items()
    )
    return (
        f"<table><caption>Seconds per stage, {total:.1f} in all</caption><thead><tr>"
        '<th scope="col">Stage</th><th scope="col" class="number">Seconds</th><th scope="col">Share</th>'
        f"</tr></thead><tbody>{rows}</tbody></table>"
    )


def _provenance(provenance: Mapping[str, str]) -> str:
    if not provenance:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td></tr>'
        for name, value in provenance.items()
    )
    table = f'<div class="scroll"><table><tbody>{rows}</tbody></table></div>'
    if len(provenance) > _MOST_ROWS_UNFOLDED:
        return f"<details><summary>Show {len(provenance)} lines</summary>{table}</details>"
    return table


def _proof(arrangement: Arrangement) -> str:
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
    if scale == 1.0:
        return image
    size = (max(1, round(image.shape[1] * scale)), max(1, round(image.shape[0] * scale)))
    return np.asarray(Pillow.fromarray(image).resize(size, Pillow.Resampling.BOX))


def _embed(image: Image, alt: str) -> str:
    """An <img> that carries its pixels."""
    buffer = io.BytesIO()
    Pillow.fromarray(image).save(buffer, "WEBP", quality=78, method=2)
    encoded = base64.b64encode(buffer.getvalue()).decode()
    height, width = image.shape[:2]
    return (
        f'<img src="data:image/webp;base64,{encoded}" width="{width}" height="{height}" alt="{escape(alt)}">'
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
