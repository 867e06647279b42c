from __future__ import annotations

import unicodedata

from deshred.simulation.scripts import vocabulary

LISTS = {
    name: value for name, value in vars(vocabulary).items() if name.isupper() and isinstance(value, tuple)
}


def test_every_list_holds_dozens_of_words_or_letters() -> None:
    assert len(LISTS) >= 10
    for name, words in LISTS.items():
        assert len(words) >= 20, name
        assert all(isinstance(word, str) and word for word in words), name


def test_words_are_written_in_composed_letters_without_controls() -> None:
    for name, words in LISTS.items():
        for word in words:
            assert not any(unicodedata.category(letter) in ("Cc", "Cn", "Cs") for letter in word), (
                name,
                word,
            )
