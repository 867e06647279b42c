"""A check is only as sound as its hashes: what changed is named, and lists lead nowhere outside."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from deshred.errors import InputError, IntegrityError
from deshred.export.bags import MANIFEST, TAG_MANIFEST, seal
from deshred.export.verification import verify
from tests.export.made_bags import PAYLOAD, write_bag


@pytest.fixture
def bag(tmp_path: Path) -> Path:
    folder = write_bag(tmp_path / "bag")
    for name, content in PAYLOAD.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def failed(folder: Path, **known: str) -> list[str]:
    return [finding.check for finding in verify(folder, **known).findings if not finding.passed]


def relist(bag: Path) -> None:
    """Lists that fit again after a change: only the seal still tells."""
    manifest = {f"data/{file.relative_to(bag / 'data')}": file for file in sorted((bag / "data").rglob("*"))}
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {name}\n" for name, file in manifest.items()]
    (bag / MANIFEST).write_text("".join(lines), encoding="utf-8")
    tags = ["bag-info.txt", "bagit.txt", MANIFEST]
    lines = [f"{hashlib.sha256((bag / name).read_bytes()).hexdigest()}  {name}\n" for name in tags]
    (bag / TAG_MANIFEST).write_text("".join(lines), encoding="utf-8")


def test_what_was_not_touched_is_as_it_was(bag: Path) -> None:
    found = verify(bag, sealed=seal(bag))
    assert found.is_sound
    found.require()
    assert found.to_text().endswith("Everything is as it was.")
    assert found.to_dict()["sound"] is True


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (lambda bag: (bag / "data/a.txt").write_bytes(b"0ne"), "files of the package"),
        (lambda bag: (bag / "data/a.txt").unlink(), "files of the package"),
        (lambda bag: (bag / "data/c.txt").write_bytes(b"more"), "nothing added"),
        (lambda bag: (bag / "bag-info.txt").write_bytes(b""), "lists of the package"),
        (lambda bag: (bag / MANIFEST).write_bytes(b"no list\n"), "lists of the package"),
        (lambda bag: (bag / TAG_MANIFEST).unlink(), "package"),
    ],
)
def test_every_change_is_found_by_the_check_it_belongs_to(bag: Path, change, check: str) -> None:  # type: ignore[no-untyped-def]
    change(bag)
    assert check in failed(bag)
    with pytest.raises(IntegrityError, match=check):
        verify(bag).require()


def test_a_package_made_anew_is_found_by_the_seal_that_was_written_down(bag: Path) -> None:
    written_down = seal(bag)
    (bag / "data/a.txt").write_bytes(b"0ne")
    relist(bag)
    assert failed(bag) == []
    assert failed(bag, sealed=written_down) == ["seal"]


def test_a_list_that_leads_outside_is_a_file_that_is_missing(bag: Path) -> None:
    secret = bag.parent / "secret.txt"
    secret.write_bytes(b"x")
    digest = hashlib.sha256(b"x").hexdigest()
    for name in ("../secret.txt", "data/../../secret.txt", str(secret)):
        (bag / MANIFEST).write_text(f"{digest}  {name}\n", encoding="utf-8")
        assert "files of the package" in failed(bag)


def test_a_link_inside_is_no_file(bag: Path) -> None:
    content = (bag / "data/a.txt").read_bytes()
    outside = bag.parent / "outside.txt"
    outside.write_bytes(content)
    (bag / "data/a.txt").unlink()
    (bag / "data/a.txt").symlink_to(outside)
    assert "files of the package" in failed(bag)


def test_a_folder_with_nothing_to_check_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="neither a journal nor a package"):
        verify(tmp_path)


@pytest.mark.parametrize(
    "record",
    [b"[" * 100_000, b"9" * 5000, b"[]", b"{}", b'{"pages": 3, "inputs": 3}', b'{"pages": [{"joins": [3]}]}'],
)
def test_a_record_that_cannot_be_is_a_finding_and_no_failure(
    record: bytes, bag: Path, tmp_path: Path
) -> None:
    (bag / "data/csv").mkdir(exist_ok=True)
    (bag / "data/csv/joins.csv").write_bytes(b"left,right,verdict\n")
    (bag / "data/record.json").write_bytes(record)
    (bag / "data/a.pdf").write_bytes(b"%PDF-1.7 and nothing more")
    checks = [one.check for one in verify(bag, inputs=[tmp_path]).findings if not one.passed]
    assert "scans" in checks
