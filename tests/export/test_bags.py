"""The lists of a package name every file with its hash, and the seal hangs on all of them."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from deshred.errors import InputError
from deshred.export.bags import DECLARATION, INFO, MANIFEST, TAG_MANIFEST, build_tags, find_bag, seal
from deshred.export.casefiles import CaseFacts
from tests.export.made_bags import PAYLOAD, write_bag
from tests.export.materials import make_material


def listed(file: Path) -> dict[str, str]:
    lines = file.read_text(encoding="utf-8").splitlines()
    return {line.split("  ", 1)[1]: line.split("  ", 1)[0] for line in lines}


def test_every_file_is_listed_with_its_hash_in_order(tmp_path: Path) -> None:
    bag = write_bag(tmp_path)
    wanted = {name: hashlib.sha256(PAYLOAD[name]).hexdigest() for name in sorted(PAYLOAD)}
    assert [*listed(bag / MANIFEST).items()] == [*wanted.items()]
    tags = listed(bag / TAG_MANIFEST)
    assert set(tags) == {DECLARATION, INFO, MANIFEST}
    for name, digest in tags.items():
        assert hashlib.sha256((bag / name).read_bytes()).hexdigest() == digest


def test_the_description_counts_the_payload_and_names_people_and_journal(tmp_path: Path) -> None:
    told = (write_bag(tmp_path) / INFO).read_text(encoding="utf-8").splitlines()
    entries = dict(line.split(": ", 1) for line in told)
    assert entries["Payload-Oxum"] == "6.2"
    assert entries["Source-Organization"] == "Lab, Söhne"
    assert entries["Bagging-Date"] == "2026-03-02"
    assert entries["Contact-Name"] == "E. Mustermann"
    assert entries["Deshred-Journal-Head"] == "ab" * 32
    assert sum(line.startswith("Payload-Oxum") for line in told) == 1  # a name cannot add a line


def test_the_seal_changes_with_any_file_and_with_nothing_else(tmp_path: Path) -> None:
    first, again = write_bag(tmp_path / "one"), write_bag(tmp_path / "two")
    other = write_bag(tmp_path / "three", {**PAYLOAD, "data/a.txt": b"0ne"})
    assert seal(first) == seal(again) != seal(other)
    assert seal(first) == hashlib.sha256((first / TAG_MANIFEST).read_bytes()).hexdigest()


def test_a_package_is_found_in_its_folder_and_in_that_of_an_export(tmp_path: Path) -> None:
    bag = write_bag(tmp_path / "bag")
    assert find_bag(bag) == find_bag(tmp_path) == bag
    (bag / TAG_MANIFEST).unlink()
    with pytest.raises(InputError, match="holds no package"):
        find_bag(tmp_path)


def test_what_nobody_knows_is_left_out() -> None:
    material = replace(make_material(), facts=CaseFacts())
    info = next(file for file in build_tags({}, material) if file.name == INFO).content.decode()
    assert "Contact-Name" not in info
    assert "Source-Organization" not in info
