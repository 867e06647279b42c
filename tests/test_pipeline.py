from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from deshred.export.runs import describe_run, reconstruct_into, save_run
from deshred.store import COMPATIBILITY, RunFolder, read_arrangement

from deshred.arrangement import ArrangementOptions
from deshred.compatibility.outline import OutlineScorer
from deshred.compatibility.scoring import ScoreBlock, ScoringOptions
from deshred.elements import Constraints, Edge, Shred, ShredSet, Source
from deshred.errors import InputError, ModelError
from deshred.executors import ProcessExecutor, SerialExecutor
from deshred.pipeline import (
    CopiesWarning,
    Reconstruction,
    Stopwatch,
    _ResumingScorer,
    reconstruct,
    set_aside_blank,
)
from deshred.settings import Settings
from deshred.shelf import Shelf
from tests.conftest import SavedPile
from tests.test_shelf import lies_on_disk

ONE_PAGE = Settings(arrangement=ArrangementOptions(pages=1), scoring=ScoringOptions(block=3))

BLANK = 3  # blocks with blank paper: before all shreds, behind them, and beside itself


class CountingScorer(OutlineScorer):
    """The outline, and how often it was asked; it can die in the middle as if killed."""

    def __init__(self, dies_after: int | None = None) -> None:
        super().__init__()
        self.blocks = 0
        self.dies_after = dies_after

    def encode_rights(self, edges: Sequence[Edge]) -> Any:
        return super().encode_rights(edges)

    def adapt(self, rights: Any, lefts: Any, /) -> CountingScorer:
        adapted = super().adapt(rights, lefts)
        self.options, self.log_prior = adapted.options, adapted.log_prior
        return self  # a copy would count for itself

    def score_block(self, rights: Any, lefts: Any) -> ScoreBlock:
        if self.blocks == self.dies_after:
            raise KeyboardInterrupt
        self.blocks += 1
        return super().score_block(rights, lefts)


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


def test_a_pile_beyond_memory_gives_the_same(
    done: Reconstruction, saved_pile: SavedPile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deshred.pipeline.Shelf", partial(Shelf, room=0))
    again = reconstruct([saved_pile.folder], OutlineScorer(), settings=ONE_PAGE)
    assert lies_on_disk(again.shreds[0].image)
    assert lies_on_disk(again.pages[0].image)
    assert again.arrangement == done.arrangement
    assert np.array_equal(again.pages[0].image, done.pages[0].image)
    assert again.shreds.fingerprint == done.shreds.fingerprint


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


def test_a_file_that_is_given_twice_is_told_of(saved_pile: SavedPile, tmp_path: Path) -> None:
    files = sorted(saved_pile.folder.glob("s*.png"))[:3]
    for name, file in zip("abcde", [*files, files[0], files[0]], strict=True):
        shutil.copy(file, tmp_path / f"{name}.png")
    with pytest.warns(CopiesWarning, match=r"a\.png and .*d\.png and 1 more are the same file") as told:
        found = reconstruct([tmp_path], OutlineScorer(), settings=ONE_PAGE)
    assert len(told) == 1
    assert len(found.shreds) == 5  # all are kept


def test_a_pile_of_blank_shreds_is_an_input_error() -> None:
    pile = ShredSet([shred_with(240, "a"), shred_with(230, "b"), shred_with(239, "c")])
    with pytest.raises(InputError, match=r"3 shreds, 3 of them blank.*contrast"):
        set_aside_blank(pile)


def test_the_summary_is_one_line_that_says_it_all(done: Reconstruction) -> None:
    assert done.summary().startswith("8 shreds, 1 page, 1 blank shred set aside, proven optimal, ")
    assert done.summary() in repr(done)


def test_every_stage_has_its_seconds_and_reports_progress(saved_pile: SavedPile) -> None:
    told: dict[str, tuple[int, int]] = {}

    def progress(stage: str, done: int, total: int) -> None:
        told[stage.partition(":")[0]] = (done, total)

    done = reconstruct([saved_pile.folder], OutlineScorer(), settings=ONE_PAGE, progress=progress)
    assert list(done.seconds) == ["decode", "blank", "edges", "encode", "score", "solve", "align", "compose"]
    assert told["reading"] == (9, 9)
    assert told["scoring"] == (9, 9)  # 8 shreds in blocks of 3


def test_a_stopwatch_adds_up() -> None:
    stopwatch = Stopwatch()
    for _ in range(2):
        with stopwatch.measure("score"):
            sum(range(1000))
    assert list(stopwatch.seconds) == ["score"]
    assert stopwatch.seconds["score"] > 0


def test_a_run_killed_while_scoring_goes_on_with_its_blocks(
    done: Reconstruction, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_ResumingScorer, "WORTH_KEEPING", 0.0)
    with pytest.raises(KeyboardInterrupt):
        reconstruct(done.shreds, CountingScorer(4), settings=ONE_PAGE, store=RunFolder.open(tmp_path))
    scorer = CountingScorer()
    again = reconstruct(done.shreds, scorer, settings=ONE_PAGE, store=RunFolder.open(tmp_path))
    assert scorer.blocks == 9 - 4 + BLANK
    assert np.array_equal(again.compatibility.scores, done.compatibility.scores)
    assert np.array_equal(again.compatibility.offsets, done.compatibility.offsets)
    assert not (tmp_path / "blocks").exists()


def test_a_run_killed_after_scoring_does_not_score_again(done: Reconstruction, tmp_path: Path) -> None:
    reconstruct(done.shreds, OutlineScorer(), settings=ONE_PAGE, store=RunFolder.open(tmp_path))
    scorer = CountingScorer()
    again = reconstruct(done.shreds, scorer, settings=ONE_PAGE, store=RunFolder.open(tmp_path))
    assert scorer.blocks == 0
    assert again.arrangement == done.arrangement


def test_other_shreds_or_options_are_scored_anew(done: Reconstruction, tmp_path: Path) -> None:
    reconstruct(done.shreds, OutlineScorer(), settings=ONE_PAGE, store=RunFolder.open(tmp_path))
    for shreds, settings in (
        (done.shreds[:6], ONE_PAGE),
        (done.shreds, ONE_PAGE.change("scoring.block", 4)),
    ):
        scorer = CountingScorer()
        reconstruct(shreds, scorer, settings=settings, store=RunFolder.open(tmp_path))
        assert scorer.blocks == 4 + BLANK


def test_bad_input_leaves_no_folder_behind(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.png").write_bytes(b"")
    with pytest.raises(InputError, match="empty"):
        reconstruct_into(tmp_path / "out", [tmp_path / "in"], settings=Settings(scorer="outline"))
    assert not (tmp_path / "out").exists()


def test_the_run_folder_holds_pages_arrangement_and_report(
    done: Reconstruction, saved_pile: SavedPile, tmp_path: Path
) -> None:
    run = RunFolder.open(tmp_path / "out")
    run.begin()
    save_run(done, run)
    names = {str(path.relative_to(run.path)) for path in run.path.rglob("*") if path.is_file()}
    assert names == {
        "pages/page-001.png",
        "arrangement.json",
        "report.html",
        "deshred-run.json",
        "log.jsonl",
    }
    content = read_arrangement(run.path)
    assert content == json.loads(json.dumps(content))
    page = content["pages"][0]
    assert tuple(shred["id"] for shred in page["shreds"]) == saved_pile.truth
    assert Path(page["shreds"][0]["source"]) == saved_pile.folder / f"{saved_pile.truth[0]}.png"
    assert [(join["left"], join["right"]) for join in page["joins"]] == list(
        zip(saved_pile.truth[:-1], saved_pile.truth[1:], strict=True)
    )
    assert all(isinstance(join["score"], float) for join in page["joins"])
    assert content["optimal"] is True
    assert content["cost"] == pytest.approx(content["bound"])
    assert [shred["id"] for shred in content["blank"]] == ["blank"]
    assert len(content["inputs"]) == 9
    assert content["settings"]["scoring"]["block"] == 3
    assert {"deshred", "numpy", "python"} <= set(content["versions"])
    assert content["scorer"]["name"] == "outline"
    assert content["seed"] == 0


def test_the_description_is_what_is_saved(done: Reconstruction, tmp_path: Path) -> None:
    run = RunFolder.open(tmp_path / "out")
    run.begin()
    save_run(done, run)
    saved = read_arrangement(run.path)
    described = describe_run(done)
    assert saved["pages"] == json.loads(json.dumps(described["pages"]))
    assert saved.keys() == described.keys()
    assert not (run.path / COMPATIBILITY).exists()  # only a run that scores keeps scores


def test_a_model_that_is_not_there_is_noticed_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="nonsense"):
        reconstruct([tmp_path / "nowhere"], settings=Settings(model="nonsense"))
