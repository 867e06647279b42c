from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deshred import (
    anchor_blanks,
    arrange,
    compose,
    gather,
    load_scorer,
    load_shreds,
    prepare,
    refine,
    score,
    weigh_lines,
)
from deshred.arrangement import ArrangementOptions
from deshred.compatibility.outline import OutlineScorer
from deshred.compatibility.scoring import ScoringOptions
from deshred.elements import Constraints, Shred, ShredSet, Source
from deshred.errors import InputError, MismatchError, ModelError, SettingsError
from deshred.executors import ProcessExecutor, SerialExecutor
from deshred.pipeline import Reconstruction, rearrange, reconstruct
from deshred.settings import Settings
from tests.conftest import SavedPile

ONE_PAGE = Settings(arrangement=ArrangementOptions(pages=1), scoring=ScoringOptions(block=3))


def shred_with(level: int, shred_id: str) -> Shred:
    image = np.full((300, 60, 3), 240, np.uint8)
    image[100:110, 20:40] = level
    return Shred(shred_id, image, np.ones((300, 60), bool), 300.0, Source(Path(shred_id), ""))


@pytest.fixture(scope="module")
def done(saved_pile: SavedPile) -> Reconstruction:
    return reconstruct([saved_pile.folder], OutlineScorer(), settings=ONE_PAGE)


def test_a_shredded_page_comes_back_in_order(done: Reconstruction, saved_pile: SavedPile) -> None:
    assert done.arrangement.order == saved_pile.truth
    assert [placement.shred_id for placement in done.pages[0].placements] == list(saved_pile.truth)


def test_blank_shreds_are_set_aside_and_kept(done: Reconstruction) -> None:
    assert done.blank.ids == ("blank",)
    assert "blank" not in done.arrangement.order


def test_the_order_of_the_input_does_not_matter(done: Reconstruction) -> None:
    shuffled = ShredSet(list(done.shreds)[::-1])
    again = reconstruct(shuffled, OutlineScorer(), settings=ONE_PAGE)
    assert again.arrangement.pages == done.arrangement.pages
    assert np.array_equal(again.pages[0].image, done.pages[0].image)


@pytest.mark.parametrize("executor", [SerialExecutor(), ProcessExecutor(2)], ids=repr)
def test_every_executor_gives_the_same(done: Reconstruction, saved_pile: SavedPile, executor: Any) -> None:
    again = reconstruct([saved_pile.folder], OutlineScorer(), settings=ONE_PAGE, executor=executor)
    assert np.array_equal(again.compatibility.scores, done.compatibility.scores)
    assert again.arrangement == done.arrangement


def test_constraints_are_obeyed(done: Reconstruction) -> None:
    first, second = done.arrangement.order[:2]
    constraints = Constraints(forbidden=frozenset({(first, second)}))
    again = reconstruct(done.shreds, OutlineScorer(), settings=ONE_PAGE, constraints=constraints)
    assert (first, second) not in {(join.left, join.right) for join in again.arrangement.joins}


def test_two_shreds_are_enough_and_one_is_not() -> None:
    pair = ShredSet([shred_with(0, "a"), shred_with(0, "b"), shred_with(240, "c")])
    assert len(reconstruct(pair, OutlineScorer(), settings=ONE_PAGE).arrangement.order) == 2
    with pytest.raises(InputError, match="found 1 shred, 0 of them blank"):
        reconstruct(pair[:1], OutlineScorer())


def test_a_pile_of_blank_shreds_is_an_input_error() -> None:
    pile = ShredSet([shred_with(240, "a"), shred_with(230, "b"), shred_with(239, "c")])
    with pytest.raises(InputError, match=r"3 shreds, 3 of them blank.*contrast"):
        prepare(pile)


def test_the_summary_is_one_line_that_says_it_all(done: Reconstruction) -> None:
    assert done.summary().startswith("8 shreds, 1 page, 1 blank shred set aside, proven optimal, ")
    assert done.summary() in repr(done)


def test_every_stage_has_its_seconds_and_reports_progress(saved_pile: SavedPile) -> None:
    told: dict[str, tuple[int, int]] = {}

    def progress(stage: str, done: int, total: int) -> None:
        told[stage.partition(":")[0]] = (done, total)

    done = reconstruct([saved_pile.folder], OutlineScorer(), settings=ONE_PAGE, progress=progress)
    assert list(done.seconds) == ["decode", "prepare", "encode", "score", "solve", "refine", "compose"]
    assert told["reading"] == (9, 9)
    assert told["scoring"] == (9, 9)  # 8 shreds in blocks of 3


def test_a_model_that_is_not_there_is_noticed_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="nonsense"):
        reconstruct([tmp_path / "nowhere"], settings=Settings(model="nonsense"))


def test_the_five_verbs_one_by_one_give_exactly_what_reconstruct_gives(saved_pile: SavedPile) -> None:
    whole = reconstruct([saved_pile.folder])
    scorer = load_scorer()
    pile = anchor_blanks(prepare(load_shreds([saved_pile.folder]), edges=scorer.edge_options), scorer)
    compatibility = gather(pile, weigh_lines(score(pile, scorer), pile, scorer=scorer.card))
    arrangement = refine(arrange(compatibility), compatibility, pile)
    pages = compose(pile.shreds, arrangement)
    assert arrangement == whole.arrangement
    assert all(join.probability is not None for join in arrangement.joins)
    assert [page.placements for page in pages] == [page.placements for page in whole.pages]
    for page, other in zip(pages, whole.pages, strict=True):
        assert np.array_equal(page.image, other.image)


def test_shreds_of_another_resolution_are_brought_to_the_working_one(done: Reconstruction) -> None:
    doubled = ShredSet(
        [
            Shred(
                s.id,
                np.kron(s.image, np.ones((2, 2, 1), np.uint8)),
                np.kron(s.mask, np.ones((2, 2), bool)),
                600.0,
                s.source,
            )
            for s in done.shreds
        ]
    )
    assert (
        reconstruct(doubled, OutlineScorer(), settings=ONE_PAGE).arrangement.order == done.arrangement.order
    )
    assert {shred.dpi for shred in prepare(doubled).shreds} == {300.0}


def test_what_can_be_known_to_be_wrong_is_said_before_anything_is_scored(done: Reconstruction) -> None:
    class Unasked(OutlineScorer):
        def compare(self, *_: Any) -> Any:
            raise AssertionError("asked")

    with pytest.raises(MismatchError, match="nobody"):
        reconstruct(done.shreds, Unasked(), constraints=Constraints(first=frozenset({"nobody"})))
    with pytest.raises(SettingsError, match="50 pages"):
        reconstruct(done.shreds, Unasked(), settings=Settings(arrangement=ArrangementOptions(pages=50)))


def test_a_blank_shred_that_is_named_takes_part(saved_pile: SavedPile) -> None:
    last = saved_pile.truth[-1]
    placed = Constraints(required=frozenset({(last, "blank")}))
    again = reconstruct([saved_pile.folder], OutlineScorer(), settings=ONE_PAGE, constraints=placed)
    assert again.arrangement.order == (*saved_pile.truth, "blank")


def test_other_constraints_need_no_scoring(done: Reconstruction) -> None:
    first, second = done.arrangement.order[:2]
    again = rearrange(done, Constraints(forbidden=frozenset({(first, second)})))
    assert (first, second) not in {(join.left, join.right) for join in again.arrangement.joins}
    assert again.compatibility is done.compatibility
    assert rearrange(again, Constraints()).arrangement == done.arrangement
