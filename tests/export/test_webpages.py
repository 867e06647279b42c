"""The report with its words: they lie on the picture they were read on, and on no other."""

from __future__ import annotations

import pytest

from deshred.export.webpages import export_html
from tests.export.materials import leave_out_the_first, make_material, make_readings
from tests.export.reports import Reader

WORDS = make_readings(("Invoice 1850", "Dear Sir"))


def words_of(material) -> list[str]:  # type: ignore[no-untyped-def]
    (file,) = export_html(material)
    assert file.name == "report-evidence.html"
    html = file.content.decode()
    assert not Reader(html).find("script")
    return [word for word in ("Invoice", "1850", "Dear", "Sir") if f">{word}" in html]


def test_words_that_were_read_can_be_selected_on_the_pictures() -> None:
    assert words_of(make_material(readings=WORDS)) == ["Invoice", "1850", "Dear", "Sir"]


def test_a_page_that_was_not_exported_has_no_words_and_the_others_keep_theirs() -> None:
    second = leave_out_the_first(make_material(readings=WORDS))
    assert words_of(second) == ["Dear", "Sir"]


@pytest.mark.parametrize("change", [{"readings": None}, {"copy": "reading"}])
def test_words_of_nothing_or_of_another_copy_are_left_out(change) -> None:  # type: ignore[no-untyped-def]
    assert words_of(make_material(**{"readings": WORDS, **change})) == []
