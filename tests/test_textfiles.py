from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from deshred.errors import InputError, SettingsError
from deshred.textfiles import (
    DEEPEST,
    parse_json,
    parse_toml,
    read_file,
    read_json,
    read_text_file,
    read_toml,
)

Reader = Callable[..., object]
READERS: list[Reader] = [read_file, read_text_file, read_json, read_toml]


def save(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path, bom: bytes) -> None:
    assert read_toml(save(tmp_path / "a.toml", bom + b'first = ["a"]')) == {"first": ["a"]}
    assert read_json(save(tmp_path / "a.json", bom + b'{"a": 1}')) == {"a": 1}


@pytest.mark.parametrize("read", READERS)
def test_pipes_and_devices_are_refused_at_once(tmp_path: Path, read: Reader) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to("/dev/zero")
    for path in (pipe, link, Path("/dev/zero"), Path("/dev/null")):
        with pytest.raises(InputError, match=f"{path.name}: a pipe, socket or device.*Save"):
            read(path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        with pytest.raises(InputError, match="socket"):
            read(tmp_path / "s")


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("name", ["missing", "folder", "broken", "nul\0", "long" * 99])
def test_what_cannot_be_opened_is_the_error_that_was_asked_for(
    tmp_path: Path, read: Reader, name: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "broken").symlink_to("nowhere")
    with pytest.raises(SettingsError, match=r"(Check the name|broken link)"):
        read(tmp_path / name, wrong=SettingsError)


def test_no_room_is_made_for_all_that_a_file_might_hold(tmp_path: Path) -> None:
    small, limit = save(tmp_path / "small", b"x" * 3_000_000), 1 << 46  # bytes that no machine has
    assert read_file(small, most_bytes=limit) == small.read_bytes()
    assert read_file("/proc/self/status", most_bytes=limit).startswith(
        b"Name:"
    )  # which says that it is empty


@pytest.mark.parametrize("read", READERS)
def test_a_file_beyond_the_limit_is_not_read(tmp_path: Path, read: Reader) -> None:
    content = save(tmp_path / "large", b'a = "' + b"x" * 1000 + b'"')
    with pytest.raises(InputError, match=r"large: 1,006 bytes are more than the limit of 100\."):
        read(content, most_bytes=100)


@pytest.mark.parametrize("size", [DEEPEST + 1, 3_000, 100_000])
@pytest.mark.parametrize("opening", ["[", '{"a":', "[[],"])
def test_deep_json_is_refused(opening: str, size: int) -> None:
    closing = "]" if opening[0] == "[" else "}"
    for text in (opening * size, opening * size + "0" + closing * size):
        with pytest.raises(InputError, match=r"x: (nested more than|this is not JSON)"):
            parse_json(text, "x")


@pytest.mark.parametrize("size", [DEEPEST + 1, 3_000, 100_000])
@pytest.mark.parametrize("shape", ["[", "{a=", "a."])
def test_deep_toml_is_refused(shape: str, size: int) -> None:
    closing = {"[": "]", "{a=": "}", "a.": "a = 1"}[shape]
    text = shape * size + closing if shape == "a." else f"a = {shape * size}0{closing * size}"
    with pytest.raises(InputError, match=r"x: (nested more than|a line has \d+ dots)"):
        parse_toml(text, "x")


@pytest.mark.parametrize("text", ['"""\\', "'''", '"\\', "'", 'a="""', '"\\"', "''''", "#"])
def test_quotes_without_an_end_take_no_time(text: str) -> None:
    for ending in ("", "a", "\\"):
        with suppress(InputError):
            parse_toml(text * 100_000 + ending, "x")  # would run for hours


def test_dots_in_quotes_and_comments_are_no_keys() -> None:
    dots = "." * 500
    text = f'a = ["{dots}", \'{dots}\', "\\"{dots}"] # {dots}\nb = """\n{dots}"{dots}"""\nc = 1.5'
    assert parse_toml(text, "x")["c"] == 1.5


@pytest.mark.parametrize("number", ["9" * 30, "-" + "9" * 30, "9" * 5_000, "1e999", "NaN", "-Infinity"])
def test_numbers_that_nobody_can_work_with_are_refused(number: str) -> None:
    with pytest.raises(InputError, match="x: "):
        parse_json(f'{{"a": [{number}]}}', "x")


def test_a_key_that_stands_twice_is_told_with_its_remedy() -> None:
    with pytest.raises(InputError, match="twice: put all of its values into one list"):
        parse_toml('required = [["a", "b"]]\nrequired = [["c", "d"]]', "x")


@pytest.mark.parametrize("number", ["9" * 30, "9" * 5_000, "1e999", "nan", "-inf"])
def test_such_numbers_are_refused_in_toml_as_well(number: str) -> None:
    with pytest.raises(InputError, match="x: "):
        parse_toml(f"a = [{number}]", "x")


@pytest.mark.parametrize("text", ["\\u0000", "\\ud800", "\\udfff"])
def test_text_that_cannot_be_a_name_is_refused(text: str) -> None:
    for document in (f'["{text}"]', f'{{"{text}": 1}}'):
        with pytest.raises(InputError, match="no name can have"):
            parse_json(document, "x")
    with pytest.raises(InputError, match="x: "):
        parse_toml(f'a = "{text}"', "x")


@pytest.mark.parametrize("content", [b"\xff\xfe", b"", b"{", b'{"a" 1}', b"\x00"])
def test_what_is_no_json_is_said_to_be_none(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InputError, match=r"a\.json: "):
        read_json(save(tmp_path / "a.json", content))


def test_what_json_holds_comes_back() -> None:
    content = {"a": [1, 2.5, None, True, "ü😀"], "b": {"c": []}, "d": -(2**63)}
    assert parse_json(json.dumps(content), "x") == content
