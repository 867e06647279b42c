import json
from pathlib import Path

import numpy as np
import pytest

from deshred.errors import InputError
from deshred.evaluation.collections import open_collection, read_document
from deshred.evaluation.metrics import measure_accuracy
from tests.evaluation.drawn_collections import draw_document, write_collection, write_document


def test_documents_come_sorted_and_unread(tmp_path: Path) -> None:
    write_collection(tmp_path, [3, 4])
    (tmp_path / "notes").mkdir()
    assert [document.name for document in open_collection(tmp_path)] == ["D001", "D002"]


def test_the_truth_is_the_order_of_the_file_names(tmp_path: Path) -> None:
    write_collection(tmp_path, [4])
    known = read_document(open_collection(tmp_path).documents[0])
    assert measure_accuracy(sorted(known.shreds.ids), known.truth) == 1.0
    assert measure_accuracy(sorted(known.shreds.ids, reverse=True), known.truth) == 0.0


def test_documents_that_number_their_files_alike_can_be_mixed(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for name in ("letter", "list"):
        write_document(tmp_path / name, draw_document(rng, 3))
    piles = [read_document(document) for document in open_collection(tmp_path)]
    assert piles[0].shreds.ids == ("letter/01", "letter/02", "letter/03")
    assert not set(piles[0].truth.places) & set(piles[1].truth.places)


def test_selected_documents_keep_the_order_asked_for(tmp_path: Path) -> None:
    collection = open_collection(write_collection(tmp_path, [2, 2, 2]))
    assert [document.name for document in collection.select(["D003", "D001"])] == ["D003", "D001"]
    with pytest.raises(InputError, match="no document D009"):
        collection.select(["D001", "D009"])


def test_kinds_come_from_the_catalog(tmp_path: Path) -> None:
    write_collection(tmp_path, [2, 2])
    (tmp_path / "documents.json").write_text(json.dumps({"D001": {"kind": "memo"}}))
    assert [document.kind for document in open_collection(tmp_path)] == ["memo", None]
    (tmp_path / "documents.json").write_text("[1]")
    with pytest.raises(InputError, match=r"documents\.json"):
        open_collection(tmp_path)


def test_a_folder_without_documents_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no documents"):
        open_collection(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        open_collection(tmp_path / "nowhere")


def test_a_name_without_a_place_is_refused(tmp_path: Path) -> None:
    write_collection(tmp_path, [2])
    shred = tmp_path / "D001" / "strips" / "D00101.png"
    shred.rename(shred.with_name("first.png"))
    with pytest.raises(InputError, match=r"first\.png"):
        read_document(open_collection(tmp_path).documents[0])


def test_two_shreds_in_one_place_are_refused(tmp_path: Path) -> None:
    write_collection(tmp_path, [2])
    shred = tmp_path / "D001" / "strips" / "D00101.png"
    shred.with_name("again01.png").write_bytes(shred.read_bytes())
    with pytest.raises(InputError, match="same place"):
        read_document(open_collection(tmp_path).documents[0])


def test_a_slip_behind_the_number_of_a_published_file_does_no_harm(tmp_path):
    write_document(tmp_path / "D007", draw_document(np.random.default_rng(0), 3))
    file = sorted((tmp_path / "D007" / "strips").iterdir())[1]
    file.rename(file.with_name(f"{file.stem}]{file.suffix}"))
    (document,) = open_collection(tmp_path)
    assert sorted(place.position for place in read_document(document).truth.places.values()) == [1, 2, 3]
