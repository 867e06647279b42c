"""The way of large piles, tried on a small one: only the best joins of a first look are compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deshred.cases import Folder, FolderStore, MemoryStore
from deshred.compatibility import scoring
from deshred.compatibility.choosing import ComparingChosen
from deshred.compatibility.describing import Describing
from deshred.compatibility.fusion import FusionWeights
from deshred.compatibility.groups import find_groups
from deshred.compatibility.scoring import ScoringOptions, score
from deshred.compatibility.sketches import Look
from deshred.elements import Compatibility, ShredSet
from deshred.executors import SerialExecutor
from deshred.shelf import Shelf
from tests.compatibility.comparing import Counting, pile_of
from tests.shelves import lies_on_disk

_FEW = ScoringOptions(dense_limit=0, block=3)


class Choosy(Counting):
    """Lists few joins, so that a pile of a page has some that are not."""

    @property
    def looks(self) -> tuple[Look, ...]:
        return (Look(2, 1), Look(1, 2))


@pytest.fixture
def scorer(small_towers: Path) -> Choosy:
    return Choosy(small_towers, weights=FusionWeights(ink=0.5, outline=0.7))


def _listed(found: Compatibility) -> dict[tuple[int, int], tuple[float, int]]:
    assert found.row_starts is not None
    assert found.columns is not None
    rows = np.repeat(np.arange(len(found)), np.diff(found.row_starts))
    joins = zip(rows.tolist(), found.columns.tolist(), strict=True)
    return dict(zip(joins, zip(found.scores.tolist(), found.offsets.tolist(), strict=True), strict=True))


def test_listed_joins_have_their_dense_scores_to_the_last_bit(scorer: Choosy, tiny_pile: ShredSet) -> None:
    dense = score(pile_of(tiny_pile), scorer)
    listed = _listed(score(pile_of(tiny_pile), scorer, options=_FEW))
    assert len(tiny_pile) < len(listed) < len(tiny_pile) * (len(tiny_pile) - 1)
    for (i, j), found in listed.items():
        assert found == (dense.score(i, j), dense.offset(i, j))


@pytest.mark.parametrize("kept", ["memory", "folder"])
def test_a_pile_scored_in_two_halves_is_the_same_and_no_old_join_is_chosen_anew(
    kept: str, scorer: Choosy, tiny_pile: ShredSet, tmp_path: Path
) -> None:
    whole = score(pile_of(tiny_pile), scorer, options=_FEW)
    store = MemoryStore() if kept == "memory" else FolderStore(Folder(tmp_path))
    half = _listed(score(pile_of(tiny_pile[:5]), scorer, options=_FEW, store=store))
    added = score(pile_of(tiny_pile), scorer, options=_FEW, store=store)
    assert _listed(added) == _listed(whole)
    assert {join for join in _listed(added) if max(join) < 5} <= set(half)


def test_what_was_chosen_once_is_not_compared_again(scorer: Choosy, tiny_pile: ShredSet) -> None:
    store = MemoryStore()
    first = score(pile_of(tiny_pile), scorer, options=_FEW, store=store)
    scorer.joins = 0
    again = score(pile_of(tiny_pile), scorer, options=_FEW, store=store)
    assert _listed(again) == _listed(first)
    # what a pile teaches about its shifts is asked of all its edges, once for outlines and once for both
    assert scorer.joins == 2 * len(tiny_pile) ** 2


def test_a_scoring_that_was_killed_goes_on(scorer: Choosy, tiny_pile: ShredSet, tmp_path: Path) -> None:
    store = FolderStore(Folder(tmp_path))
    scorer.dies_after = 12
    with pytest.raises(KeyboardInterrupt):
        score(pile_of(tiny_pile), scorer, options=_FEW, store=store)
    scorer.dies_after = None
    resumed = score(pile_of(tiny_pile), scorer, options=_FEW, store=store)
    assert _listed(resumed) == _listed(score(pile_of(tiny_pile), scorer, options=_FEW))


def test_descriptions_lie_in_memory_once(scorer: Choosy, tiny_pile: ShredSet) -> None:
    store = MemoryStore()
    prints = [shred.fingerprint for shred in tiny_pile]
    groups = find_groups(prints, store, 3)
    pile = pile_of(tiny_pile, scorer.edge_options)
    described = Describing(pile, scorer, store, SerialExecutor()).describe_all(groups, None)
    rights = ComparingChosen(described, scorer, store, prints).rights
    assert len(rights) == len(tiny_pile)
    for one in described:
        assert np.shares_memory(one.rights.features.values, rights.features.values)


def test_descriptions_that_do_not_fit_into_memory_lie_on_disk_and_score_the_same(
    scorer: Choosy, tiny_pile: ShredSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = _listed(score(pile_of(tiny_pile), scorer, options=_FEW))
    joined: list[NDArray[Any]] = []

    class Narrow(Shelf):
        def __init__(self) -> None:
            super().__init__(tmp_path, room=0)

        def join(self, arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
            joined.append(super().join(arrays))
            return joined[-1]

    monkeypatch.setattr(scoring, "Shelf", Narrow)
    assert _listed(score(pile_of(tiny_pile), scorer, options=_FEW)) == expected
    assert any(lies_on_disk(array) for array in joined)
