"""What exporters look at: names that say the copy, joins of a page, and the joins a word rests on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deshred.errors import SettingsError
from deshred.export.casefiles import CaseFacts
from deshred.export.material import ExportOptions, parse_pages
from deshred.export.pagefile import PageFile
from deshred.reading import Box, Word
from tests.export.materials import WIDTH, leave_out_the_first, make_material


def word(left: int, right: int, top: int = 30) -> Word:
    return Word("word", Box(left, top, right, top + 20), 0.9)


def test_the_joins_of_a_page_come_from_left_to_right() -> None:
    material = make_material()
    assert [(join.left, join.right) for join in material.page_joins(0)] == [("a", "b"), ("b", "c")]
    assert [(join.left, join.right) for join in material.page_joins(1)] == [("d", "e")]


def test_a_word_crosses_the_seams_that_run_through_it_and_no_other() -> None:
    material = make_material()
    assert material.crossed(0, word(5, WIDTH - 5)) == ()
    assert [join.right for join in material.crossed(0, word(5, WIDTH + 5))] == ["b"]
    assert [join.right for join in material.crossed(0, word(5, 2 * WIDTH + 5))] == ["b", "c"]
    assert material.crossed(0, word(5, 2 * WIDTH, top=10_000)) == ()


def test_only_an_open_join_makes_a_word_worth_a_look() -> None:
    material = make_material()  # b to c is open
    assert not material.crosses_open(0, word(5, WIDTH + 5))
    assert material.crosses_open(0, word(WIDTH + 5, 2 * WIDTH + 5))


def test_a_page_is_named_by_number_and_copy() -> None:
    material = make_material()
    assert material.stem(1) == "page-002-evidence"
    reading = replace(material, pages=PageFile.of(replace(page, copy="reading") for page in material.pages))
    assert reading.stem(0) == "page-001-reading"


def test_the_title_is_the_case_its_number_or_neither() -> None:
    assert make_material(facts=CaseFacts(number="7", case="AZ 1")).title == "AZ 1"
    assert make_material(facts=CaseFacts(number="7")).title == "7"
    assert make_material().title == "Reconstructed pages"


def test_pages_that_were_not_read_have_no_lines() -> None:
    assert make_material(readings=None).lines(0) == ()
    assert [line.text for line in make_material().lines(1)] == ["Dear Sir"]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"digits": 13}, "1, 13 digits"),
        ({"start": 10, "digits": 1}, "10, 1 digits"),
        ({"prefix": "a/b"}, "got 'a/b'"),
    ],
)
def test_numbers_that_cannot_be_are_refused(wrong: dict[str, object], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        ExportOptions(**wrong)


def test_pages_are_numbers_and_ranges_each_once() -> None:
    assert parse_pages("7, 1-4,3") == (1, 2, 3, 4, 7)
    for wrong in ("", "1-", "a", "1--2", "-3", "1,,2", "1-99999999999"):
        with pytest.raises(SettingsError, match="such as 1-4,7"):
            parse_pages(wrong)
    for pages in ((0,), (2, 1), (1, 1)):
        with pytest.raises(SettingsError, match="each once and in order"):
            ExportOptions(pages=pages)


def test_pages_keep_their_numbers_when_others_are_left_out() -> None:
    material = make_material()
    second = leave_out_the_first(material)
    assert second.stem(0) == "page-002-evidence"
    assert material.stem(0) == "page-001-evidence"
