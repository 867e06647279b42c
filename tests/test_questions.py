import numpy as np
import pytest

from deshred.arrangement import arrange
from deshred.elements import Compatibility, Constraints
from deshred.errors import SettingsError
from deshred.questions import QuestionOptions, ask, look_ahead, with_page_first
from tests.arrangement.drawn_piles import draw_pile, to_sparse


def make_doubtful(noise: float = 3.0) -> Compatibility:
    pile = draw_pile(np.random.default_rng(4), noise=noise)
    scores = pile.scores.copy()
    scores[2, 9], scores[8, 3] = scores[2, 3] - 0.1, scores[8, 9] - 0.1  # two shreds that look alike
    return Compatibility(pile.ids, scores, pile.offsets, margins=pile.margins)


def test_the_doubtful_join_is_asked_about_with_its_rival() -> None:
    pile = make_doubtful(noise=1.0)
    questions = ask(arrange(pile), pile, Constraints())
    first = next(one for one in questions if {one.shred, one.now} == {"s02", "s03"})
    shown = {option.partner for option in first.options}
    assert {"s03", "s09"} <= shown or {"s02", "s08"} <= shown


def test_a_rival_that_has_a_better_place_is_none() -> None:
    pile = draw_pile(np.random.default_rng(4), noise=1.0)
    scores = pile.scores.copy()
    scores[2, 9] = scores[2, 3] - 0.1  # it looks alike from one side only
    one_sided = Compatibility(pile.ids, scores, pile.offsets, margins=pile.margins)
    questions = ask(arrange(one_sided), one_sided, Constraints())
    shown = {option.partner for one in questions if one.shred == "s02" for option in one.options}
    assert "s09" not in shown


def test_where_a_person_says_that_a_page_goes_on_its_neighbor_is_not_asked() -> None:
    pile = make_doubtful()
    said = Constraints(not_first={"s09"}, forbidden={("s08", "s09")})
    questions = ask(arrange(pile, said), pile, said)
    assert not {one.key for one in questions if one.side == "right" and one.now == "s09"}


def test_the_best_question_comes_first_and_each_join_once() -> None:
    pile = make_doubtful()
    questions = ask(arrange(pile), pile, Constraints())
    assert [one.value for one in questions] == sorted((one.value for one in questions), reverse=True)
    assert len({one.join_key for one in questions}) == len(questions)


def test_what_was_decided_is_not_asked_again() -> None:
    pile = make_doubtful()
    arrangement = arrange(pile)
    said = Constraints(
        required={(join.left, join.right) for join in arrangement.joins},
        first={page[0].shred_id for page in arrangement.pages},
        last={page[-1].shred_id for page in arrangement.pages},
    )
    assert ask(arrange(pile, said), pile, said) == ()


def test_a_forbidden_join_is_no_option() -> None:
    pile = make_doubtful()
    said = Constraints(forbidden={("s02", "s09")})
    for question in ask(arrange(pile, said), pile, said):
        if question.shred == "s02" and question.side == "right":
            assert "s09" not in {option.partner for option in question.options}


def test_a_narrow_page_is_doubted_as_a_whole() -> None:
    pile = make_doubtful(noise=0.5)
    arrangement = arrange(pile)
    wide = ask(arrangement, pile, Constraints(), paper_width_mm=190)
    narrow = ask(arrangement, pile, Constraints(), paper_width_mm=400)
    assert not [one for one in wide if one.side == "page"]
    assert [one for one in narrow if one.side == "page"]


def test_one_path_has_no_page_ends_to_ask_about() -> None:
    pile = make_doubtful()
    bare = Compatibility(pile.ids, pile.scores, pile.offsets)
    assert all(one.now is not None for one in ask(arrange(bare), bare, Constraints()))


def test_sides_to_leave_alone_are_left_alone() -> None:
    pile = make_doubtful()
    arrangement = arrange(pile)
    first = ask(arrangement, pile, Constraints())[0]
    assert first.key not in {one.key for one in ask(arrangement, pile, Constraints(), skip={first.key})}


def test_sparse_scores_give_the_same_questions() -> None:
    dense = make_doubtful(noise=1.0)
    arrangement = arrange(dense)
    sparse = to_sparse(dense)
    asked = {one.key: one.doubt for one in ask(arrangement, dense, Constraints())}
    again = {one.key: one.doubt for one in ask(arrangement, sparse, Constraints())}
    assert asked.keys() == again.keys()
    assert again == pytest.approx(asked)


def test_questions_of_one_page_come_together() -> None:
    pile = make_doubtful()
    questions = with_page_first(ask(arrange(pile), pile, Constraints()), share=0.0)
    first = questions[0].page
    own = [one.page == first for one in questions]
    assert own == sorted(own, reverse=True)
    assert with_page_first(()) == ()


def test_the_outlook_adds_up() -> None:
    pile = make_doubtful()
    questions = ask(arrange(pile), pile, Constraints())
    outlook = look_ahead(questions)
    assert outlook.questions == len(questions)
    assert outlook.wrong == pytest.approx(sum(one.doubt for one in questions))


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"most_options": 0}, "at least one option"),
        ({"cover": 2}, "cover must be a share"),
        ({"seconds": 0}, "some time"),
    ],
)
def test_options_that_make_no_sense_are_refused(wrong: dict[str, float], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        QuestionOptions(**wrong)
