"""A reading is found again for the same pixels and the same reader, and for nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deshred.cases import MemoryStore
from deshred.elements import Page
from deshred.reading.keeping import keep, make_key, take
from tests.reading.engines import ScriptedReader, write_line

READER = ScriptedReader()
PAGE = Page(np.full((40, 60, 3), 250, np.uint8), np.ones((40, 60), bool), (), 300.0)


def test_what_was_kept_is_taken_again() -> None:
    store, reading = MemoryStore(), READER.read_image(None, 300.0)
    keep(store, "key", reading)
    assert take(store, "key") == reading
    assert take(store, "other") is None


def test_the_key_changes_with_pixels_resolution_and_reader_alone() -> None:
    key = make_key(PAGE, READER)
    assert make_key(replace(PAGE, mask=np.zeros((40, 60), bool)), READER) == key
    dotted = PAGE.image.copy()
    dotted[3, 4] = 0
    others = [
        make_key(replace(PAGE, image=dotted), READER),
        make_key(replace(PAGE, image=PAGE.image.reshape(60, 40, 3), mask=np.ones((60, 40), bool)), READER),
        make_key(replace(PAGE, dpi=200.0), READER),
        make_key(PAGE, ScriptedReader((write_line("else"),))),
    ]
    assert len({key, *others}) == 5


def test_what_is_damaged_counts_as_missing() -> None:
    for damaged in (b"", b"{", b"[]", b'{"lines": 3}', b"\xff\xfe"):
        store = MemoryStore()
        store.save("key", {"reading": np.frombuffer(damaged, np.uint8)})
        assert take(store, "key") is None
    store.save("key", {"else": np.zeros(3)})
    assert take(store, "key") is None
