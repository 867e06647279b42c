from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from deshred.cases import Folder, FolderStore, LayeredStore, MemoryStore, PricedStore, ReadOnlyStore, Store
from deshred.cases.store import make_key


@pytest.fixture(params=["memory", "folder"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return MemoryStore() if request.param == "memory" else FolderStore(Folder(tmp_path))


def test_arrays_come_back_as_they_were_kept(store: Store) -> None:
    arrays = {"a.b": np.arange(6).reshape(2, 3), "names": np.array([b"x", b"yy"]), "none": np.zeros((0, 4))}
    store.save("ab12", arrays)
    kept = store.load("ab12")
    assert kept is not None
    for name, array in arrays.items():
        np.testing.assert_array_equal(kept[name], array)
        assert kept[name].dtype == array.dtype
    assert store.load("ab13") is None


def test_what_is_damaged_is_not_there(tmp_path: Path) -> None:
    store = FolderStore(Folder(tmp_path))
    store.save("ab12", {"a": np.arange(100)})
    (file,) = tmp_path.rglob("*.npz")
    whole = file.read_bytes()
    for at in range(0, len(whole), 7):
        file.write_bytes(whole[:at])
        assert store.load("ab12") is None
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        kept = store.load("ab12")
        assert kept is None or "a" not in kept or np.array_equal(kept["a"], np.arange(100))


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    store = FolderStore(Folder(tmp_path))
    store.save("ab12", {"a": np.zeros(3)})
    (file,) = tmp_path.rglob("*.npz")
    np.savez_compressed(file, a=np.zeros(10_000_000, np.uint8))
    assert store.load("ab12") is None


def test_keys_know_where_their_parts_end() -> None:
    assert make_key("ab", "c") != make_key("a", "bc")
    assert make_key("a", "b") == make_key("a", "b")


def test_a_store_that_is_only_read_is_left_as_it_is(tmp_path: Path) -> None:
    store = FolderStore(Folder(tmp_path))
    store.save("ab12", {"a": np.arange(3)})
    looked_at = ReadOnlyStore(store)
    assert looked_at.load("ab12") is not None
    looked_at.save("cd34", {"a": np.arange(3)})
    assert store.load("cd34") is None


def test_threads_may_keep_the_same_artefact_at_once(tmp_path: Path) -> None:
    store = FolderStore(Folder(tmp_path))
    arrays = {"a": np.arange(200_000)}
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: store.save("ab12", arrays), range(64)))
    kept = store.load("ab12")
    assert kept is not None
    assert np.array_equal(kept["a"], arrays["a"])
    assert [file.name for file in tmp_path.rglob("*") if file.is_file()] == ["ab12.npz"]


def test_a_store_with_prices_knows_what_was_spared(tmp_path: Path) -> None:
    times = iter(range(0, 1000, 10))
    tick = lambda: float(next(times))  # noqa: E731
    store = FolderStore(Folder(tmp_path))
    first = PricedStore(store, tick)  # at 0
    assert first.load("ab12") is None  # at 10
    first.save("ab12", {"a": np.arange(3)})  # at 20: it took 10 s
    assert first.load("ab12") is not None
    assert first.spared == 0.0, "what was made here was not spared"
    later = PricedStore(store, tick)
    for _ in range(2):
        found = later.load("ab12")
        assert found is not None
        assert found["a"].tolist() == [0, 1, 2]
    assert later.spared == 10.0, "counted once, however often it is looked at"


def test_what_has_no_price_makes_the_sum_unknown(tmp_path: Path) -> None:
    store = FolderStore(Folder(tmp_path))
    store.save("ab12", {"a": np.arange(3)})
    priced = PricedStore(store)
    assert priced.load("cd34") is None
    assert priced.spared == 0.0
    assert priced.load("ab12") is not None
    assert priced.spared is None


def test_a_layered_store_reads_from_below_and_writes_above() -> None:
    below = MemoryStore()
    below.save("old", {"a": np.arange(3)})
    layered = LayeredStore(below)
    layered.save("new", {"a": np.arange(2)})
    layered.save("old", {"a": np.arange(1)})
    assert [len(layered.load(key)["a"]) for key in ("old", "new")] == [1, 2]  # type: ignore[index]
    assert layered.load("other") is None
    assert list(below.kept) == ["old"]
    assert len(below.kept["old"]["a"]) == 3
