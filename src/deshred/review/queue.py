"""A review in, its questions out: what is worth asking now, and what is worth asking a second time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from deshred.elements import Arrangement, Compatibility
from deshred.questions import Question, QuestionOptions, ask, with_page_first
from deshred.review.answers import NONE, ask_again
from deshred.review.lessons import ANSWER, CONTROL, learn, measure_slips, read_answers
from deshred.review.protests import KEPT
from deshred.review.session import Event, Standing
from deshred.review.statements import Statement

_PER_CHECK = 20  # answers for one that is asked again whatever it is worth
_APART = 3  # answers that come before a question comes again, as long as there are others
_DENIED = 0.5  # that a page ends after all where it was said to continue and nothing fits
_REFUSED = 2  # times that a shred may be shown in vain before its first refusal is doubted
_TINY = 1e-9


def find_questions(
    compatibility: Compatibility,
    shown: Arrangement,
    standing: Standing,
    events: Sequence[Event],
    paper_width_mm: float | None,
    options: QuestionOptions | None = None,
) -> tuple[Question, ...]:
    """All that are worth asking, by value, those of one page together; answers so far have their say."""
    doubts = {
        f"{side} of {shred}"
        for one in standing.of_kind("cannot-tell")
        for shred in one.statement.shreds
        for side in ("left", "right", "page")
    }
    return with_page_first(
        ask(
            shown,
            compatibility,
            standing.constraints,
            paper_width_mm=paper_width_mm,
            skip=doubts,
            options=options or find_options(compatibility, standing, events),
        )
    )


def find_options(
    compatibility: Compatibility, standing: Standing, events: Sequence[Event]
) -> QuestionOptions:
    """How the queue weighs and times its questions after these answers."""
    calibration = compatibility.calibration
    options = QuestionOptions(slope=calibration.slope if calibration else 1.0)
    return learn(read_answers(events, standing.undone), options)


def find_checks(
    events: Sequence[Event],
    standing: Standing,
    pages: Sequence[Sequence[str]],
    options: QuestionOptions | None = None,
) -> tuple[Question, ...]:
    """Answers that may be slips, by what it is worth to ask them again with their options turned round.

    What nobody expected may be news or a slip; how often people slip is learned from what they say when they
    are asked twice.
    """
    options = options or QuestionOptions()
    slips = measure_slips(events)
    checked = {str(one.cause.get("control" if one.action == CONTROL else "kept", "")) for one in events}
    stands, denied = set(standing.statements), _find_denied(events, standing)
    page_of = {id_: number for number, page in enumerate(pages) for id_ in page}
    found = []
    for event in events:
        if event.action != ANSWER or event.id in checked or not stands.issuperset(event.say):
            continue
        question = ask_again(event, page_of)
        if question is not None:
            doubt = _doubt(event, len(question.options) + 1 if question.side != "page" else 4, slips)
            if denied.intersection(event.say) and len(question.options) < 2:
                doubt = max(doubt, _DENIED)
            seconds = options.time(question)
            found.append(replace(question, doubt=doubt, value=doubt / seconds, seconds=seconds))
    return tuple(sorted(found, key=lambda one: -one.value))


def _find_denied(events: Sequence[Event], standing: Standing) -> set[Statement]:
    """Statements that later answers speak against: a page was said to continue where nothing that was shown
    fits, or two shreds were said not to be joined and one of them then fits nowhere.
    """
    answers = [one for one in events if one.action == ANSWER and one.id not in standing.undone]
    nowhere = [one for one in answers if one.cause.get("choice") == NONE]
    kinds = {"left": "not-first", "right": "not-last"}
    parts = [str(one.cause.get("question", "")).partition(" of ") for one in nowhere]
    denied = {Statement(kinds[side], (shred,)) for side, _, shred in parts if side in kinds}
    refused = Counter(shred for one in nowhere for shred in set(one.cause.get("shown", [])))
    for statement in (statement for one in nowhere for statement in one.say if statement.kind == "no-join"):
        if max(refused[shred] for shred in statement.shreds) > _REFUSED:
            denied.add(statement)
    return denied


def _doubt(event: Event, choices: int, slips: float) -> float:
    """That an answer is a slip: it was likely before, or it is one of the wrong ones by chance."""
    likely = float(event.cause.get("belief", 0.5))
    wrong, right = slips / (choices - 1) * (1 - likely), (1 - slips) * likely
    return wrong / max(wrong + right, _TINY)


def merge_checks(
    queue: Sequence[Question],
    checks: Sequence[Question],
    events: Sequence[Event],
    options: QuestionOptions | None = None,
) -> tuple[Question, ...]:
    """The queue with a check in front, if one is worth more than what comes next, or is due."""
    options = options or QuestionOptions()
    answers = [one for one in events if one.action == ANSWER]
    done = sum(one.action in (CONTROL, KEPT) for one in events)
    latest = {one.id for one in answers[-_APART:]} if queue else set()
    check = next((one for one in checks if one.again not in latest), None)
    if check is None:
        return tuple(queue)
    least = max(options.least_value, queue[0].value if queue else 0.0)
    is_due = len(answers) // _PER_CHECK > done
    return (check, *queue) if is_due or check.value >= least else tuple(queue)
