import pytest

from deshred.elements import Constraints
from deshred.errors import InputError
from deshred.review.statements import KINDS, Statement, claims_of, read_statement, to_constraints

EXAMPLES = [
    (Statement("join", ("a", "b")), Constraints(required={("a", "b")})),
    (Statement("no-join", ("a", "b")), Constraints(forbidden={("a", "b")})),
    (Statement("first", ("a",)), Constraints(first={"a"})),
    (Statement("last", ("a",)), Constraints(last={"a"})),
    (Statement("not-first", ("a",)), Constraints(not_first={"a"})),
    (Statement("not-last", ("a",)), Constraints(not_last={"a"})),
    (Statement("together", ("a", "b")), Constraints(together={frozenset("ab")})),
    (Statement("apart", ("a", "b")), Constraints(apart={frozenset("ab")})),
    (Statement("aside", ("a",)), Constraints(first={"a"}, last={"a"})),
    (Statement("gap", ("a", "b"), "12"), Constraints(last={"a"}, first={"b"})),
    (Statement("blank", ("w", "a")), Constraints()),
    (Statement("flipped", ("a",)), Constraints(turned={"a"})),
    (Statement("offset", ("a", "b"), "-3"), Constraints()),
    (Statement("title", ("a",), "Letter"), Constraints()),
    (Statement("note", ("a",), "torn"), Constraints()),
    (Statement("cannot-tell", ("a",)), Constraints()),
    (Statement("looked", ("a", "b")), Constraints()),
    (Statement("done", ("a", "b")), Constraints(required={("a", "b")}, first={"a"}, last={"b"})),
]


def test_the_examples_cover_every_kind() -> None:
    assert {said.kind for said, _ in EXAMPLES} == set(KINDS)


@pytest.mark.parametrize(("said", "expected"), EXAMPLES)
def test_every_statement_has_its_constraints(said: Statement, expected: Constraints) -> None:
    assert to_constraints([said]) == expected


def test_what_was_known_before_the_review_stays() -> None:
    base = Constraints(required={("x", "y")}, apart={frozenset("pq")})
    both = to_constraints([Statement("join", ("a", "b"))], base)
    assert both.required == {("x", "y"), ("a", "b")}
    assert both.apart == base.apart


@pytest.mark.parametrize("said", [said for said, _ in EXAMPLES])
def test_a_statement_survives_being_written_down(said: Statement) -> None:
    assert read_statement(said.to_json()) == said


@pytest.mark.parametrize(
    "content",
    [
        None,
        [],
        ["join"],
        ["join", "ab"],
        ["join", ["a"]],
        ["join", ["a", "a"]],
        ["join", ["a", "b"], "7"],
        ["join", ["a", 7]],
        [7, ["a", "b"]],
        ["jump", ["a", "b"]],
        ["offset", ["a", "b"]],
        ["offset", ["a", "b"], "far"],
        ["offset", ["a", "b"], "99999999"],
        ["offset", ["a", "b"], "٣"],
        ["gap", ["a", "b"], "3.5"],
        ["note", ["a"], "x" * 2001],
        ["first", ["a"], "", ""],
    ],
)
def test_what_makes_no_sense_is_refused_with_a_reason(content: object) -> None:
    with pytest.raises(InputError):
        read_statement(content)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("join", "a", "b"), ("join", "a", "c")),
        (("join", "a", "b"), ("join", "c", "b")),
        (("join", "a", "b"), ("no-join", "a", "b")),
        (("join", "a", "b"), ("last", "a")),
        (("join", "a", "b"), ("first", "b")),
        (("join", "a", "b"), ("aside", "b")),
        (("last", "a"), ("not-last", "a")),
        (("aside", "a"), ("not-first", "a")),
        (("done", "a", "b"), ("join", "b", "c")),
        (("done", "a", "b"), ("no-join", "a", "b")),
    ],
)
def test_statements_about_one_side_contradict_each_other(
    one: tuple[str, ...], other: tuple[str, ...]
) -> None:
    first, second = (claims_of(Statement(kind, tuple(ids))) for kind, *ids in (one, other))
    assert any(first[key] != second[key] for key in first.keys() & second.keys())
