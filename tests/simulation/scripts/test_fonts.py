from __future__ import annotations

from pathlib import Path

import pytest

from deshred.errors import MissingDependencyError, SettingsError
from deshred.simulation.scripts import fonts
from deshred.simulation.scripts.writing import SCRIPTS


def test_every_script_has_several_faces_to_train_on_and_others_to_measure_with() -> None:
    for script in fonts.SCRIPT_NAMES:
        assert len(set(fonts.TRAINING[script])) >= 4
        assert len(set(fonts.HELD_OUT[script])) >= 2


def test_no_file_that_is_held_out_for_a_script_is_trained_on_in_it() -> None:
    for script in fonts.SCRIPT_NAMES:
        trained = {file for face in fonts.TRAINING[script] for file in (face.regular, face.bold)}
        held_out = {file for face in fonts.HELD_OUT[script] for file in (face.regular, face.bold)}
        assert not trained & held_out, script


def test_chinese_and_japanese_share_characters_so_their_held_out_faces_are_trained_on_by_none() -> None:
    shared = ("chinese-simplified", "chinese-traditional", "japanese")
    trained = {face.regular for script in shared for face in fonts.TRAINING[script]}
    held_out = {face.regular for script in shared for face in fonts.HELD_OUT[script]}
    assert not trained & held_out


def test_a_missing_font_is_named_with_the_line_that_installs_all(tmp_path: Path) -> None:
    with pytest.raises(MissingDependencyError, match=r"DejaVuSans.ttf.*apt-get install fonts-noto-core"):
        fonts.check_fonts(("cyrillic",), folder=tmp_path)


def test_an_unknown_script_is_refused() -> None:
    with pytest.raises(SettingsError, match="cyrillic"):
        fonts.check_fonts(("runes",))  # type: ignore[arg-type]


@pytest.mark.parametrize("script", fonts.SCRIPT_NAMES)
def test_every_face_has_the_letters_of_its_script(script: fonts.ScriptName) -> None:
    try:
        fonts.check_fonts((script,))
    except MissingDependencyError:
        pytest.skip("the fonts of this script are not installed")
    ttlib = pytest.importorskip("fontTools.ttLib")
    letters = {ord(letter) for word in SCRIPTS[script].words for letter in word}
    for face in (*fonts.TRAINING[script], *fonts.HELD_OUT[script]):
        for file in (face.regular_file, face.bold_file):
            with ttlib.TTFont(file, fontNumber=face.index) as font:
                assert letters <= set(font.getBestCmap()), file.name
