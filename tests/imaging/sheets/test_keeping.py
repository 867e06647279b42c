from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from deshred.cases.store import MemoryStore
from deshred.elements import Scan, Source
from deshred.imaging.sheets.cutouts import Segmentation
from deshred.imaging.sheets.keeping import is_known_photo, note_photo, pack, segment_once, unpack
from deshred.imaging.sheets.segmentation import SegmentationOptions, segment

ORANGE = (250, 180, 88)
OPTIONS = SegmentationOptions()


def sheet() -> Scan:
    """A straight, a leaning, a lying and a curled shred, and a scrap."""
    image = np.full((1500, 1500, 3), ORANGE, np.uint8)
    for x, y, width, height, lean in (
        (200, 650, 80, 1100, 0),
        (450, 650, 80, 1000, 4),
        (1000, 1350, 900, 80, 0),
    ):
        corners = cv2.boxPoints(((x, y), (width, height), lean)).round().astype(np.int32)
        cv2.fillPoly(image, [corners], (245, 245, 245))
    curled = [(800 + round(60 * (y / 1000 - 0.5) ** 2 * 4), 100 + y) for y in range(0, 1000, 20)]
    cv2.polylines(image, [np.array(curled, np.int32)], False, (245, 245, 245), 80)
    image[60:100, 1200:1240] = 245
    for y in range(150, 1100, 40):
        image[y : y + 8, 180:215] = image[y : y + 8, 430:480] = image[y : y + 8, 820:850] = 20
    return Scan(image, 300.0, Source(Path("sheet.png"), "0" * 64))


@pytest.fixture(scope="module")
def scan() -> Scan:
    return sheet()


@pytest.fixture(scope="module")
def found(scan: Scan) -> Segmentation:
    return segment(scan, name="s")


def describe(found: Segmentation) -> str:
    return json.dumps({**found.as_json(), "dpi": found.dpi}, sort_keys=True)


def test_kept_cutouts_are_those_that_were_found_to_the_last_pixel(scan: Scan, found: Segmentation) -> None:
    again = unpack(pack(found), scan, "s")
    assert again is not None
    assert describe(again) == describe(found)
    assert [one.trace.is_exact for one in again.cutouts] != [True] * 4
    for shred, other in zip(found.shreds, again.shreds, strict=True):
        assert shred.id == other.id
        assert shred.source == other.source
        assert np.array_equal(shred.image, other.image)
        assert np.array_equal(shred.mask, other.mask)
    for cutout, kept in zip(found.cutouts, again.cutouts, strict=True):
        assert np.array_equal(cutout.mask, kept.mask)
        assert np.array_equal(cutout.trace.rows, kept.trace.rows)


def test_no_pixel_lies_in_the_store(found: Segmentation) -> None:
    kept = sum(array.nbytes for array in pack(found).values())
    assert kept < 0.2 * sum(shred.image.nbytes for shred in found.shreds)


def test_a_sheet_under_another_name_is_known(scan: Scan) -> None:
    store = MemoryStore()
    segment_once(scan, name="s", options=OPTIONS, store=store)
    (key,) = store.kept
    renamed = replace(scan, source=Source(Path("other.png"), "0" * 64, frame=2))
    again = segment_once(renamed, name="other", options=OPTIONS, store=store)
    assert list(store.kept) == [key]
    assert again.shreds[0].id == "other#01"
    assert again.shreds[0].source.frame == 2


@pytest.mark.parametrize("change", ["pixel", "dpi", "options"])
def test_whatever_changes_the_outline_makes_another_key(scan: Scan, change: str) -> None:
    store, options = MemoryStore(), OPTIONS
    segment_once(scan, name="s", options=options, store=store)
    other = scan
    if change == "pixel":
        image = scan.image.copy()
        image[0, 0] = 0
        other = replace(scan, image=image)
    elif change == "dpi":
        other = replace(scan, dpi=299.0)
    else:
        options = SegmentationOptions(min_width_mm=2.0)
    segment_once(other, name="s", options=options, store=store)
    assert len(store.kept) == 2


def test_a_known_photo_is_known(scan: Scan) -> None:
    store = MemoryStore()
    assert not is_known_photo(scan, store=store)
    note_photo(scan, store=store)
    assert is_known_photo(scan, store=store)
    assert not is_known_photo(scan, store=None)


Spoil = Callable[[dict[str, Any]], object]


def first(record: dict[str, Any]) -> dict[str, Any]:
    cutout: dict[str, Any] = record["cutouts"][0]
    return cutout


HOSTILE: dict[str, Spoil] = {
    "a box outside": lambda record: first(record)["box"].update(x=10**6),
    "a negative box": lambda record: first(record)["box"].update(y=-5),
    "a box that is no number": lambda record: first(record)["box"].update(width="80"),
    "a truth value for a number": lambda record: first(record)["box"].update(x=True),
    "a gigantic frame": lambda record: first(record)["frame"].__setitem__(0, 2**40),
    "a window outside its frame": lambda record: first(record)["frame"].__setitem__(2, 10**5),
    "a gigantic shred": lambda record: first(record).update(size=[10**9, 10**9]),
    "a trace that runs back": lambda record: first(record)["trace"]["rows"].reverse(),
    "a trace of many knots": lambda record: first(record)["trace"].update(rows=list(range(10**4))),
    "a trace of nothing": lambda record: first(record)["trace"].update(rows=[]),
    "a trace without end": lambda record: first(record)["trace"].update(xs=[1e300, 1e300]),
    "another trace": lambda record: first(record)["trace"]["xs"].__setitem__(0, 3.0),
    "too many shreds": lambda record: record.update(cutouts=[first(record)] * 6000),
    "shreds without an end": lambda record: record.update(cutouts=record["cutouts"] * 50),
    "a shred less": lambda record: record["cutouts"].pop(),
    "no shreds": lambda record: record.update(cutouts=None),
    "a long warning": lambda record: record.update(warnings=["x" * 5000]),
    "a warning that is no text": lambda record: record.update(warnings=[{}]),
    "a color that is none": lambda record: record["background"].update(color=[1, 2, 300]),
    "a side that is none": lambda record: record.update(
        rims=[{"side": "up", "start_depth": 1, "end_depth": 1}]
    ),
    "a scrap outside": lambda record: record["scraps"][0]["box"].update(height=10**7),
    "another fingerprint": lambda record: first(record).update(fingerprint="0" * 64),
    "nothing": lambda record: record.clear(),
}


@pytest.mark.parametrize("name", list(HOSTILE))
def test_cutouts_that_cannot_be_are_not_believed(name: str, scan: Scan, found: Segmentation) -> None:
    arrays = dict(pack(found))
    record = json.loads(arrays["record"].tobytes())
    HOSTILE[name](record)
    arrays["record"] = np.frombuffer(json.dumps(record).encode(), np.uint8)
    assert unpack(arrays, scan, "s") is None


@pytest.mark.parametrize(
    "record",
    [b"[" * 100_000, b"9" * 5000, b'{"cutouts": NaN}', b"\xff\xfe", b'"\\ud800"', b""],
    ids=["deep", "long number", "NaN", "no text", "half a letter", "empty"],
)
def test_a_record_that_is_no_record_is_not_believed(record: bytes, scan: Scan, found: Segmentation) -> None:
    arrays = {**pack(found), "record": np.frombuffer(record, np.uint8)}
    assert unpack(arrays, scan, "s") is None


def test_masks_that_are_cut_off_or_of_another_kind_are_not_believed(scan: Scan, found: Segmentation) -> None:
    arrays = pack(found)
    for masks in (
        arrays["masks"][:-1],
        arrays["masks"][::-1],
        arrays["masks"].astype(float),
        np.zeros(0, np.uint8),
    ):
        assert unpack({**arrays, "masks": masks}, scan, "s") is None
    assert unpack({"masks": arrays["masks"]}, scan, "s") is None


def test_what_is_not_believed_is_cut_again(scan: Scan, found: Segmentation) -> None:
    store = MemoryStore()
    segment_once(scan, name="s", options=OPTIONS, store=store)
    (key,) = store.kept
    store.kept[key] = {"record": np.zeros(3, np.uint8), "masks": np.zeros(3, np.uint8)}
    assert describe(segment_once(scan, name="s", options=OPTIONS, store=store)) == describe(found)
    assert unpack(store.load(key), scan, "s") is not None
