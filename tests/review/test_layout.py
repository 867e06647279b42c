from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from deshred.elements import Constraints
from deshred.pipeline import Reconstruction
from deshred.review.layout import Placer, obey


def test_pages_lie_as_they_were_composed(reconstruction: Reconstruction) -> None:
    placer = Placer(reconstruction, reconstruction)
    for page in reconstruction.pages:
        ids = [place.shred_id for place in page.placements]
        drawn = placer.lay_out(ids, {}, {})
        moved = {(a.x - b.x, a.y - b.y) for a, b in zip(drawn.placements, page.placements, strict=True)}
        assert len(moved) == 1


def test_a_pair_that_never_stood_together_is_laid_side_by_side(reconstruction: Reconstruction) -> None:
    page = reconstruction.pages[0]
    left, right = page.placements[0].shred_id, page.placements[3].shred_id
    step = Placer(reconstruction, reconstruction).step(left, right)
    width = reconstruction.shreds[reconstruction.shreds.index_of(left)].mask.shape[1]
    assert 0.5 * width < step.x < 1.5 * width


PAGES = st.permutations("abcdefgh").flatmap(
    lambda ids: st.integers(1, 7).map(lambda at: [list(ids[:at]), list(ids[at:])])
)


@given(PAGES, st.permutations("abcdefgh"))
def test_a_word_is_obeyed_at_once_and_no_shred_is_lost(pages: list[list[str]], ids: list[str]) -> None:
    a, b, c, d = ids[:4]
    said = Constraints(required={(a, b)}, forbidden={(b, c)}, last={d})
    found = obey(pages, said)
    joins = {pair for page in found for pair in pairwise(page)}
    assert sorted(id_ for page in found for id_ in page) == sorted("abcdefgh")
    assert (a, b) in joins
    assert (b, c) not in joins
    assert d not in {left for left, _ in joins}
