"""Cut-outs of sheets in a store by content, so that no sheet is cut twice.

Outlines are kept, pixels are not: they are taken from the scan each time. So whatever a store holds that came
from a stranger, every pixel of a shred is one of the scan. What does not fit the scan, or does not give the
shreds that it gave when it was kept, counts as damaged, and the sheet is cut again.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from deshred.cases.store import Arrays, Store, make_key
from deshred.elements import Image, Mask, Scan, Shred
from deshred.errors import InputError
from deshred.imaging.sheets.cutouts import Cutout, Ground, Scrap, Segmentation, ShredName
from deshred.imaging.sheets.patches import Box, Patch, outer_contour
from deshred.imaging.sheets.rims import Rim, Side
from deshred.imaging.sheets.segmentation import MARGIN_PX, SegmentationOptions, segment
from deshred.imaging.sheets.straightening import Frame, Trace, draw_frame, trace_copy, trim_trace
from deshred.textfiles import parse_json
from deshred.versions import VERSION

_FORMAT = "cut-outs 1"
_RECORD, _MASKS, _PHOTO = "record", "masks", "photo"
_MOST_SHREDS = 5_000  # on a sheet
_MOST_DRAWN = 6  # times the pixels of the scan, all frames together
_MOST_KNOTS = 100  # of a trace
_LONGEST_WARNING = 300
_DAMAGED = (InputError, ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError)


def segment_once(
    scan: Scan, *, name: str, options: SegmentationOptions, store: Store | None, allow_blank: bool = False
) -> Segmentation:
    """As `segment`, but a sheet that the store knows is not searched for outlines again."""
    if store is None:
        return segment(scan, name=name, options=options, allow_blank=allow_blank)
    key = _make_key(scan, options)
    kept = unpack(store.load(key), scan, name)
    if kept is None or not (kept.shreds or allow_blank):
        kept = segment(scan, name=name, options=options, allow_blank=allow_blank)
        store.save(key, pack(kept))
    return kept


def is_known_photo(scan: Scan, *, store: Store | None) -> bool:
    """Whether this picture turned out to be a photo of a sheet before."""
    return store is not None and store.load(_make_key(scan, None)) is not None


def note_photo(scan: Scan, *, store: Store | None) -> None:
    """Remember that a picture is a photo of a sheet: it need not be tried as a scan again."""
    if store is not None:
        store.save(_make_key(scan, None), {_PHOTO: np.array(True)})


def _make_key(scan: Scan, options: SegmentationOptions | None) -> str:
    """SHA-256 over the pixels of a scan, its resolution and how it is cut; names change nothing."""
    pixels = hashlib.sha256(np.ascontiguousarray(scan.image).data)
    if scan.mask is not None:
        pixels.update(np.packbits(scan.mask).data)
    told = "" if options is None else json.dumps(asdict(options), sort_keys=True)
    form = f"{scan.image.shape} {scan.dpi!r} {scan.mask is not None}"
    return make_key(_FORMAT, VERSION, _PHOTO if options is None else _RECORD, told, form, pixels.hexdigest())


def pack(found: Segmentation) -> Arrays:
    """What was found on a sheet, without pixels and names."""
    record = {
        "dust": found.dust,
        "rims": [asdict(rim) for rim in found.rims],
        "background": None if found.background is None else asdict(found.background),
        "warnings": list(found.warnings),
        "scraps": [asdict(scrap) for scrap in found.scraps],
        "cutouts": [_pack_cutout(*both) for both in zip(found.cutouts, found.shreds, strict=True)],
    }
    masks = [one.mask for both in zip(found.cutouts, found.shreds, strict=True) for one in both]
    bits = [np.packbits(mask) for mask in masks]
    return {
        _RECORD: np.frombuffer(json.dumps(record).encode(), np.uint8),
        _MASKS: np.concatenate([np.zeros(0, np.uint8), *bits]),
    }


def _pack_cutout(cutout: Cutout, shred: Shred) -> dict[str, Any]:
    frame = cutout.frame
    trace = {name: getattr(frame.trace, name).tolist() for name in ("rows", "xs", "ys", "angles")}
    return {
        "box": asdict(cutout.box),
        "angle": cutout.angle,
        "touches_border": cutout.touches_border,
        "warnings": list(cutout.warnings),
        "trace": {**trace, "center_column": frame.trace.center_column, "is_exact": frame.trace.is_exact},
        "frame": [frame.height, frame.width, frame.top, frame.left],
        "size": list(shred.mask.shape),
        "fingerprint": shred.fingerprint,
    }


def unpack(arrays: Arrays | None, scan: Scan, name: str) -> Segmentation | None:
    """What was kept about a sheet, with pixels of the scan; None when there is nothing, or nothing sound."""
    try:
        return None if arrays is None else _Unpacking(arrays, scan, name).run()
    except _DAMAGED:
        return None


class _Unpacking:
    """Reads back what `pack` made, and believes nothing of it that cannot be."""

    def __init__(self, arrays: Arrays, scan: Scan, name: str) -> None:
        self._record = parse_json(arrays[_RECORD].astype(np.uint8, casting="no").tobytes(), name)
        self._masks = arrays[_MASKS].astype(np.uint8, casting="no").ravel()
        self._scan = scan
        self._name = name
        self._room = _MOST_DRAWN * scan.image.shape[0] * scan.image.shape[1]

    def run(self) -> Segmentation:
        record, scan = self._record, self._scan
        entries = record["cutouts"]
        _check(isinstance(entries, list) and len(entries) <= _MOST_SHREDS)
        cuts = [self._read_cutout(entry, number) for number, entry in enumerate(entries, 1)]
        _check(not self._masks.size)
        ground = record["background"]
        return Segmentation(
            sheet=scan.source,
            dpi=scan.dpi,
            size=(scan.image.shape[1], scan.image.shape[0]),
            shreds=tuple(shred for shred, _ in cuts),
            cutouts=tuple(cutout for _, cutout in cuts),
            scraps=tuple(self._read_scraps()),
            dust=_whole(record["dust"], 0, scan.image.size),
            rims=tuple(self._read_rims()),
            background=None if ground is None else _read_ground(ground),
            warnings=_read_warnings(record["warnings"]),
        )

    def _read_cutout(self, entry: dict[str, Any], number: int) -> tuple[Shred, Cutout]:
        box = self._read_box(entry["box"])
        frame = self._read_frame(entry, box)
        height, width = (
            _whole(side, 1, most) for side, most in zip(entry["size"], _rest(frame), strict=True)
        )
        on_sheet = self._take_mask(box.height, box.width)
        mask = self._take_mask(height, width)
        _check(bool(on_sheet.any() and mask.any()))
        name = ShredName(self._name, number)
        source = replace(self._scan.source, number=number)
        image = self._draw(Patch(box, on_sheet), frame)
        window = slice(frame.top, frame.top + height), slice(frame.left, frame.left + width)
        shred = Shred(str(name), image[window].copy(), mask, self._scan.dpi, source)
        _check(shred.fingerprint == entry["fingerprint"])
        cutout = Cutout(
            name=name,
            box=box,
            mask=on_sheet,
            outline=outer_contour(on_sheet) + np.array([box.x, box.y], np.int32),
            angle=_number(entry["angle"]),
            area=int(on_sheet.sum()),
            touches_border=entry["touches_border"] is True,
            warnings=_read_warnings(entry["warnings"]),
            trace=trim_trace(frame),
            frame=frame,
        )
        return shred, cutout

    def _read_box(self, entry: dict[str, Any]) -> Box:
        height, width = self._scan.image.shape[:2]
        x, y = _whole(entry["x"], 0, width - 1), _whole(entry["y"], 0, height - 1)
        return Box(x, y, _whole(entry["width"], 1, width - x), _whole(entry["height"], 1, height - y))

    def _read_frame(self, entry: dict[str, Any], box: Box) -> Frame:
        """The frame of a cut-out, which is about as large as the cut-out itself."""
        longest = 2 * math.ceil(math.hypot(box.width, box.height)) + 4 * MARGIN_PX + 8
        height, width = (_whole(side, 1, longest) for side in entry["frame"][:2])
        top, left = (
            _whole(at, 0, side - 1) for at, side in zip(entry["frame"][2:], (height, width), strict=True)
        )
        self._room -= height * width
        _check(self._room >= 0)
        return Frame(_read_trace(entry["trace"]), height, width, top, left)

    def _draw(self, patch: Patch, frame: Frame) -> Image:
        wide = patch.with_margin(MARGIN_PX, self._scan.image.shape).box
        if frame.trace.is_exact:  # then there is but one way back
            only = trace_copy((wide.height, wide.width), bool(frame.trace.angles[0]), (wide.x, wide.y))
            _check(
                all(np.array_equal(getattr(only, name), getattr(frame.trace, name)) for name in vars(only))
            )
        image = draw_frame(self._scan.image[wide.slices], frame, (wide.x, wide.y))
        _check(image.shape[:2] == (frame.height, frame.width))
        return image

    def _take_mask(self, height: int, width: int) -> Mask:
        count = -(-height * width // 8)
        bits, self._masks = self._masks[:count], self._masks[count:]
        return np.unpackbits(bits, count=height * width).reshape(height, width).view(np.bool_)

    def _read_scraps(self) -> Iterator[Scrap]:
        for entry in self._record["scraps"]:
            (reason,) = _read_warnings([entry["reason"]])
            yield Scrap(self._read_box(entry["box"]), _whole(entry["area"], 0, self._scan.image.size), reason)

    def _read_rims(self) -> Iterator[Rim]:
        for entry in self._record["rims"]:
            _check(entry["side"] in get_args(Side))
            yield Rim(entry["side"], _number(entry["start_depth"]), _number(entry["end_depth"]))


def _read_ground(entry: dict[str, Any]) -> Ground:
    red, green, blue = (_whole(level, 0, 255) for level in entry["color"])
    return Ground((red, green, blue), _number(entry["share"]))


def _read_trace(entry: dict[str, Any]) -> Trace:
    rows, xs, ys, angles = (_numbers(entry[name]) for name in ("rows", "xs", "ys", "angles"))
    _check(2 <= len(rows) <= _MOST_KNOTS and len(rows) == len(xs) == len(ys) == len(angles))
    _check(bool((np.diff(rows) > 0).all()))
    return Trace(rows, xs, ys, angles, _number(entry["center_column"]), entry["is_exact"] is True)


def _rest(frame: Frame) -> tuple[int, int]:
    """How far a shred can reach in its frame, down and to the right."""
    return frame.height - frame.top, frame.width - frame.left


def _read_warnings(texts: Sequence[str]) -> tuple[str, ...]:
    _check(all(isinstance(text, str) and len(text) <= _LONGEST_WARNING for text in texts))
    return tuple(texts)


def _numbers(values: Sequence[float]) -> NDArray[np.float64]:
    return np.array([_number(value) for value in values[: _MOST_KNOTS + 1]], np.float64)


def _number(value: Any) -> float:
    _check(isinstance(value, float | int) and not isinstance(value, bool) and abs(value) < 1e6)
    return float(value)


def _whole(value: Any, least: int, most: int) -> int:
    _check(isinstance(value, int) and not isinstance(value, bool) and least <= value <= most)
    return int(value)


def _check(holds: bool) -> None:
    if not holds:
        raise ValueError("kept cut-outs that cannot be")
