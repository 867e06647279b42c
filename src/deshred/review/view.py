"""The plain values that the browser draws of a Board: shreds once, and the state whenever it changes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from deshred.arrangement import Atom, split
from deshred.compatibility.tracing import Trace
from deshred.elements import Join
from deshred.questions import Question
from deshred.review.board import Board
from deshred.review.evidence import Evidence, find_candidates
from deshred.review.layout import Sheet
from deshred.review.merging import stands_behind
from deshred.review.pictures import LEVELS, PER_ATLAS, Pictures
from deshred.review.session import Event

_BESIDE = 40  # px of a shred beside the tear
_WINDOW = 400  # rows that a close-up shows


class View:
    """Describes one board; shreds are named by their index."""

    def __init__(self, board: Board, pictures: Pictures, name: str) -> None:
        self._board, self._name, self._pictures = board, name, pictures
        done = board.reconstruction
        self._index = {id_: i for i, id_ in enumerate((*done.shreds.ids, *done.blank.ids))}

    def case(self) -> dict[str, Any]:
        """What never changes in a review."""
        done = self._board.reconstruction
        margins = done.compatibility.margins
        shreds = []
        for k, (shred, cell) in enumerate(
            zip((*done.shreds, *done.blank), self._pictures.cells(), strict=True)
        ):
            height, width = shred.mask.shape
            shreds.append(
                {
                    "id": shred.id,
                    "width": width,
                    "height": height,
                    "mm": None
                    if margins is None or k >= len(done.shreds)
                    else _plain(float(margins.widths_mm[k]), 1),
                    "source": shred.source.path.name,
                    "cell": asdict(cell),
                }
            )
        return {
            "name": self._name,
            "shreds": shreds,
            "inked": len(done.shreds),
            "levels": LEVELS,
            "perAtlas": PER_ATLAS,
            "fingerprint": done.compatibility.fingerprint[:16],
            "paperMm": self._board.paper_width_mm,
            "warnings": self._warnings(),
            "scorer": done.scorer.name,
            "dpi": float(done.shreds[0].dpi),
        }

    def _warnings(self) -> list[list[Any]]:
        """What segmentation was not sure of: the shred, where it is about one, and why."""
        found: list[list[Any]] = []
        for sheet in self._board.opened.sheets:
            found += [[None, f"{sheet.name}: {warning}"] for warning in sheet.segmentation.warnings]
            for cutout in sheet.segmentation.cutouts:
                found += [[self._index.get(str(cutout.name)), warning] for warning in cutout.warnings]
        return found

    def state(self) -> dict[str, Any]:
        """What may have changed."""
        board = self._board
        standing = board.standing
        questions = board.questions_known()
        titles = {one.statement.shreds[0]: one.statement.value for one in standing.of_kind("title")}
        looked = {one.statement.shreds for one in standing.of_kind("looked")}
        done = {one.statement.shreds for one in standing.of_kind("done")}
        aside = {one.statement.shreds[0] for one in standing.of_kind("aside")}
        pages = []
        sheets = board.sheets()
        page_of = {id_: number for number, sheet in enumerate(sheets) for id_ in sheet.shreds}
        doubts = Counter(page_of.get(question.shred) for question in questions)
        gaps = {one.statement.shreds[0]: one.statement for one in standing.of_kind("gap")}
        blanks: dict[str, list[str]] = {}
        for one in standing.of_kind("blank"):
            blanks.setdefault(one.statement.shreds[1], []).append(one.statement.shreds[0])
        for number, sheet in enumerate(sheets):
            page = self._page(sheet, doubts[number], blanks)
            gap = gaps.get(sheet.shreds[-1])
            page["gap"] = None if gap is None else {"mm": int(gap.value), "page": page_of[gap.shreds[1]]}
            page["title"] = next((titles[id_] for id_ in sheet.shreds if id_ in titles), "")
            state = "done" if sheet.shreds in done else "looked" if sheet.shreds in looked else "open"
            page["state"] = "aside" if sheet.shreds[0] in aside else state
            pages.append(page)
        return {
            "version": board.version,
            "head": board.head,
            "events": len(board.events),
            "proof": {
                **asdict(board.proof),
                "cost": _plain(board.proof.cost, 3),
                "gap": _plain(board.proof.gap, 3),
            },
            "pages": pages,
            "blanks": {
                str(self._index[one.statement.shreds[0]]): self._index[one.statement.shreds[1]]
                for one in standing.of_kind("blank")
            },
            "gaps": [
                [*map(self._index.__getitem__, one.statement.shreds), int(one.statement.value)]
                for one in standing.of_kind("gap")
            ],
            "flipped": [self._index[one.statement.shreds[0]] for one in standing.of_kind("flipped")],
            "aside": [self._index[id_] for id_ in sorted(aside)],
            "ends": {
                "first": self._indices(standing.constraints.first),
                "last": self._indices(standing.constraints.last),
            },
            "doubts": [self._indices(one.statement.shreds) for one in standing.of_kind("cannot-tell")],
            "notes": [
                [self._indices(one.statement.shreds), one.statement.value, one.event.actor]
                for one in standing.of_kind("note")
            ],
            "outlook": asdict(board.outlook()),
            "disputes": [
                {
                    "number": one.number,
                    "mine": [one.mine.kind, self._indices(one.mine.shreds), one.mine.value],
                    "theirs": [one.theirs.kind, self._indices(one.theirs.shreds), one.theirs.value],
                    "who": [one.who_mine, one.who_theirs],
                }
                for one in board.disputes()
            ],
            "groups": [
                [one.statement.kind, self._indices(one.statement.shreds), one.event.actor]
                for one in standing.of_kind("together", "apart")
            ],
            "offer": 0 if board.offer is None else board.offer.pages,
            "clash": self.clash(board.refusal),
            "protests": [
                {
                    "id": one.event.id,
                    "rise": round(one.rise, 1),
                    "pairs": self._pairs(one.event),
                    "said": one.event.say[0].kind if one.event.say else "",
                }
                for one in board.protests.values()
            ],
        }

    def _indices(self, ids: Any) -> list[int]:
        return [self._index[id_] for id_ in ids]

    def _pairs(self, event: Event) -> list[list[int]]:
        return [self._indices(statement.shreds[:2]) for statement in event.say]

    def _page(self, sheet: Sheet, questions: int, blanks: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """A page; blank shreds push what lies right of them further to the right."""
        done = self._board.reconstruction
        margins = done.compatibility.margins
        shreds = self._indices(sheet.shreds)
        pushed, x, placed = 0, [], []
        for place in sheet.placements:
            x.append(place.x + pushed)
            width = done.shreds[self._index[place.shred_id]].mask.shape[1]
            for blank in blanks.get(place.shred_id, ()):
                placed.append([self._index[blank], place.x + width + pushed, place.y])
                pushed += done.blank[done.blank.index_of(blank)].mask.shape[1]
        return {
            "shreds": shreds,
            "x": x,
            "y": [place.y for place in sheet.placements],
            "blanks": placed,
            "joins": [self._join(join) for join in sheet.joins],
            "mm": None if margins is None else _plain(float(margins.widths_mm[shreds].sum()), 0),
            "questions": questions,
        }

    def _join(self, join: Join) -> dict[str, Any]:
        said = self._board.standing.by_join.get((join.left, join.right))
        return {
            "probability": _plain(join.probability, 4),
            "verdict": join.verdict,
            "score": _plain(join.score, 2),
            "price": _plain(join.price, 2),
            "offset": join.offset,
            "by": None if said is None else said.event.actor or "somebody",
        }

    def question(self, question: Question) -> dict[str, Any]:
        """A question with everything that is needed to show it."""
        options = [self._option(question, option.partner, option.belief) for option in question.options]
        return {
            "key": question.key,
            "side": question.side,
            "shred": self._index[question.shred],
            "last": self._index[question.last] if question.last else None,
            "now": self._now(question),
            "page": question.page,
            "row": self.row_beside(self._index[question.shred], question.side),
            "doubt": round(question.doubt, 4),
            "options": options,
        }

    def _now(self, question: Question) -> int | None:
        if question.again:
            return -1  # asked without a hint
        return None if question.now is None else self._index[question.now]

    def row_beside(self, index: int, side: str) -> int:
        """The row of the shred's image where most is written beside the tear."""
        pair = self._board.reconstruction.pile.edges[index]
        edge = pair.left if side == "left" else pair.right
        written = edge.ink[:, :_BESIDE].sum(axis=1, dtype=np.float64)
        return int(np.convolve(written, np.hanning(_WINDOW), "same").argmax()) + edge.top

    def _option(self, question: Question, partner: str | None, belief: float) -> dict[str, Any]:
        if partner is None:
            return {"partner": None, "belief": round(belief, 4)}
        pair = (question.shred, partner) if question.side == "right" else (partner, question.shred)
        x, y = self._board.step(*pair)
        return {"partner": self._index[partner], "belief": round(belief, 4), "x": x, "y": y}

    def candidates(self, index: int, side: str) -> list[dict[str, Any]]:
        """Who may stand at a side, and where they lie now."""
        pile = self._board.reconstruction.compatibility
        pages = {id_: number for number, page in enumerate(self._board.pages()) for id_ in page}
        found, row = [], self.row_beside(index, side)
        for candidate in find_candidates(pile, index, side):
            own, other = pile.ids[index], pile.ids[candidate.partner]
            x, y = self._board.step(*((own, other) if side == "right" else (other, own)))
            found.append(
                {
                    "partner": candidate.partner,
                    "score": _plain(candidate.score, 2),
                    "belief": round(candidate.share, 4),
                    "page": pages.get(other),
                    "x": x,
                    "y": y,
                    "row": row if side == "right" else row + y,  # of the left one of the two
                }
            )
        return found

    def evidence(self, evidence: Evidence, trace: Trace, down: int) -> dict[str, Any]:
        """As numbers in lists; shifts become offsets of whole shreds, whose edges begin `down` px apart."""
        return {
            "shifts": (trace.shifts.astype(int) + down).tolist(),
            "ink": np.round(trace.ink, 2).tolist(),
            "outline": np.round(trace.outline, 2).tolist(),
            "products": np.round(trace.rows, 3).tolist(),
            "productRows": trace.row_step,
            "top": evidence.top,
            "rows": evidence.rows,
            "meets": evidence.meets.tolist(),
            "ends": evidence.ends.tolist(),
            "gap": evidence.gap_px.tolist(),
        }

    def history(self) -> list[dict[str, Any]]:
        """All events, the latest first."""
        standing = self._board.standing
        return [
            {
                "id": event.id,
                "number": event.number,
                "time": event.time,
                "actor": event.actor,
                "action": event.action,
                "say": [[one.kind, self._indices(one.shreds), one.value] for one in event.say],
                "unsay": [[one.kind, self._indices(one.shreds), one.value] for one in event.unsay],
                "of": event.of,
                "undone": event.id in standing.undone,
                "replaced": [
                    [one.kind, self._indices(one.shreds)] for one in standing.replaced.get(event.id, ())
                ],
            }
            for event in reversed(self._board.events)
        ]

    def clash(self, atoms: tuple[object, ...]) -> list[dict[str, Any]]:
        """Constraints at odds, to be shown as pictures, and who said what is behind each."""
        return [self._at_odds(atom) for atom in atoms if isinstance(atom, Atom)]

    def _at_odds(self, atom: Atom) -> dict[str, Any]:
        said = (one for one in self._board.standing.said if stands_behind(one.statement, atom))
        behind = next(said, None)
        return {
            "kind": atom.kind,
            "shreds": self._indices(atom.ids),
            "event": None if behind is None else behind.event.id,
            "by": None if behind is None else behind.event.actor or "somebody",
            "number": None if behind is None else behind.event.number,
            "given": atom in split(self._board.opened.constraints),
        }


def _plain(value: float | None, digits: int) -> float | None:
    """Rounded; JSON has no infinities."""
    return None if value is None or not math.isfinite(value) else round(value, digits)
