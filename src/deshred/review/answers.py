"""A Question and what a person chose in, the Statements out that this amounts to."""

from __future__ import annotations

from deshred.errors import InputError
from deshred.questions import Question
from deshred.review.statements import Statement

NONE = "none"
CANNOT_TELL = "cannot-tell"
END = "end"
WHOLE = "whole"
BOTH = "both"


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


def _about_page(question: Question, choice: str) -> tuple[Statement, ...]:
    first, last = question.shred, question.last
    ends = {"left": Statement("not-first", (first,)), "right": Statement("not-last", (last,))}
    if choice == CANNOT_TELL:
        return (Statement("cannot-tell", (first,)),)
    if choice == WHOLE:
        return (Statement("first", (first,)), Statement("last", (last,)))
    if choice == BOTH:
        return tuple(ends.values())
    if choice not in ends:
        raise InputError(f"a page is whole, goes on left, right or both; got {choice[:20]!r}.")
    return (ends[choice],)


def _at(question: Question, partner: str | None, verdict: str) -> Statement:
    if partner is None:
        kind = "last" if question.side == "right" else "first"
        return Statement(kind if verdict == "yes" else f"not-{kind}", (question.shred,))
    return Statement("join" if verdict == "yes" else "no-join", _pair(question, partner))


def _pair(question: Question, partner: str) -> tuple[str, str]:
    return (question.shred, partner) if question.side == "right" else (partner, question.shred)
