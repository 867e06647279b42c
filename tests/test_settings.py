from __future__ import annotations

import functools
import json
import re
from pathlib import Path
from typing import Any

import pytest

from deshred.errors import SettingsError
from deshred.settings import Settings, list_keys, read_settings, settings_from

DOCUMENTATION = Path(__file__).parents[1] / "docs" / "settings.md"


def read(tmp_path: Path, text: str) -> Settings:
    (tmp_path / "s.toml").write_text(text, encoding="utf-8")
    return read_settings(tmp_path / "s.toml")


def look_up(key: str) -> Any:
    return functools.reduce(getattr, key.split("."), Settings())


def test_an_empty_file_gives_the_defaults(tmp_path: Path) -> None:
    assert read(tmp_path, "") == Settings()


def test_a_file_changes_what_it_mentions_and_nothing_else(tmp_path: Path) -> None:
    settings = read(
        tmp_path,
        'scorer = "outline"\n[scans]\ndpi = 600\n[segmentation]\nbackground = [1, 2, 3]\n'
        "[arrangement]\npages = 4\ntime_limit = 2.5\n",
    )
    expected = Settings(scorer="outline")
    for key, value in {
        "scans.dpi": 600.0,
        "segmentation.background": (1, 2, 3),
        "arrangement.pages": 4,
        "arrangement.time_limit": 2.5,
    }.items():
        expected = expected.change(key, value)
    assert settings == expected
    assert isinstance(settings.scans.dpi, float)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("sorcerer = 1", "no setting 'sorcerer'.*Did you mean 'scorer'"),
        ("[scans]\ndip = 300", r"\[scans\].*no setting 'dip'.*'dpi'"),
        ("[zzz]\na = 1", "The known ones are: scorer"),
        ("scans = 3", "scans must be a table"),
        ('jobs = "x"', "jobs must be int or nothing, got 'x'"),
        ("jobs = true", "jobs must be int or nothing, got True"),
        ("[scans]\ndpi = -1", "dpi must lie between"),
        ('[scans]\nkind = "pages"', "kind must be 'auto' or 'shreds' or 'sheets', got 'pages'"),
        ("[arrangement]\npages = 0", "pages is 0"),
        ("jobs = 0", "jobs must be at least 1"),
        ("jobs = 9223372036854775807", "jobs can be 1,024 at most"),
        ('[segmentation]\nbackground = ["a", "b", "c"]', "background must be int, got 'a'"),
        ("[segmentation]\nbackground = [255, 153]", r"background must be tuple\[int, int, int\]"),
        ("[segmentation]\nmin_length_mm = nan", "nan is not a usable number"),
        ("this is not toml", "not a TOML file"),
    ],
)
def test_what_makes_no_sense_is_an_error_that_names_the_file(
    tmp_path: Path, text: str, complaint: str
) -> None:
    with pytest.raises(SettingsError, match=complaint) as caught:
        read(tmp_path, text)
    assert "s.toml" in str(caught.value)


def test_a_missing_file_is_a_settings_error(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"none\.toml: there is no such file"):
        read_settings(tmp_path / "none.toml")


def test_every_setting_can_be_set_to_its_own_default() -> None:
    settings = Settings()
    for key in list_keys():
        settings = settings.change(key, look_up(key))
    assert settings == Settings()


def test_every_setting_is_documented_with_its_default() -> None:
    rows = re.findall(r"^\| `([\w.]+)` \| (.+?) \|", DOCUMENTATION.read_text(encoding="utf-8"), re.MULTILINE)
    documented = {key: "none" if default == "none" else default.strip("`") for key, default in rows}
    defaults = {key: look_up(key) for key in list_keys()}
    shown = {key: f'"{value}"' if isinstance(value, str) else str(value) for key, value in defaults.items()}
    assert documented == {key: "none" if value == "None" else value for key, value in shown.items()}


def test_settings_survive_their_plain_form() -> None:
    settings = Settings(scorer="outline").change("segmentation.background", (1, 2, 3))
    assert settings_from(json.loads(json.dumps(settings.to_dict())), "x") == settings


def test_the_documented_example_can_be_read(tmp_path: Path) -> None:
    example = re.search(r"```toml\n(.*?)```", DOCUMENTATION.read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None
    assert read(tmp_path, example[1]).arrangement.pages == 12
