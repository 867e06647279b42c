from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deshred.errors import InputError, SettingsError
from deshred.export.finding import search
from deshred.export.records import describe
from deshred.export.searching import (
    SearchOptions,
    cut_out,
    find_words,
    list_recorded_words,
    list_words,
    normalize,
)
from deshred.imaging.decoding import encode_png
from deshred.reading import Reading
from tests.export.materials import leave_out_the_first, make_material, make_readings
from tests.reading.edits import count_edits

MATERIAL = make_material(
    readings=make_readings(("Invoice 1850, paid|the lnvoice Café", "Dear Sir the cat"), 0.93)
)

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
    assert hit.clarity == "fair"
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
    readings = make_readings((" ".join(vocabulary), "Dear"), 0.5)
    words = list_words(make_material(readings=readings))
    for query in vocabulary[:20]:
        slow = [w for w in vocabulary if count_edits(query, w) <= (len(query) >= 5) + (len(query) >= 9)]
        assert sorted(hit.text for hit in find_words(words, query)) == sorted(slow)


def test_a_word_that_was_read_clearly_somewhere_is_taken_for_no_other() -> None:
    doubtful = make_readings(("printer 1850.7",), 0.5)
    assert find_texts((*doubtful, *make_readings(("printed",))), "printed") == ["printed", "printer"]
    assert find_texts((*doubtful, *make_readings(("printed printer",))), "printed") == ["printed"]


def test_a_number_is_taken_for_another_however_clearly_it_was_read() -> None:
    assert find_texts(make_readings(("1850.7 and", "so on")), "1860.7") == ["1850.7"]


def find_texts(readings: tuple[Reading, ...], query: str) -> list[str]:
    return [hit.text for hit in find_words(list_words(make_material(readings=readings)), query)]


def test_hits_name_pages_by_their_numbers_in_the_case() -> None:
    second = leave_out_the_first(MATERIAL)
    (hit,) = find_words(list_words(second), "sir")
    assert hit.page == 2
    assert list_recorded_words(describe(second)) == list_words(second)


def record_with(**word: Any) -> dict[str, Any]:
    sound = {"text": "alpha", "box": [1, 2, 30, 40], "clarity": "clear", "joins": []}
    return {"pages": [{"number": 1, "joins": [], "reading": {"lines": [{"words": [{**sound, **word}]}]}}]}


@pytest.mark.parametrize(
    "word",
    [
        {"text": 3},
        {"box": [1, 2, 3]},
        {"box": [1, 2, 1, 40]},
        {"box": [-5, 2, 30, 40]},
        {"box": [True, 2, 30, 40]},
        {"clarity": "very"},
        {"joins": 3},
    ],
    ids=str,
)
def test_a_record_that_cannot_be_is_an_input_error(word: dict[str, Any]) -> None:
    assert list_recorded_words(record_with())
    with pytest.raises(InputError, match="record is damaged"):
        list_recorded_words(record_with(**word))


def test_a_hit_beyond_its_page_has_a_picture_all_the_same() -> None:
    (hit,) = find_words(list_recorded_words(record_with(box=[10**6, 10**6, 10**6 + 1, 10**6 + 1])), "alpha")
    assert cut_out(np.zeros((50, 60, 3), np.uint8), hit).size > 0


def test_a_name_in_a_record_leads_nowhere_outside(tmp_path: Path) -> None:
    (tmp_path / "export/png").mkdir(parents=True)
    (tmp_path / "secret.png").write_bytes(encode_png(np.zeros((50, 60, 3), np.uint8)))
    record = record_with()
    record["pages"][0]["name"] = "../../secret"
    (tmp_path / "export/record.json").write_text(json.dumps(record))
    found = search(tmp_path / "export", "alpha")
    assert len(found.hits) == 1
    assert found.cutouts == ()
