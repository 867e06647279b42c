"""A run repeated from its case or its record: the same again, or what differs and on which page."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from deshred.arrangement import ArrangementOptions
from deshred.cases import open_case
from deshred.errors import InputError, MismatchError, OutputError, SettingsError
from deshred.export.exporting import export
from deshred.export.repeating import Repetition, Told, recall_case, recall_record, repeat
from deshred.export.results import reconstruct_into
from deshred.reading import ReadingOptions
from deshred.settings import Settings
from tests.conftest import SavedPile

SAME = Repetition("", "", "")


@pytest.fixture(scope="module")
def case(saved_pile: SavedPile, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repeating") / "case"
    settings = Settings(scorer="outline", arrangement=ArrangementOptions(pages=1))
    reconstruct_into(folder, [saved_pile.folder], settings=settings)
    return folder


@pytest.fixture(scope="module")
def told(case: Path) -> Told:
    return recall_case(open_case(case))


def test_a_case_tells_what_went_in_and_what_came_out(told: Told, saved_pile: SavedPile) -> None:
    (page,) = told.pages
    assert page.shreds == saved_pile.truth
    assert {file.resolve() for file in told.files} == {file.resolve() for file in saved_pile.folder.iterdir()}


def test_a_run_repeated_says_the_same(told: Told) -> None:
    assert repeat(told) == SAME


def test_what_differs_is_named_with_its_page(told: Told) -> None:
    (page,) = told.pages
    (x, y), *others = page.places
    changed = {
        "order": replace(page, shreds=page.shreds[::-1]),
        "offsets": replace(page, places=((x, y + 1), *others)),
        "pixels": replace(page, pixels="0" * 64),
    }
    for what, other in changed.items():
        assert repeat(replace(told, pages=(other,))) == replace(SAME, **{what: "different on page 1"})


def test_a_page_more_than_there_is_differs_in_its_order(told: Told) -> None:
    found = repeat(replace(told, pages=(*told.pages, replace(told.pages[0], number=2))))
    assert found.order != ""
    assert (found.offsets, found.pixels) == ("", "")


def test_a_record_and_its_scans_tell_the_same_as_the_case(
    case: Path, told: Told, saved_pile: SavedPile, tmp_path: Path
) -> None:
    export(case, tmp_path / "out", formats=["json"], reading=ReadingOptions(engine="none"))
    record = json.loads((tmp_path / "out" / "record.json").read_text())
    found = recall_record(record, [saved_pile.folder])
    assert found.pages == told.pages
    assert set(found.files) == set(saved_pile.folder.iterdir())
    shutil.copytree(saved_pile.folder, tmp_path / "few")
    next((tmp_path / "few").glob("s*.png")).unlink()
    with pytest.raises(MismatchError, match=r"not all scans .* --inputs"):
        recall_record(record, [tmp_path / "few"])


@pytest.mark.parametrize(
    ("key", "value"),
    [("settings", 7), ("settings", {"jobs": "x"}), ("constraints", True), ("constraints", {"first": 3})],
    ids=str,
)
def test_what_a_stranger_wrote_as_the_question_is_refused(
    key: str, value: object, case: Path, tmp_path: Path
) -> None:
    shutil.copytree(case, tmp_path / "case")
    file = tmp_path / "case/arrangement.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), key: value}))
    with pytest.raises((InputError, SettingsError), match=r"arrangement\.json"):
        recall_case(open_case(tmp_path / "case"))


def test_no_picture_outside_the_case_is_read(case: Path, tmp_path: Path) -> None:
    shutil.copytree(case, tmp_path / "case")
    (tmp_path / "case/pages/page-001.png").rename(tmp_path / "outside.png")
    (tmp_path / "case/pages/page-001.png").symlink_to(tmp_path / "outside.png")
    with pytest.raises(OutputError, match="is a link"):
        recall_case(open_case(tmp_path / "case"))


def test_a_copy_that_there_is_not_is_refused(case: Path, saved_pile: SavedPile, tmp_path: Path) -> None:
    export(case, tmp_path / "out", formats=["json"], reading=ReadingOptions(engine="none"))
    record = {**json.loads((tmp_path / "out" / "record.json").read_text()), "copy": "third"}
    with pytest.raises(InputError, match="no copy 'third'"):
        recall_record(record, [saved_pile.folder])


@pytest.mark.parametrize("record", [{}, {"inputs": 1}, {"inputs": [{}]}, {"inputs": [], "pages": [{}]}])
def test_a_damaged_record_is_an_input_error(record: dict[str, object], saved_pile: SavedPile) -> None:
    with pytest.raises(InputError, match="the record is damaged"):
        recall_record(record, [saved_pile.folder])
