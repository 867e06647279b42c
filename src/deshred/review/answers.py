"""Turn the answer to a Question into Statements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from deshred.errors import InputError
from deshred.questions import Option, Question, Side
from deshred.review.session import Event
from deshred.review.statements import Statement

NONE = "none"
CANNOT_TELL = "cannot-tell"
END = "end"
WHOLE = "whole"
BOTH = "both"
_UNSHOWN = 0.25  # at least so likely is what is not shown, however sure the beliefs are of what is


def ask_again(event: Event, pages: Mapping[str, int]) -> Question | None:
    """The question behind an answer, its options the other way round; None where it cannot be asked again."""
    cause = event.cause
    side, _, shred = str(cause.get("question", "")).partition(" of ")
    shown, last = list(cause.get("shown", [])), str(cause.get("last", ""))
    named = [shred, *(one for one in shown if one != END), *([last] if last else [])]
    if side not in ("left", "right", "page") or (side == "page") != bool(last):
        return None
    if not all(one in pages for one in named) or cause.get("choice") == CANNOT_TELL:
        return None
    options = tuple(Option(None if one == END else one, 0.0) for one in reversed(shown))
    return Question(shred, cast(Side, side), None, options, 0.0, 0.0, 0.0, pages[shred], last, event.id)


def answer(question: Question, choice: str) -> tuple[Statement, ...]:
    """`choice` is the number of an option from 0, `end`, `none` or `cannot-tell`.

    About a page it is `whole`, or where it goes on: `left`, `right` or `both`.
    """
    if question.side == "page":
        return _about_page(question, choice)
    if choice == CANNOT_TELL:
        shreds = (question.shred,) if question.now is None else _pair(question, question.now)
        return (Statement("cannot-tell", shreds),)
    if choice == END:
        return (_at(question, None, "yes"),)
    if choice == NONE:
        return tuple(_at(question, option.partner, "no") for option in question.options)
    if not (choice.isascii() and choice.isdigit() and int(choice) < len(question.options)):
        raise InputError(f"the question has {len(question.options)} options, got {choice[:20]!r}.")
    return (_at(question, question.options[int(choice)].partner, "yes"),)


def believe(question: Question, choice: str) -> float:
    """How likely the queue held an answer to be the right one before it was given."""
    held = 1 - question.doubt
    if question.side == "page":
        shares = {WHOLE: held, BOTH: 0.1 * question.doubt}
        return shares.get(choice, 0.45 * question.doubt)
    beliefs = {str(k): option.belief for k, option in enumerate(question.options)}
    return beliefs.get(choice, max(_UNSHOWN, 1 - sum(beliefs.values())))


def _about_page(question: Question, choice: str) -> tuple[Statement, ...]:
    first, last = question.shred, question.last
    goes_on = Statement("not-first", (first,)), Statement("not-last", (last,))
    is_end = Statement("first", (first,)), Statement("last", (last,))
    choices = {  # who says that it goes on at one side has seen the other
        WHOLE: is_end,
        "left": (goes_on[0], is_end[1]),
        "right": (is_end[0], goes_on[1]),
        BOTH: goes_on,
    }
    if choice == CANNOT_TELL:
        return (Statement("cannot-tell", (first,)),)
    if choice not in choices:
        raise InputError(f"a page is whole, or continues on the left, right or both; got {choice[:20]!r}.")
    return choices[choice]


def _at(question: Question, partner: str | None, verdict: str) -> Statement:
    if partner is None:
        kind = "last" if question.side == "right" else "first"
        return Statement(kind if verdict == "yes" else f"not-{kind}", (question.shred,))
    return Statement("join" if verdict == "yes" else "no-join", _pair(question, partner))


def _pair(question: Question, partner: str) -> tuple[str, str]:
    return (question.shred, partner) if question.side == "right" else (partner, question.shred)
