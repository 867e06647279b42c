"""Files in; bytes, text, and the plain values of JSON and TOML out, and never more than a limit.

Whatever is wrong with a file, or with what it holds, becomes the kind of error that the caller names.
"""

from __future__ import annotations

import errno
import json
import math
import os
import re
import stat
import tomllib
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from deshred.errors import DeshredError, InputError

Wrong = type[DeshredError]

MOST_JSON = 16 << 20  # bytes; parsed they take up to twenty times as much
MOST_TOML = 1 << 20
DEEPEST = 64  # lists in lists
LARGEST = 2**63  # of whole numbers
_STEP = 1 << 20  # bytes
_MOST_DOTS = 64  # in a line of TOML; parsing a key takes the square of its dots

# What is no key of TOML: strings, which may be of many lines or lack their end, and comments.
_NO_KEYS = re.compile(
    r'"""(?:[^\\]|\\.)*?(?:"""|\\?\Z)|\'\'\'.*?(?:\'\'\'|\Z)|"(?:[^"\\\n]|\\.)*"?|\'[^\'\n]*\'?|#[^\n]*',
    re.DOTALL,
)


def read_file(path: str | Path, *, most_bytes: int | None = None, wrong: Wrong = InputError) -> bytes:
    """The content of a regular file: no pipe that blocks, no device that never ends."""
    path = Path(path)
    try:
        # A pipe that nobody writes to would block; whether it is one is asked of what was opened.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise wrong(f"{path}: a pipe, socket or device, not a file. Save its content as a file.")
            if most_bytes is None:
                return file.read()
            # a system file may claim terabytes: they are not tried
            content = read_some(file, found.st_size, most_bytes) if found.st_size <= most_bytes else b""
            if max(found.st_size, len(content)) > most_bytes:
                raise wrong(
                    f"{path}: {max(found.st_size, len(content)):,} bytes are more than the limit of "
                    f"{most_bytes:,}. Check that it is the right file."
                )
            return content
    except OSError as error:
        _explain(path, error, wrong)
    except ValueError:  # a NUL in the name
        raise wrong(f"{str(path)!r}: no file can have this name. Check the name.") from None


def read_some(file: BinaryIO, size: int, most_bytes: int) -> bytes:
    """All of a file of about this size, or a little more than the limit.

    Python makes room for as much as it is asked to read, so that the limit itself is never asked for.
    """
    parts, length, step = [], 0, size + 1
    while length <= most_bytes and (part := file.read(step)):
        parts.append(part)
        length += len(part)
        step = _STEP  # a file of the system may hold more than it says
    return b"".join(parts)


def read_text_file(path: str | Path, *, most_bytes: int = MOST_JSON, wrong: Wrong = InputError) -> str:
    """UTF-8 with or without a byte-order mark, as Windows writes it."""
    content = read_file(path, most_bytes=most_bytes, wrong=wrong)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise wrong(f"{path}: this is not UTF-8 text (byte {error.start}). Save it as UTF-8.") from None


def read_json(path: str | Path, *, most_bytes: int = MOST_JSON, wrong: Wrong = InputError) -> Any:
    """The plain values of a JSON file."""
    return parse_json(read_text_file(path, most_bytes=most_bytes, wrong=wrong), path, wrong=wrong)


def read_toml(path: str | Path, *, most_bytes: int = MOST_TOML, wrong: Wrong = InputError) -> dict[str, Any]:
    """The plain values of a TOML file."""
    return parse_toml(read_text_file(path, most_bytes=most_bytes, wrong=wrong), path, wrong=wrong)


def parse_json(text: str | bytes, where: object, *, wrong: Wrong = InputError) -> Any:
    """Plain values out of JSON; `where` names it in errors."""
    try:
        content = json.loads(text)
    except RecursionError:
        _refuse_depth(where, wrong)
    except ValueError as error:  # no JSON, no UTF-8, or a number of thousands of digits
        raise wrong(f"{where}: this is not JSON ({error}). It may be damaged.") from None
    _check_values(content, where, wrong)
    return content


def parse_toml(text: str, where: object, *, wrong: Wrong = InputError) -> dict[str, Any]:
    """Plain values out of TOML; `where` names it in errors."""
    bare = _NO_KEYS.sub("", text)
    dots = max((line.count(".") for line in bare.splitlines()), default=0)
    if dots > _MOST_DOTS:
        raise wrong(f"{where}: a line has {dots} dots outside of quotes, more than {_MOST_DOTS}. Split it.")
    try:
        content = tomllib.loads(text)
    except RecursionError:
        _refuse_depth(where, wrong)
    except ValueError as error:
        is_twice = str(error).startswith(("Cannot overwrite a value", "Cannot declare"))
        remedy = " A key stands there twice: put all of its values into one list." if is_twice else ""
        raise wrong(f"{where}: this is not a TOML file ({error}).{remedy}") from None
    _check_values(content, where, wrong)
    return content


def _explain(path: Path, error: OSError, wrong: Wrong) -> NoReturn:
    if error.errno == errno.ENOENT:
        if path.is_symlink():
            raise wrong(
                f"{path}: a broken link; {path.readlink()} is not there. Remove the link, or repair it."
            ) from None
        raise wrong(f"{path}: there is no such file or folder. Check the name.") from None
    if error.errno == errno.EISDIR:
        raise wrong(f"{path}: cannot be read (a folder, not a file). Check the name.") from None
    if error.errno in (errno.ENXIO, errno.ENODEV):  # a socket
        raise wrong(f"{path}: a pipe, socket or device, not a file. Save its content as a file.") from None
    raise wrong(f"{path}: cannot be read ({error.strerror}). Check the name and its permissions.") from None


def _refuse_depth(where: object, wrong: Wrong) -> NoReturn:
    raise wrong(
        f"{where}: nested more than {DEEPEST} levels deep. No file made by deshred is; it may be damaged."
    )


def _check_values(content: Any, where: object, wrong: Wrong) -> None:
    """Refuse what no file of ours holds and what would fail later, where nobody knows the file."""
    level = [content]
    for _ in range(DEEPEST):
        for value in level:
            if isinstance(value, str):
                _check_text(value, where, wrong)
            elif isinstance(value, int) and not -LARGEST <= value < LARGEST:
                raise wrong(f"{where}: a whole number of more than 64 bits. It may be damaged.")
            elif isinstance(value, float) and not math.isfinite(value):
                raise wrong(f"{where}: {value} is not a usable number. It may be damaged.")
        level = [inner for value in level for inner in _inner(value)]
        if not level:
            return
    _refuse_depth(where, wrong)


def _inner(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    return value if isinstance(value, list) else []


def _check_text(text: str, where: object, wrong: Wrong) -> None:
    if "\0" in text or not _is_encodable(text):
        raise wrong(f"{where}: {text[:40]!r} holds characters that no name can have. It may be damaged.")


def _is_encodable(text: str) -> bool:
    """Whether there is no half of a surrogate pair in a text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
