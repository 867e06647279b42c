"""The one place that makes names and texts harmless: ids come from file names, and those may hold anything.

Letters of every script stay. Control characters, halves of characters, and marks that turn the direction of
writing become visible escapes such as `\\x1b`, so that two different names never look the same.
"""

from __future__ import annotations

import re
import unicodedata

_HARMFUL = {"Cc", "Cs"}  # controls and halves of characters
_TURNING = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff\u2028\u2029"
)
_FORMULA = ("=", "+", "-", "@", "|", "%", "\t", "\r")
_OUTSIDE = re.compile(r"[^a-z0-9._-]+")


def clean(text: str) -> str:
    """The text with everything harmful shown as an escape."""
    return "".join(_escape(letter) if _is_harmful(letter) else letter for letter in text)


def clean_cell(text: str) -> str:
    """A cell of a table that no spreadsheet takes for a formula."""
    cleaned = clean(text)
    return f"'{cleaned}" if cleaned.lstrip().startswith(_FORMULA) else cleaned


def clean_field(text: str, *, quote: str, line_break: str) -> str:
    """A field of a load file: the signs of the file itself must not end it."""
    lines = "\n".join(clean(line) for line in text.splitlines())
    stand_in = next(sign for sign in "?_~" if sign not in (quote, line_break))
    return lines.replace(quote, stand_in).replace(line_break, stand_in).replace("\n", line_break)


def clean_file_name(text: str) -> str:
    """A name of a file with letters that every system and every package format takes."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return _OUTSIDE.sub("-", plain).strip(".-")[:80] or "unnamed"


def quote_toml(text: str) -> str:
    """A string of a TOML file. Halves of characters, which TOML cannot hold, are shown as escapes."""
    whole = text.encode("utf-8", "backslashreplace").decode()
    quoted = (f"\\{letter}" if letter in '"\\' else letter for letter in whole)
    return (
        '"'
        + "".join(f"\\U{ord(one):08x}" if len(one) == 1 and _is_harmful(one) else one for one in quoted)
        + '"'
    )


def _is_harmful(letter: str) -> bool:
    code = ord(letter)
    is_no_character = code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
    return is_no_character or letter in _TURNING or unicodedata.category(letter) in _HARMFUL


def _escape(letter: str) -> str:
    code = ord(letter)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
