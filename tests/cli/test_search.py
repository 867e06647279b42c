"""`deshred search`: hits on lines or as JSON; no hit is an answer too."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from deshred.export.pictures import export_png
from deshred.export.records import export_json
from tests.commands import run
from tests.export.materials import make_material, make_readings


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """The record of an export whose words are known."""
    words = make_readings(("Invoice 1850, paid|the lnvoice Café", "Dear Sir the cat"), 0.93)
    material = make_material(readings=words)
    for file in (*export_json(material), *export_png(material)):
        (tmp_path / file.name).parent.mkdir(exist_ok=True)
        (tmp_path / file.name).write_bytes(file.content)
    return tmp_path


def test_a_hit_is_a_line_and_exact_ones_come_first(export: Path) -> None:
    done = run("search", export, "invoice", "-q")
    assert (done.exit_code, done.stderr) == (0, "")
    assert [line.partition(" (")[0] for line in done.stdout.splitlines()] == [
        "page 1, line 1: Invoice",
        "page 1, line 2: lnvoice",
    ]


def test_a_hit_shows_the_line_it_stands_on(export: Path) -> None:
    first, second = run("search", export, "invoice", "-q").stdout.splitlines()
    assert first.endswith("(fair): Invoice 1850, paid")
    assert second.endswith("(fair, 1 wrong letter): the lnvoice Café")


def test_several_folders_are_searched_together_and_hits_say_where(export: Path, tmp_path: Path) -> None:
    copied = tmp_path / "copy"
    shutil.copytree(export, copied)
    done = run("search", export, copied, "invoice", "-o", tmp_path / "hits")
    assert done.exit_code == 0, done.stderr
    told = [line.partition(": ")[0] for line in done.stdout.splitlines()]
    assert told == [
        f"{export}, page 1, line 1",
        f"{copied}, page 1, line 1",
        f"{export}, page 1, line 2",
        f"{copied}, page 1, line 2",
        "pictures",
    ]
    assert len(list((tmp_path / "hits").glob("*.png"))) == 4


def test_flags_narrow_what_is_found(export: Path) -> None:
    for flag in (("--exact",), ("--most", "1")):
        content = json.loads(run("search", export, "invoice", *flag, "--json").stdout)
        assert content["query"] == "invoice"
        assert [hit["text"] for hit in content["hits"]] == ["Invoice"]


def test_every_hit_has_a_picture_where_a_folder_is_named(export: Path, tmp_path: Path) -> None:
    done = run("search", export, "invoice", "-o", tmp_path / "hits")
    assert (done.exit_code, len(done.stdout.splitlines())) == (0, 3)
    assert done.stdout.endswith(f"pictures: {tmp_path / 'hits'}\n")
    pictures = sorted(file.name for file in (tmp_path / "hits").glob("*.png"))
    assert pictures == ["hit-0001-page-001.png", "hit-0002-page-001.png"]


def test_no_hit_is_no_failure_and_no_proof(export: Path) -> None:
    done = run("search", export, "zebra")
    assert (done.exit_code, done.stdout) == (0, "no hits; this does not prove that the word is not there.\n")


@pytest.mark.parametrize(
    ("query", "flags", "code", "told"),
    [
        ("!?", (), 2, "nothing to look for"),
        ("cat", ("--most", "0"), 2, "most must be at least 1"),
        ("cat", ("--jobs", "0"), 2, "--jobs"),
        ("cat", ("--copy", "certified"), 2, "--copy"),
    ],
)
def test_what_cannot_be_looked_for_has_exit_code_2(
    query: str, flags: tuple[str, ...], code: int, told: str, export: Path
) -> None:
    done = run("search", export, query, *flags)
    assert (done.exit_code, done.stdout) == (code, "")
    assert told in done.stderr


def test_a_folder_without_case_or_record_has_exit_code_3(tmp_path: Path) -> None:
    done = run("search", tmp_path, "cat")
    assert (done.exit_code, done.stdout) == (3, "")
    assert str(tmp_path) in done.stderr
