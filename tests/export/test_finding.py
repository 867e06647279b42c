"""Searching an export by its record: the picture of every hit, or a word about what is not there."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from deshred.cases import open_case
from deshred.errors import InputError, OutputError, SettingsError
from deshred.export.finding import save_cutouts, search
from deshred.export.material import Material
from deshred.export.records import RECORD, export_json
from deshred.export.searching import SearchOptions, cut_out, find_words, list_words
from deshred.imaging.decoding import encode_png
from deshred.imaging.scans import read_scans
from tests.export.materials import make_material, make_readings

MATERIAL = make_material(readings=make_readings(("Invoice 1850, paid|the lnvoice Café", "Dear Sir the cat")))


def deliver(folder: Path, material: Material = MATERIAL, *, pictures: bool = True) -> Path:
    """An export as far as a search looks at it."""
    (folder / "png").mkdir(parents=True)
    for file in export_json(material):
        (folder / file.name).write_bytes(file.content)
    for index, page in enumerate(material.pages if pictures else ()):
        (folder / "png" / f"{material.stem(index)}.png").write_bytes(encode_png(page.image))
    return folder


@pytest.mark.parametrize("below", ["", "bag/data", "data"])
def test_a_record_is_found_wherever_an_export_puts_it(below: str, tmp_path: Path) -> None:
    deliver(tmp_path / below)
    found = search(tmp_path, "invoice", options=SearchOptions(exact=True))
    assert found.hits == find_words(list_words(MATERIAL), "invoice", options=SearchOptions(exact=True))


def test_every_hit_comes_with_its_part_of_its_page(tmp_path: Path) -> None:
    found = search(deliver(tmp_path), "the")
    assert [hit.page for hit in found.hits] == [1, 2]
    for hit, picture in zip(found.hits, found.cutouts, strict=True):
        np.testing.assert_array_equal(picture, cut_out(MATERIAL.pages[hit.page - 1].image, hit))


def test_pictures_are_saved_with_the_hits_beside_them(tmp_path: Path) -> None:
    found = search(deliver(tmp_path / "out"), "the")
    files = save_cutouts(found, tmp_path / "hits")
    assert [file.name for file in files] == ["hit-0001-page-001.png", "hit-0002-page-002.png"]
    for file, picture in zip(files, found.cutouts, strict=True):
        np.testing.assert_array_equal(read_scans(file)[0].image, picture)
    assert json.loads((tmp_path / "hits" / "hits.json").read_text()) == found.to_dict()
    assert open_case(tmp_path / "hits").journal.check().is_sound
    with pytest.raises(OutputError, match="--force"):
        save_cutouts(found, tmp_path / "hits")


def test_without_pictures_there_are_hits_and_nothing_to_save(tmp_path: Path) -> None:
    found = search(deliver(tmp_path / "out", pictures=False), "the")
    assert (len(found.hits), found.cutouts) == (2, ())
    with pytest.raises(InputError, match="no pictures of its pages"):
        save_cutouts(found, tmp_path / "hits")
    assert not (tmp_path / "hits").exists()


def test_no_hit_is_told_as_no_proof(tmp_path: Path) -> None:
    found = search(deliver(tmp_path), "zebra")
    assert found.to_text() == "no hits; this does not prove that the word is not there."
    assert found.to_dict() == {"query": "zebra", "hits": []}


def test_an_export_that_was_not_read_is_an_input_error(tmp_path: Path) -> None:
    deliver(tmp_path, make_material(readings=None))
    with pytest.raises(InputError, match="no page was read"):
        search(tmp_path, "cat")


@pytest.mark.parametrize("content", [b"{", b"[]", b"{}", b'{"pages": [{}]}', b'{"pages": 1}', b"\xff"])
def test_a_damaged_record_is_an_input_error_and_never_more(content: bytes, tmp_path: Path) -> None:
    (tmp_path / RECORD).write_bytes(content)
    with pytest.raises(InputError, match="damaged"):
        search(tmp_path, "cat")


def test_nothing_to_look_for_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="nothing to look for"):
        search(deliver(tmp_path), "  ")
