from __future__ import annotations

import json
import multiprocessing
from pathlib import Path

import pytest

from deshred.cases import Folder, Journal
from deshred.errors import InputError, OutputError


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    journal = Journal(Folder(tmp_path))
    for event in ("began", "pinned", "finished"):
        journal.append(event, who="Ä. Person", shreds=["a", "b"])
    return journal


def lines(journal: Journal) -> list[bytes]:
    return (journal.folder.path / journal.name).read_bytes().splitlines(keepends=True)


def test_entries_come_back_as_they_were_written(journal: Journal) -> None:
    entries = journal.read()
    assert [entry.number for entry in entries] == [1, 2, 3]
    assert [entry.event for entry in entries] == ["began", "pinned", "finished"]
    assert entries[1].fields == {"who": "Ä. Person", "shreds": ["a", "b"]}
    assert journal.check().is_sound
    assert journal.check().head == entries[-1].digest


def test_a_journal_that_is_another_file_as_well_is_not_written(journal: Journal, tmp_path: Path) -> None:
    before = lines(journal)
    (tmp_path / "elsewhere").hardlink_to(tmp_path / journal.name)
    with pytest.raises(OutputError, match=r"journal\.jsonl: is a hard link"):
        journal.append("went on")
    assert (tmp_path / "elsewhere").read_bytes() == b"".join(before)


def test_every_line_holds_the_hash_of_the_one_before(journal: Journal) -> None:
    entries = journal.read()
    assert json.loads(lines(journal)[0])["previous"] == "0" * 64
    assert json.loads(lines(journal)[2])["previous"] == entries[1].digest


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_changed_line_is_found(journal: Journal, at: int) -> None:
    changed = lines(journal)
    changed[at] = changed[at].replace(b'"a"', b'"z"')
    (journal.folder.path / journal.name).write_bytes(b"".join(changed))
    assert journal.check().is_sound == (at == 2)  # nothing follows the last line


def test_a_changed_last_line_is_found_by_the_head_that_was_noted(journal: Journal) -> None:
    head = journal.check().head
    changed = lines(journal)
    changed[2] = changed[2].replace(b'"a"', b'"z"')
    (journal.folder.path / journal.name).write_bytes(b"".join(changed))
    assert not journal.check(head).is_sound


@pytest.mark.parametrize("dropped", [0, 1])
def test_a_dropped_line_is_found(journal: Journal, dropped: int) -> None:
    kept = [line for at, line in enumerate(lines(journal)) if at != dropped]
    (journal.folder.path / journal.name).write_bytes(b"".join(kept))
    assert not journal.check().is_sound
    with pytest.raises(InputError, match="changed the journal"):
        journal.mend()


def test_a_tail_that_was_cut_off_is_found_by_the_head_that_was_noted(journal: Journal) -> None:
    head = journal.check().head
    (journal.folder.path / journal.name).write_bytes(b"".join(lines(journal)[:2]))
    assert journal.check().is_sound
    assert not journal.check(head).is_sound


def test_a_journal_cut_at_any_byte_opens_with_a_prefix_and_says_so(journal: Journal) -> None:
    whole = b"".join(lines(journal))
    entries = journal.read()
    file = journal.folder.path / journal.name
    for at in range(len(whole)):
        file.write_bytes(whole[:at])
        complete = whole[:at].count(b"\n")
        assert journal.read() == entries[:complete]
        assert journal.check().is_sound == (whole[:at].endswith(b"\n") or at == 0)
        journal.mend()
        journal.append("went on")
        assert journal.check().is_sound
        events = [entry.event for entry in journal.read()][complete:]
        assert events == (["went on"] if whole[:at].endswith(b"\n") or at == 0 else ["mended", "went on"])


def test_a_head_stays_good_while_the_journal_grows(journal: Journal) -> None:
    head = journal.check().head
    journal.append("exported")
    assert journal.check(head).is_sound


def test_fields_that_every_entry_has_are_not_taken(journal: Journal) -> None:
    with pytest.raises(InputError, match="previous"):
        journal.append("forged", previous="0")


def append_many(folder: Path, who: int) -> None:
    for k in range(40):
        Journal(Folder(folder)).append("note", who=who, k=k)


def test_lines_of_two_processes_never_cross(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=append_many, args=(tmp_path, who)) for who in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    journal = Journal(Folder(tmp_path))
    assert journal.check().is_sound
    told = [(entry.fields["who"], entry.fields["k"]) for entry in journal.read()]
    assert sorted(told) == [(who, k) for who in range(3) for k in range(40)]
