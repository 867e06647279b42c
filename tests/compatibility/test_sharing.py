"""Others describe, look and compare over a store, and the answer is the same to the last bit."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from deshred.cases import Folder, FolderStore
from deshred.cases.store import pack_arrays, unpack_arrays
from deshred.compatibility import sharing
from deshred.compatibility.classical.marques import MarquesScorer
from deshred.compatibility.contract import EdgeScorer
from deshred.compatibility.fusion import FusionWeights
from deshred.compatibility.outline import OutlineScorer
from deshred.compatibility.scoring import ScoringOptions, score
from deshred.elements import Compatibility, Pile, ShredSet
from deshred.errors import OutputError
from tests.compatibility.comparing import Counting, pile_of
from tests.elsewhere import Elsewhere

WAYS = {"dense": 100, "listed": 0}  # beyond so many shreds only some joins are kept


@pytest.fixture
def scorer(small_towers: Path) -> Counting:
    return Counting(small_towers, weights=FusionWeights(ink=0.5, outline=0.7))


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(Folder(tmp_path / "case"))


@pytest.fixture(autouse=True)
def _nothing_is_held() -> None:
    """What a worker holds on to would hide what the store lacks."""
    for holding in (sharing._hold_group, sharing._hold_sketches, sharing._hold_chosen):
        holding.cache_clear()


def _score(
    pile: Pile, scorer: EdgeScorer, way: str, store: FolderStore | None = None, executor: object = None
) -> Compatibility:
    options = ScoringOptions(block=3, dense_limit=WAYS[way])
    return score(pile, scorer, options=options, store=store, executor=executor)  # type: ignore[arg-type]


def assert_same(found: Compatibility, expected: Compatibility) -> None:
    for name in ("scores", "offsets", "row_starts", "columns"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    if expected.margins is not None:
        assert found.margins is not None
        for name, array in vars(expected.margins).items():
            np.testing.assert_array_equal(getattr(found.margins, name), array)


@pytest.mark.parametrize("way", WAYS)
def test_the_answer_is_the_same(way: str, scorer: Counting, store: FolderStore, tiny_pile: ShredSet) -> None:
    pile = pile_of(tiny_pile)
    assert_same(_score(pile, scorer, way, store, Elsewhere()), _score(pile, scorer, way))


def test_only_blank_paper_is_described_and_compared_here(
    scorer: Counting, store: FolderStore, tiny_pile: ShredSet
) -> None:
    _score(pile_of(tiny_pile), scorer, "dense", store, Elsewhere())
    assert scorer.joins == 1 + 2 * len(tiny_pile)  # paper with itself, before and behind every shred
    described = scorer.edges
    _score(pile_of(tiny_pile), scorer, "dense", store)  # finds everything
    assert scorer.edges - described <= described


@pytest.mark.parametrize("scorer", [OutlineScorer(), MarquesScorer()], ids=["outline", "marques"])
@pytest.mark.parametrize("way", WAYS)
def test_every_scorer_gives_the_same(
    way: str, scorer: EdgeScorer, store: FolderStore, tiny_pile: ShredSet
) -> None:
    pile = pile_of(tiny_pile, scorer.edge_options)
    assert_same(_score(pile, scorer, way, store, Elsewhere()), _score(pile, scorer, way))


@pytest.mark.parametrize("way", WAYS)
def test_a_task_is_a_few_names(way: str, scorer: Counting, store: FolderStore, tiny_pile: ShredSet) -> None:
    executor = Elsewhere()
    _score(pile_of(tiny_pile), scorer, way, store, executor)
    assert executor.sent
    assert max(executor.sent) < 5_000


def test_edges_come_back_as_they_were(tiny_pile: ShredSet, scorer: Counting, store: FolderStore) -> None:
    pile = pile_of(tiny_pile)
    groups = sharing.Group(np.arange(3), "some")
    seen = sharing.Describing(pile, scorer, store, Elsewhere()).see(groups)
    again = sharing._unpack_edges(sharing._pack_edges(seen), groups, scorer.edge_options)
    assert again is not None
    for before, after in zip((*seen.rights, *seen.lefts), (*again.rights, *again.lefts), strict=True):
        for name, value in vars(before).items():
            np.testing.assert_array_equal(getattr(after, name), value)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("damage", ["shape", "kind", "name", "values", "nothing"])
def test_artefacts_that_cannot_be_are_made_again(
    damage: str, way: str, scorer: Counting, store: FolderStore, tiny_pile: ShredSet
) -> None:
    pile = pile_of(tiny_pile)
    expected = _score(pile, scorer, way, store, Elsewhere())
    sharing._hold_chosen.cache_clear()
    files = sorted((store.folder.path).rglob("*.npz"))
    assert len(files) > 5
    for file in files:
        arrays = dict(unpack_arrays(file.read_bytes()) or {})
        spoiled = {
            "shape": {name: array.ravel()[1:] for name, array in arrays.items()},
            "kind": {name: np.zeros(array.shape, "S3") for name, array in arrays.items()},
            "name": {f"x{name}": array for name, array in arrays.items()},
            "values": {"joins": np.full(9, -7), **arrays, "rows": np.full_like(arrays["rows"], 10**6)}
            if "rows" in arrays
            else arrays,
            "nothing": {},
        }[damage]
        file.write_bytes(pack_arrays(spoiled))
    assert_same(_score(pile, scorer, way, store, Elsewhere()), expected)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("stage", ["encoding", "scoring"])
def test_a_store_that_vanishes_is_an_error_with_a_remedy(
    stage: str, way: str, scorer: Counting, store: FolderStore, tiny_pile: ShredSet
) -> None:
    class Cleaned(Elsewhere):
        """Somebody clears the store before a stage."""

        def stream(self, function, items):  # type: ignore[no-untyped-def]
            if ("_describe" in str(function)) == (stage == "encoding"):
                items = self._clear_behind(items)
            return super().stream(function, items)

        def _clear_behind(self, items):  # type: ignore[no-untyped-def]
            for item in items:
                shutil.rmtree(store.folder.path / store.below)
                yield item

    with pytest.raises(OutputError, match=r"does not find.*every machine reaches.*continues"):
        _score(pile_of(tiny_pile), scorer, way, store, Cleaned())
