"""A Board in, what leaves a review out: pages, report, `arrangement.json`, `constraints.toml`, decisions.

Everything says who decided: a person, by name and time, or the machine with its probability. Each export has
a folder of its own in the case; what the run wrote stays as it was.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from deshred.cases import ARRANGEMENT, REPORT, REVIEWS, Case, page_name
from deshred.elements import Arrangement, Constraints, Page, ShredSet, Slot
from deshred.export.encoding import encode_page
from deshred.export.report import render_report
from deshred.export.results import describe, describe_constraints
from deshred.imaging.composition import MissingPaper, compose
from deshred.pipeline import Reconstruction, rearrange
from deshred.review.board import Board
from deshred.review.lessons import Consistency, measure_consistency
from deshred.review.session import Standing

CONSTRAINTS = "constraints.toml"
DECISIONS = "decisions.csv"
_PARTS = "parts"  # pages that miss paper in the middle, put together


def save_review(case: Case, board: Board) -> str:
    """Write all of it into a new folder of the case; returns the folder's name."""
    number = 1
    while (case.path / REVIEWS / f"{number:03d}").exists():
        number += 1
    folder = f"{REVIEWS}/{number:03d}"
    standing, head = board.standing, board.head
    done = finish(board)
    told = tell_decisions(standing, head, measure_consistency(board.events))
    report = render_report(done, provenance=told, title="Reconstruction, reviewed")
    with board.pause:
        for page_number, page in enumerate(done.pages, 1):
            case.write_bytes(f"{folder}/{page_name(page_number)}", encode_page(page))
        for gapped in compose_parts(done, standing):
            name = f"{folder}/{_PARTS}/{'-'.join(f'{number:03d}' for number in gapped.numbers)}.png"
            case.write_bytes(name, encode_page(gapped.page))
        case.write_text(f"{folder}/{CONSTRAINTS}", render_constraints(done.constraints))
        case.write_text(f"{folder}/{DECISIONS}", render_decisions(standing))
        case.write_text(f"{folder}/{REPORT}", report)
        case.write_json(f"{folder}/{ARRANGEMENT}", describe_review(done, standing, head, case))
    return folder


def finish(board: Board) -> Reconstruction:
    """The reconstruction as the review leaves it, composed anew from the shreds themselves."""
    standing, done = board.standing, board.scored()
    pile = done.pile
    solved = rearrange(done, standing.constraints)
    arrangement = _with_offsets(solved.arrangement, standing)
    shown = _with_blanks(arrangement, standing)
    pages = compose(ShredSet([*pile.shreds, *pile.blank]), shown, options=done.settings.composition)
    return replace(solved, arrangement=arrangement, pages=tuple(pages))


@dataclass(frozen=True, eq=False)
class Gapped:
    """Parts of one page with the paper between them missing."""

    numbers: tuple[int, ...]  # of the pages that are its parts, from 1
    page: Page


def compose_parts(done: Reconstruction, standing: Standing) -> list[Gapped]:
    """Pages that people say belong together although paper between them is missing: hatched, in its width."""
    gaps = {one.statement.shreds: int(one.statement.value) for one in standing.of_kind("gap")}
    pages = _with_blanks(done.arrangement, standing).pages
    bare = done.arrangement.pages
    starting = {page[0].shred_id: number for number, page in enumerate(bare)}
    follows = {left: starting[right] for left, right in gaps if right in starting}
    chains = list_chains([follows.get(page[-1].shred_id) for page in bare])
    missing = [
        MissingPaper(left, "right", round(mm * done.shreds[0].dpi / 25.4), f"{mm} mm missing")
        for (left, _), mm in gaps.items()
    ]
    slots = tuple(tuple(slot for number in chain for slot in pages[number]) for chain in chains)
    if not chains:
        return []
    whole = replace(done.arrangement, pages=slots)
    shreds = ShredSet([*done.pile.shreds, *done.pile.blank])
    composed = compose(shreds, whole, options=done.settings.composition, missing=missing)
    return [
        Gapped(tuple(number + 1 for number in chain), page)
        for chain, page in zip(chains, composed, strict=True)
    ]


def list_chains(follows: Sequence[int | None]) -> list[list[int]]:
    """Pages that follow one another, by number; those that stand alone are left out."""
    taken = {number for number in follows if number is not None}
    chains = []
    for start in range(len(follows)):
        chain: list[int] = [] if start in taken else [start]
        while chain and (following := follows[chain[-1]]) is not None:
            chain.append(following)
        if len(chain) > 1:
            chains.append(chain)
    return chains


def _with_offsets(arrangement: Arrangement, standing: Standing) -> Arrangement:
    """What a person measured counts more than what was computed."""
    stated = {one.statement.shreds: int(one.statement.value) for one in standing.of_kind("offset")}
    if not stated:
        return arrangement
    joins = tuple(
        replace(join, offset=stated.get((join.left, join.right), join.offset)) for join in arrangement.joins
    )
    steps = {join.right: join.offset for join in joins}
    pages = []
    for page in arrangement.pages:
        slots = [Slot(page[0].shred_id, 0)]
        for slot in page[1:]:
            slots.append(Slot(slot.shred_id, slots[-1].offset + steps[slot.shred_id]))
        pages.append(tuple(slots))
    return replace(arrangement, joins=joins, pages=tuple(pages))


def _with_blanks(arrangement: Arrangement, standing: Standing) -> Arrangement:
    """Blank shreds stand where they were put, at the height of their neighbor."""
    after: dict[str, list[str]] = {}
    for one in standing.of_kind("blank"):
        after.setdefault(one.statement.shreds[1], []).append(one.statement.shreds[0])
    pages = []
    for page in arrangement.pages:
        slots: list[Slot] = []
        for slot in page:
            slots.append(slot)
            slots += [Slot(blank, slot.offset) for blank in after.get(slot.shred_id, ())]
        pages.append(tuple(slots))
    return replace(arrangement, pages=tuple(pages))


def describe_review(
    done: Reconstruction, standing: Standing, head: str, case: Case | None = None
) -> dict[str, Any]:
    """`arrangement.json` with who decided about every join, and what else was said."""
    plain = replace(done, pages=_without_blanks(done))
    content = describe(plain, case)
    doubted = {one.statement.shreds for one in standing.of_kind("cannot-tell")}
    looked = {pair for one in standing.of_kind("looked") for pair in pairwise(one.statement.shreds)}
    for page in content["pages"]:
        for join in page["joins"]:
            pair = (join["left"], join["right"])
            join["decided"] = _decided(pair, standing, doubted, looked)
    content["review"] = {
        "journal": head,
        "reviewers": list_reviewers(standing),
        "statements": [
            {
                "kind": one.statement.kind,
                "shreds": list(one.statement.shreds),
                "value": one.statement.value,
                "by": one.event.actor,
                "time": one.event.time,
                "entry": one.event.number,
            }
            for one in standing.said
        ],
    }
    return content


def _without_blanks(done: Reconstruction) -> tuple[Any, ...]:
    blank = set(done.blank.ids)
    return tuple(
        replace(page, placements=tuple(p for p in page.placements if p.shred_id not in blank))
        for page in done.pages
    )


def _decided(
    pair: tuple[str, str], standing: Standing, doubted: set[tuple[str, ...]], looked: set[tuple[str, str]]
) -> dict[str, Any]:
    said = standing.by_join.get(pair)
    if said is not None:
        return {
            "by": "person",
            "who": said.event.actor,
            "time": said.event.time,
            "entry": said.event.number,
            "action": said.event.action,
        }
    if pair in doubted:
        return {"by": "machine", "person": "cannot tell"}
    return {"by": "machine", "person": "looked at" if pair in looked else "not looked at"}


def list_reviewers(standing: Standing) -> list[str]:
    """Everybody whose word stands."""
    return sorted({one.event.actor for one in standing.said if one.event.actor})


def tell_decisions(standing: Standing, head: str, consistency: Consistency) -> dict[str, str]:
    """One line for every decision: what, who and when."""
    lines = {"journal up to": head, "reviewers": ", ".join(list_reviewers(standing)) or "nobody"}
    if consistency.asked:
        lines["asked twice"] = f"{consistency.alike} of {consistency.asked} answered the same way"
    for number, one in enumerate(standing.said, 1):
        said = one.statement
        if said.kind != "looked":
            shreds = " → ".join(said.shreds[:4]) + (" …" if len(said.shreds) > 4 else "")
            what = f"{said.kind} {shreds} {said.value}".rstrip()
            lines[f"decision {number}"] = f"{what}, by {one.event.actor or 'somebody'}, {one.event.time}"
    return lines


def render_decisions(standing: Standing) -> str:
    """Every statement that stands, as a table."""
    buffer = io.StringIO()
    table = csv.writer(buffer, lineterminator="\n")
    table.writerow(["entry", "time", "who", "action", "kind", "shreds", "value"])
    for one in standing.said:
        event, said = one.event, one.statement
        cells = [said.kind, " ".join(said.shreds), said.value]
        table.writerow([event.number, event.time, *map(_harmless, [event.actor, event.action, *cells])])
    return buffer.getvalue()


def _harmless(text: str) -> str:
    """Spreadsheets run what begins with these signs."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t") else text


def render_constraints(constraints: Constraints) -> str:
    """TOML as `load_constraints` reads it."""
    lines = ["# What people decided; `deshred reconstruct --constraints` repeats it.", ""]
    for name, held in describe_constraints(constraints).items():
        lines.append(f"{name} = [")
        lines += [f"  {json.dumps(item, ensure_ascii=False)}," for item in held]
        lines += ["]", ""]
    return "\n".join(lines).replace("\x7f", "\\u007f")  # the one sign that JSON has bare and TOML has not
