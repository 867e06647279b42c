"""Readings in a store by content, so that nothing is read twice."""

from __future__ import annotations

import hashlib
import json

import numpy as np

from deshred.cases import Store
from deshred.elements import Page
from deshred.reading.engines import Reader
from deshred.reading.words import Reading

_FORMAT = 1
_MEMBER = "reading"


def make_key(page: Page, reader: Reader) -> str:
    """SHA-256 over pixels, resolution and reader: all that changes what is read."""
    told = f"reading {_FORMAT} {page.image.shape} {page.dpi:g} {reader.fingerprint}"
    digest = hashlib.sha256(told.encode())
    digest.update(np.ascontiguousarray(page.image).data)
    return digest.hexdigest()


def take(store: Store, key: str) -> Reading | None:
    """The reading kept under this key, or None; what is damaged counts as missing."""
    arrays = store.load(key)
    try:
        return None if arrays is None else Reading.from_dict(json.loads(arrays[_MEMBER].tobytes()))
    except (ValueError, KeyError, TypeError, IndexError):
        return None


def keep(store: Store, key: str, reading: Reading) -> None:
    """Keep a reading: its JSON form as bytes."""
    content = json.dumps(reading.to_dict()).encode()
    store.save(key, {_MEMBER: np.frombuffer(content, np.uint8)})
