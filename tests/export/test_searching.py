from __future__ import annotations

import numpy as np
import pytest

from deshred.errors import SettingsError
from deshred.export.records import describe
from deshred.export.searching import (
    SearchOptions,
    cut_out,
    find_words,
    list_recorded_words,
    list_words,
    normalize,
)
from tests.export.materials import make_material, make_readings
from tests.reading.test_spelling import count_edits

MATERIAL = make_material(readings=make_readings(("Invoice 1850, paid|the lnvoice Café", "Dear Sir the cat")))

WORDS = list_words(MATERIAL)


def find(query: str, **options: object) -> list[tuple[int, int, str, int]]:
    hits = find_words(WORDS, query, options=SearchOptions(**options))  # type: ignore[arg-type]
    return [(hit.page, hit.line, hit.text, hit.wrong_letters) for hit in hits]


def test_exact_hits_come_before_those_with_a_wrong_letter() -> None:
    assert find("invoice") == [(1, 1, "Invoice", 0), (1, 2, "lnvoice", 1)]
    assert find("invoice", exact=True) == [(1, 1, "Invoice", 0)]


def test_several_words_must_stand_side_by_side() -> None:
    assert find("invoice 1850") == [(1, 1, "Invoice 1850,", 0)]
    assert find("1850 invoice") == []


def test_case_accents_and_signs_do_not_count() -> None:
    assert find("CAFE") == [(1, 2, "Café", 0)]
    assert normalize("«Straße!»") == "strasse"


def test_short_words_must_be_right() -> None:
    assert find("cat") == [(2, 1, "cat", 0)]
    assert find("cut") == []


def test_a_hit_comes_with_its_picture_and_says_what_it_rests_on() -> None:
    hit = find_words(WORDS, "1850")[0]
    assert hit.crosses_open_join
    assert hit.clarity == "clear"
    picture = cut_out(MATERIAL.pages[0].image, hit)
    box = hit.box
    rows = slice(max(0, box.top - 40), box.bottom + 40)
    assert np.array_equal(picture, MATERIAL.pages[0].image[rows, max(0, box.left - 40) : box.right + 40])
    assert hit.to_dict()["box"] == [box.left, box.top, box.right, box.bottom]


@pytest.mark.parametrize("query", ["", "  ", "!?"])
def test_nothing_to_look_for_is_an_error(query: str) -> None:
    with pytest.raises(SettingsError, match="nothing to look for"):
        find_words(WORDS, query)


def test_the_record_of_an_export_knows_the_same_words() -> None:
    assert list_recorded_words(describe(MATERIAL)) == WORDS


def test_a_word_among_many_is_found_as_by_comparing_with_each() -> None:
    rng = np.random.default_rng(1)
    vocabulary = ["".join(rng.choice(list("abc"), int(n))) for n in rng.integers(3, 10, 60)]
    readings = make_readings((" ".join(vocabulary), "Dear"))
    words = list_words(make_material(readings=readings))
    for query in vocabulary[:20]:
        slow = [w for w in vocabulary if count_edits(query, w) <= (len(query) >= 5) + (len(query) >= 9)]
        assert sorted(hit.text for hit in find_words(words, query)) == sorted(slow)
