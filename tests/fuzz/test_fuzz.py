from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.fuzz.campaign import describe, list_numbers, run
from tests.fuzz.doors import list_doors

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts as Linux does")

A_FEW = 15  # of each kind of file; `make fuzz` tries 40,000


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sound")


NAMES = [door.name for door in list_doors(Path())]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("index", range(len(NAMES)), ids=NAMES)
def test_a_sound_file_is_read(index: int, home: Path, tmp_path: Path) -> None:
    door = list_doors(home / "case")[index]
    door.read(door.make(), tmp_path)


@pytest.mark.parametrize("index", range(len(NAMES)), ids=NAMES)
def test_a_damaged_file_is_read_or_refused(index: int) -> None:
    tally = run(list_numbers(index, A_FEW, len(NAMES)))
    assert len(tally.outcomes) == A_FEW
    assert {outcome.door for outcome in tally.outcomes} == {NAMES[index]}
    assert not tally.bad, "\n".join(map(str, tally.bad))
    assert NAMES[index] in describe(tally)


@pytest.mark.parametrize("number", [28_412, 37_656])
def test_what_was_bad_once_is_refused(number: int) -> None:
    (outcome,) = run([number]).outcomes
    assert outcome.result == "refused", outcome
