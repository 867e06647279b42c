from __future__ import annotations

import unicodedata
from collections import Counter

import numpy as np
import pytest

from deshred.simulation.scripts.fonts import SCRIPT_NAMES, ScriptName
from deshred.simulation.scripts.writing import SCRIPTS, ScriptWords, split_clusters, vary

BLOCKS: dict[ScriptName, tuple[str, ...]] = {
    "cyrillic": ("CYRILLIC",),
    "greek": ("GREEK",),
    "georgian": ("GEORGIAN",),
    "armenian": ("ARMENIAN",),
    "hebrew": ("HEBREW",),
    "arabic": ("ARABIC",),
    "devanagari": ("DEVANAGARI",),
    "bengali": ("BENGALI",),
    "thai": ("THAI",),
    "ethiopic": ("ETHIOPIC",),
    "hangul": ("HANGUL",),
    "japanese": ("HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "CJK"),
    "chinese-simplified": ("CJK",),
    "chinese-traditional": ("CJK",),
}


@pytest.mark.parametrize("script", SCRIPT_NAMES)
def test_words_are_written_in_their_script(script: ScriptName) -> None:
    words = ScriptWords(np.random.default_rng(0), SCRIPTS[script])
    letters = [c for _ in range(200) for c in words.word() if unicodedata.category(c)[0] in "LM"]
    assert letters
    strangers = {c for c in letters if unicodedata.name(c).split()[0] not in BLOCKS[script]}
    assert not strangers


@pytest.mark.parametrize("script", SCRIPT_NAMES)
def test_common_words_are_common(script: ScriptName) -> None:
    words = ScriptWords(np.random.default_rng(1), SCRIPTS[script])
    counts = Counter(words.word() for _ in range(1500))
    assert counts.most_common(1)[0][1] >= 15
    assert len(counts) >= 100


def test_signs_stay_with_their_letters() -> None:
    assert split_clusters("हिन्दी") == ["हि", "न्दी"]
    assert split_clusters("เด็ก") == ["เด็", "ก"]
    assert split_clusters("дом") == ["д", "о", "м"]


def test_built_words_never_begin_with_a_sign_that_needs_a_letter() -> None:
    for script in ("devanagari", "bengali", "thai"):
        words = ScriptWords(np.random.default_rng(2), SCRIPTS[script])
        for _ in range(300):
            assert not unicodedata.category(words.word()[0]).startswith("M")


def test_only_scripts_that_do_so_begin_sentences_with_a_capital() -> None:
    assert ScriptWords(np.random.default_rng(3), SCRIPTS["cyrillic"]).sentence()[0].isupper()
    georgian = ScriptWords(np.random.default_rng(3), SCRIPTS["georgian"])
    assert all("GEORGIAN CAPITAL" not in unicodedata.name(georgian.sentence()[0]) for _ in range(20))


def test_names_have_two_parts_and_some_numbers_are_in_the_scripts_own_digits() -> None:
    for script in SCRIPT_NAMES:
        assert len(ScriptWords(np.random.default_rng(4), SCRIPTS[script]).person().split(" ")) == 2
    words = ScriptWords(np.random.default_rng(5), SCRIPTS["arabic"])
    figures = [words.figure(47) for _ in range(20)]
    assert {"47", "٤٧"} == set(figures)


def test_some_arabic_is_drawn_out_or_has_its_short_vowels_and_its_letters_stay_the_same() -> None:
    script = SCRIPTS["arabic"]
    styles = [vary(script, np.random.default_rng(seed)) for seed in range(30)]
    used = {letter for style in styles for word in style.words for letter in word}
    added = used - set("".join(script.words))
    assert "\u0640" in added
    assert {unicodedata.category(letter) for letter in added} == {"Lm", "Mn"}
    for style in styles:
        plain = ["".join(letter for letter in word if letter not in added) for word in style.words]
        assert plain == ["".join(letter for letter in word if letter not in added) for word in script.words]
    assert any(style is script for style in styles)


def test_letters_are_drawn_out_only_where_they_join() -> None:
    for seed in range(30):
        for word in vary(SCRIPTS["arabic"], np.random.default_rng(seed)).words:
            before = [word[i - 1] for i in range(1, len(word)) if word[i] == "\u0640" != word[i - 1]]
            assert not set(before) & set("اأإآدذرزوؤةىء")


def test_other_scripts_are_written_in_one_way() -> None:
    assert vary(SCRIPTS["hebrew"], np.random.default_rng(3)) is SCRIPTS["hebrew"]
