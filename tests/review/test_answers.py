import pytest

from deshred.errors import InputError
from deshred.questions import Option, Question
from deshred.review.answers import answer
from deshred.review.statements import Statement

OPTIONS = (Option("b", 0.6), Option(None, 0.3), Option("c", 0.1))
RIGHT = Question("a", "right", "b", OPTIONS, 0.4, 0.1, 5.0, 0)
LEFT = Question("a", "left", "b", OPTIONS, 0.4, 0.1, 5.0, 0)
PAGE = Question("a", "page", None, (), 0.3, 0.1, 4.0, 0, last="z")


@pytest.mark.parametrize(
    ("question", "choice", "said"),
    [
        (RIGHT, "0", [("join", "a", "b")]),
        (RIGHT, "1", [("last", "a")]),
        (RIGHT, "end", [("last", "a")]),
        (RIGHT, "none", [("no-join", "a", "b"), ("not-last", "a"), ("no-join", "a", "c")]),
        (RIGHT, "cannot-tell", [("cannot-tell", "a", "b")]),
        (LEFT, "2", [("join", "c", "a")]),
        (LEFT, "1", [("first", "a")]),
        (LEFT, "none", [("no-join", "b", "a"), ("not-first", "a"), ("no-join", "c", "a")]),
        (PAGE, "whole", [("first", "a"), ("last", "z")]),
        (PAGE, "left", [("not-first", "a"), ("last", "z")]),
        (PAGE, "right", [("first", "a"), ("not-last", "z")]),
        (PAGE, "both", [("not-first", "a"), ("not-last", "z")]),
        (PAGE, "cannot-tell", [("cannot-tell", "a")]),
    ],
)
def test_an_answer_is_these_statements(question: Question, choice: str, said: list[tuple[str, ...]]) -> None:
    assert answer(question, choice) == tuple(Statement(kind, tuple(ids)) for kind, *ids in said)


@pytest.mark.parametrize(("question", "choice"), [(RIGHT, "3"), (RIGHT, "-1"), (RIGHT, "x"), (PAGE, "0")])
def test_what_was_not_offered_is_refused(question: Question, choice: str) -> None:
    with pytest.raises(InputError):
        answer(question, choice)
