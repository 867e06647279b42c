"""A review in, its questions out: what is worth asking now, and what is asked a second time."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from deshred.elements import Arrangement
from deshred.pipeline import Reconstruction
from deshred.questions import Question, QuestionOptions, ask, with_page_first
from deshred.review.answers import ask_again
from deshred.review.lessons import ANSWER, CONTROL, learn, read_answers
from deshred.review.session import Event, Standing

_PER_CONTROL = 20  # answers for one that is asked again


def find_questions(
    done: Reconstruction,
    shown: Arrangement,
    standing: Standing,
    events: Sequence[Event],
    paper_width_mm: float | None,
) -> tuple[Question, ...]:
    """All that are worth asking, by value, those of one page together; answers so far have their say."""
    calibration = done.compatibility.calibration
    options = QuestionOptions(slope=calibration.slope if calibration else 1.0)
    doubts = {
        f"{side} of {shred}"
        for one in standing.of_kind("cannot-tell")
        for shred in one.statement.shreds
        for side in ("left", "right", "page")
    }
    return with_page_first(
        ask(
            shown,
            done.compatibility,
            standing.constraints,
            paper_width_mm=paper_width_mm,
            skip=doubts,
            options=learn(read_answers(events, standing.undone), options),
        )
    )


def find_control(
    events: Sequence[Event], undone: Collection[str], pages: Sequence[Sequence[str]]
) -> Question | None:
    """After every so many answers, the oldest that was not checked yet, with its options turned round."""
    answers = [one for one in events if one.action == ANSWER and one.id not in undone]
    checked = {one.cause.get("control") for one in events if one.action == CONTROL}
    if len(answers) // _PER_CONTROL <= len(checked):
        return None
    page_of = {id_: number for number, page in enumerate(pages) for id_ in page}
    again = (ask_again(one, page_of) for one in answers if one.id not in checked)
    return next((one for one in again if one is not None), None)
