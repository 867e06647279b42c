from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deshred.elements import ShredSet
from deshred.errors import OutputError
from deshred.executors import KeepingExecutor, SerialExecutor
from deshred.shelf import Shelf, give_back, return_freed_memory
from tests.shelves import lies_on_disk


@dataclass(frozen=True, eq=False)
class Drawing:
    lines: NDArray[np.uint8]
    copies: tuple[NDArray[np.uint8], ...]
    name: str


def noise(seed: int, size: int = 5000) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 256, size, dtype=np.uint8)


def test_what_has_room_stays_in_memory(tmp_path: Path) -> None:
    drawing = Drawing(noise(0), (noise(1),), "both")
    assert Shelf(tmp_path, room=20_000).keep(drawing) is drawing


def test_what_has_none_is_equal_on_disk(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, room=6000)
    drawings = [Drawing(noise(2 * i), (noise(2 * i + 1, 9999),), f"{i}") for i in range(5)]
    kept = [shelf.keep(drawing) for drawing in drawings]
    assert [lies_on_disk(drawing.lines) for drawing in kept] == [False, True, True, True, True]
    for before, after in zip(drawings, kept, strict=True):
        assert after.name == before.name
        np.testing.assert_array_equal(after.lines, before.lines)
        np.testing.assert_array_equal(after.copies[0], before.copies[0])
        assert lies_on_disk(after.copies[0])


def test_arrays_larger_than_a_file_and_odd_shapes_come_back(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, room=0, file_bytes=16_384)
    arrays = [
        noise(0, 50_000),
        np.arange(3000, dtype=np.float64)[::-2],
        np.asfortranarray(noise(1, 6000).reshape(60, 100)),
        noise(2, 12_000).reshape(50, 80, 3)[:, ::-1] > 127,
    ]
    for array, kept in zip(arrays, [shelf.keep(array) for array in arrays], strict=True):
        assert lies_on_disk(kept)
        assert kept.dtype == array.dtype
        np.testing.assert_array_equal(kept, array)


def test_shared_pixels_lie_there_once(tmp_path: Path) -> None:
    shared = noise(0)
    kept = Shelf(tmp_path, room=0).keep(Drawing(shared, (shared, shared.view()), "shared"))
    assert kept.copies[0] is kept.lines
    assert kept.copies[1] is kept.lines


def test_a_pile_of_shreds_is_the_same_pile(tiny_pile: ShredSet, tmp_path: Path) -> None:
    kept = Shelf(tmp_path, room=0).keep(tiny_pile)
    assert kept.fingerprint == tiny_pile.fingerprint
    assert all(lies_on_disk(shred.image) for shred in kept)


def test_nothing_is_seen_in_the_folder(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "to" / "be" / "made", room=0)
    kept = shelf.keep(noise(0))
    assert not list(tmp_path.iterdir())
    assert kept.sum() == noise(0).sum()


def test_a_full_disk_is_an_error_with_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", refuse, raising=False)
    with pytest.raises(OutputError, match=r"No space left on device.*Free some space"):
        Shelf(tmp_path, room=0).keep(noise(0))


def test_an_executor_puts_its_results_away(tmp_path: Path) -> None:
    executor = KeepingExecutor(SerialExecutor(), Shelf(tmp_path, room=0).keep)
    told: list[tuple[str, int, int]] = []
    results = executor.map(noise, range(3), stage="drawing", progress=lambda *what: told.append(what))
    assert all(lies_on_disk(result) for result in results)
    assert [int(result.sum()) for result in results] == [int(noise(seed).sum()) for seed in range(3)]
    assert told == [("drawing", done, 3) for done in (1, 2, 3)]


def test_what_was_given_back_is_read_again(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, room=0)
    array = np.random.default_rng(0).integers(0, 256, 100_000).astype(np.uint8)
    kept = shelf.keep((array,))
    shelf.release()
    np.testing.assert_array_equal(kept[0], array)


def test_a_thing_is_given_back_where_it_lies_on_disk_and_stays_where_it_does_not(tmp_path: Path) -> None:
    drawing = Drawing(noise(0), (noise(1),), "both")
    for room in (0, 20_000):
        kept = Shelf(tmp_path, room=room).keep(drawing)
        give_back(kept)
        np.testing.assert_array_equal(kept.lines, drawing.lines)


def test_what_lies_on_disk_is_not_copied_again(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, room=0)
    kept = shelf.keep((noise(0),))[0]
    assert shelf.keep((kept,))[0] is kept
    assert shelf.keep((kept[10:],))[0].base is not None
    assert np.shares_memory(shelf.keep((kept[10:],))[0], kept)


def test_what_the_next_stage_brings_along_keeps_the_room_that_it_has(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, room=10_000)
    first = shelf.keep(Drawing(noise(0), (noise(1),), "fills the room"))
    again = shelf.keep(Drawing(first.lines[:], (first.copies[0],), "the same arrays"))
    assert not lies_on_disk(again.lines)
    assert not lies_on_disk(again.copies[0])
    assert lies_on_disk(shelf.keep(noise(2)))


def test_new_arrays_do_not_inherit_the_room_of_arrays_that_are_gone(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, room=5000)
    for seed in range(20):  # most come to lie where the one before lay
        kept = shelf.keep(noise(seed))
        assert lies_on_disk(kept) == (seed > 0)
        del kept


def test_giving_freed_memory_back_leaves_what_is_in_use() -> None:
    kept, freed = noise(0, 1 << 20), [noise(seed, 1 << 20) for seed in range(3)]
    freed.clear()
    return_freed_memory()
    np.testing.assert_array_equal(kept, noise(0, 1 << 20))


@pytest.mark.parametrize("room", [0, 1 << 20])
def test_joined_arrays_are_those_of_numpy(room: int, tmp_path: Path) -> None:
    arrays = [noise(seed, 6000).reshape(-1, 6, 2)[:: seed + 1].astype(np.int16) for seed in range(3)]
    joined = Shelf(tmp_path, room=room).join(arrays)
    np.testing.assert_array_equal(joined, np.concatenate(arrays))
    assert joined.dtype == np.int16
    assert lies_on_disk(joined) == (room == 0)


def test_joined_arrays_take_the_room_that_there_is(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, room=12_000)
    assert not lies_on_disk(shelf.join([noise(0), noise(1)]))
    assert lies_on_disk(shelf.join([noise(2), noise(3)]))


def test_a_full_disk_is_an_error_when_arrays_are_joined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", refuse, raising=False)
    with pytest.raises(OutputError, match="Free some space"):
        Shelf(tmp_path, room=0).join([noise(0), noise(1)])
