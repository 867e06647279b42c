"""The piles of the published protocol: the authors' sequence, windows of it, shreds shuffled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deshred.errors import InputError, SettingsError
from deshred.evaluation.collections import Document, open_collection
from deshred.evaluation.experiments.ablation import AblationOptions
from deshred.evaluation.experiments.comparison import ComparisonOptions
from deshred.evaluation.experiments.feedback import FeedbackOptions
from deshred.evaluation.experiments.incremental import IncrementalOptions
from deshred.evaluation.experiments.instances import (
    Bench,
    list_ks,
    open_documents,
    sequence_documents,
    spread_windows,
)
from deshred.evaluation.protocol import Window, list_windows
from deshred.executors import SerialExecutor
from tests.evaluation.drawn_collections import write_collection


def test_the_sequence_of_documents_is_that_of_the_authors() -> None:
    documents = [Document(f"D{number:03d}", Path()) for number in range(1, 21)]
    found = [int(document.name[1:]) for document in sequence_documents(documents[::-1], 0)]
    assert found == [11, 19, 17, 15, 1, 18, 12, 3, 4, 10, 6, 8, 5, 20, 7, 16, 9, 2, 14, 13]
    assert list_ks(20) == (1, 2, 3, 4, 5, 10, 15, 20)
    assert list_ks(8) == (1, 2, 3, 4, 5, 8)


def test_windows_are_all_or_so_many_from_the_first_to_the_last() -> None:
    assert spread_windows(10, 3, None) == spread_windows(10, 3, 8) == list_windows(10, 3)
    few = spread_windows(10, 3, 3)
    assert few[0] == Window(0, 3)
    assert few[-1] == Window(7, 10)
    assert len(few) == 3


def test_a_mixed_pile_holds_every_shred_of_its_documents_shuffled_the_same_way_again(tmp_path: Path) -> None:
    collection = open_collection(write_collection(tmp_path / "drawn", [4, 3, 5]))
    piles = []
    for keep in (1, 6):  # what falls out of memory is read again
        bench = Bench(collection, seed=3, executor=SerialExecutor(), keep=keep)
        bench.mix(Window(0, 1))
        piles.append(bench.mix(Window(0, 3)))
    first, again = piles
    assert first.shreds.ids == again.shreds.ids
    assert len(first.shreds) == 12
    assert set(first.truth.places) == set(first.shreds.ids)
    assert sorted(first.documents) == sorted(document.name for document in collection.documents)
    in_order = [id_ for name in first.documents for id_ in first.truth.documents[name]]
    assert list(first.shreds.ids) != in_order


def test_a_part_of_a_collection_is_the_start_of_its_random_sequence(tmp_path: Path) -> None:
    folder = write_collection(tmp_path / "drawn", [2, 2, 2])
    whole = open_documents(folder, 5, None)
    assert whole.documents == open_collection(folder).documents == open_documents(folder, 5, 9).documents
    first, second, _ = sequence_documents(whole.documents, 5)
    assert set(open_documents(folder, 5, 2).documents) == {first, second}


@pytest.mark.parametrize("wrong", [{"seeds": (0, -1)}, {"seeds": ()}, {"documents": 0}])
def test_every_experiment_refuses_what_none_of_them_can_do(wrong: dict[str, Any]) -> None:
    (refused,) = wrong
    for options in (AblationOptions, ComparisonOptions, FeedbackOptions, IncrementalOptions):
        with pytest.raises(SettingsError, match=f"{refused} must be at least"):
            options(**wrong)


def test_a_document_needs_two_shreds_with_ink(tmp_path: Path) -> None:
    collection = open_collection(write_collection(tmp_path / "drawn", [1]))
    with pytest.raises(InputError, match="at least 2 shreds"):
        Bench(collection, seed=0, executor=SerialExecutor()).mix(Window(0, 1))
