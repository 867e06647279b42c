from __future__ import annotations

from deshred.export.text import export_text
from tests.export.materials import make_material, make_readings


def test_lines_stay_lines_and_pages_end_with_a_form_feed() -> None:
    (file,) = export_text(make_material(readings=make_readings(("Invoice 1850|paid", "Dear Sir"))))
    assert file.content.decode() == "Invoice 1850\npaid\n\fDear Sir\n\f"


def test_doubtful_words_across_an_open_join_are_marked_when_asked_for() -> None:
    readings = make_readings(("Invoice x abcdef", "Dear Sir"), confidence=0.5)
    (marked,) = export_text(make_material(readings=readings, mark=True))
    assert marked.content.decode().startswith("Invoice x ⟨abcdef⟩\n")
    (plain,) = export_text(make_material(readings=readings))
    assert "⟨" not in plain.content.decode()


def test_clear_words_are_never_marked() -> None:
    (file,) = export_text(make_material(readings=make_readings(("Invoice x abcdef", "Dear")), mark=True))
    assert "⟨" not in file.content.decode()
