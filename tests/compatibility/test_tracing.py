import pytest

from deshred.compatibility.scorers import load_scorer
from deshred.compatibility.scoring import score
from deshred.compatibility.tracing import ROW_STEP, trace_join
from deshred.elements import Pile, ShredSet
from tests.compatibility.comparing import pile_of


@pytest.fixture(scope="module")
def pile(tiny_pile: ShredSet) -> Pile:
    return pile_of(tiny_pile[:6])


@pytest.mark.parametrize("name", ["default", "towers"])
def test_rows_add_up_to_the_ink_at_their_shift(pile: Pile, name: str) -> None:
    scorer = load_scorer(name)
    for shift in (-8, 0, 12):
        found = trace_join(scorer, pile.edges[0].right, pile.edges[1].left, shift)
        at = list(found.shifts).index(shift)
        assert found.rows.sum() == pytest.approx(float(found.ink[at]), abs=1e-2)
        assert len(found.rows) * ROW_STEP == scorer.edge_options.rows


def test_what_is_traced_is_what_was_scored(pile: Pile) -> None:
    scorer = load_scorer("towers")
    scores = score(pile, scorer).scores
    best = [[trace_join(scorer, a.right, b.left, 0).ink.max() for b in pile.edges] for a in pile.edges]
    for i, row in enumerate(best):
        others = [j for j in range(len(row)) if j != i]
        assert max(others, key=lambda j: row[j]) == max(others, key=lambda j: scores[i, j])


def test_the_outline_alone_has_no_ink(pile: Pile) -> None:
    found = trace_join(load_scorer("outline"), pile.edges[0].right, pile.edges[1].left, 0)
    assert len(found.outline) == len(found.shifts) > 0
    assert not len(found.ink)
    assert not len(found.rows)


def test_a_scorer_that_looks_at_whole_piles_traces_nothing(pile: Pile) -> None:
    found = trace_join(load_scorer("marques"), pile.edges[0].right, pile.edges[1].left, 0)
    assert not len(found.shifts)
