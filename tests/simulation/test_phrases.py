"""Made-up text comes from its random generator alone, and stays in the script of its language."""

from __future__ import annotations

import re
import unicodedata

import numpy as np
import pytest

from deshred.simulation.phrases import ENGLISH, LANGUAGES, LATIN, Language, Phrasebook

SCRIPTS = {"latin": "LATIN", "cyrillic": "CYRILLIC", "greek": "GREEK"}


def phrasebook(language: Language = ENGLISH, seed: int = 0) -> Phrasebook:
    return Phrasebook(np.random.default_rng(seed), language)


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_every_letter_is_of_the_script_of_the_language(language: Language) -> None:
    text = " ".join([*language.subjects, *language.predicates, *language.endings, *language.titles])
    letters = [letter for letter in text if letter.isalpha()]
    assert letters
    assert all(unicodedata.name(letter).startswith(SCRIPTS[language.script]) for letter in letters)


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_a_sentence_begins_with_a_capital_ends_with_a_stop_and_rarely_repeats(language: Language) -> None:
    book = phrasebook(language)
    sentences = [book.sentence() for _ in range(300)]
    assert all(text[0].isupper() and text[-1] in ".!" for text in sentences)
    assert not any("  " in text or "\n" in text for text in sentences)
    assert len(set(sentences)) > 240


def test_the_same_seed_says_the_same_and_another_one_something_else() -> None:
    assert phrasebook().paragraph(9) == phrasebook().paragraph(9)
    assert phrasebook(seed=1).paragraph(9) != phrasebook().paragraph(9)


def test_numbers_dates_and_references_look_like_such() -> None:
    book = phrasebook()
    for _ in range(100):
        assert re.fullmatch(r"[A-Z]{2}-\d{3,4}/\d{2}", book.reference())
        assert re.fullmatch(r"\d{1,2} [A-Z][a-z]+ (19[6-9]\d|20[0-3]\d)", book.date())
        assert 2 <= book.amount() <= 4000
        assert 3 <= book.number(3, 5) < 5


def test_every_field_of_a_form_has_a_label_and_an_entry() -> None:
    book = phrasebook()
    fields = [book.field() for _ in range(300)]
    assert all(field.label and field.entry for field in fields)
    assert len({field.label for field in fields}) > 15


def test_latin_languages_are_those_in_latin_letters() -> None:
    assert {language.script for language in LATIN} == {"latin"}
    assert len(LATIN) < len(LANGUAGES)
