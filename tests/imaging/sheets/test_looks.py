from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deshred.elements import Scan, Source
from deshred.imaging.sheets.looks import Decision, Look, decide, decide_as_told, look_at

ORANGE = (249, 179, 87)


def crop(left: int, right: int, color: tuple[int, int, int] = ORANGE, width: int = 160) -> Scan:
    """A shred with so many pixels of background beside it."""
    image = np.full((1500, width, 3), 245, np.uint8)
    image[:, :left] = color
    image[:, width - right :] = color
    image[::40, left + 20 : left + 60] = 20
    return Scan(image, 300.0, Source(Path("a.png"), ""))


def test_a_shred_with_its_surroundings_is_a_crop() -> None:
    assert look_at(crop(30, 30)).guess == "crop"
    assert look_at(crop(0, 0)).guess == "shred"
    assert look_at(crop(40, 0)).guess == "shred"
    assert look_at(crop(30, 30, width=900)).guess == "sheet"


def test_most_files_decide_for_all() -> None:
    crops, tight = [Look(background=ORANGE)] * 20, [Look()] * 8
    decision = decide([*crops, *tight])
    assert (decision.kind, decision.crops, decision.shreds) == ("shreds", 28, 0)
    assert {decision.treat(look) for look in [*crops, *tight]} == {"crop"}
    assert str(decision) == (
        "read as 28 single shreds: 28 are narrower than 60 mm; 20 of 28 show a background such as #f9b357 "
        "around them, so the outlines of all are cut out"
    )


def test_a_few_with_colored_sides_are_colored_print() -> None:
    decision = decide([Look(background=ORANGE)] * 3 + [Look()] * 25)
    assert (decision.crops, decision.shreds) == (0, 28)
    assert decision.treat(Look(background=ORANGE)) == "shred"
    assert "too few" in str(decision)


def test_what_a_file_says_itself_is_not_decided_by_others() -> None:
    outlined, several = Look(pieces=1), Look(pieces=4)
    decision = decide([outlined, several, *[Look(background=ORANGE)] * 5, Look(is_wide=True)])
    assert [decision.treat(look) for look in (outlined, several, Look(is_wide=True))] == [
        *("shred", "sheet", "sheet")
    ]
    assert (decision.kind, decision.sheets, decision.crops, decision.shreds) == ("mixed", 2, 5, 1)


@pytest.mark.parametrize(("kind", "told"), [("sheets", "read as 2 sheets"), ("shreds", "2 single shreds")])
def test_what_a_person_says_counts(kind: str, told: str) -> None:
    decision = decide_as_told([Look(), Look(is_wide=True)], kind)
    assert decision.kind == kind
    assert told in str(decision)


def test_nothing_is_read_as_nothing() -> None:
    assert str(decide([])) == "read as nothing: "
    assert Decision().kind == "shreds"
