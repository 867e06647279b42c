"""The doctor says what it found, and is only well when everything needed works."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deshred.doctor import OPTIONAL_PARTS, SHREDS, Check, Diagnosis, OptionalPart, draw_tiny_pile, examine
from deshred.elements import ShredSet
from deshred.reading.engines import EngineFound

GONE = OptionalPart("Nothing", "no-such-package-of-deshred", "nothing at all", "pip install nothing")


@pytest.fixture(scope="module")
def diagnosis() -> Diagnosis:
    return examine()


def test_this_installation_is_well(diagnosis: Diagnosis) -> None:
    assert diagnosis.is_well, diagnosis.to_text()
    assert [check.name for check in diagnosis.checks] == ["models", "tiny reconstruction"]
    assert diagnosis.to_text().endswith("Everything works.")


def test_one_check_that_failed_is_enough_to_be_unwell(diagnosis: Diagnosis) -> None:
    ill = replace(diagnosis, checks=(*diagnosis.checks, Check("memory", False, "none left")))
    assert not ill.is_well
    assert "FAILED: none left" in ill.to_text()
    assert ill.to_dict()["well"] is False


def test_what_is_missing_comes_with_its_purpose_and_remedy_and_does_no_harm(diagnosis: Diagnosis) -> None:
    engine = EngineFound("ocr", "", (), "apt install ocr")
    lacking = replace(diagnosis, optional=(GONE,), engines=(engine,))
    assert lacking.is_well
    assert "missing, only for nothing at all: pip install nothing" in lacking.to_text()
    assert "missing: apt install ocr" in lacking.to_text()
    assert lacking.to_dict()["optional"] == {"Nothing": None}
    assert lacking.to_dict()["engines"] == {}


def test_every_optional_part_says_how_to_get_it() -> None:
    assert all("deshred[" in part.remedy and part.purpose for part in OPTIONAL_PARTS)


def test_the_tiny_pile_is_the_same_every_time(tiny_pile: ShredSet) -> None:
    again = draw_tiny_pile()
    assert len(again) == SHREDS
    assert [shred.fingerprint for shred in again] == [shred.fingerprint for shred in tiny_pile]
