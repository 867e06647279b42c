"""A font that nobody sees: every letter has a code that leads back to it."""

from __future__ import annotations

import io
import re

import pytest

from deshred.export.glyphless import ADVANCE, UNITS, Encoding, build_font

TEXT = "Ünï Ω 中 𝔸 −"


def decode(encoding: Encoding, codes: bytes) -> str:
    """What a reader of the map makes of the codes."""
    pairs = re.findall(rb"^<([0-9A-F]{4})> <([0-9A-F]+)>$", encoding.to_cmap(), re.M)
    letters = {
        int(code, 16): bytes.fromhex(letter.decode()).decode("utf-16-be") for code, letter in pairs[1:]
    }
    return "".join(letters[int.from_bytes(codes[at : at + 2], "big")] for at in range(0, len(codes), 2))


def test_a_text_comes_back_from_its_codes_letters_beyond_16_bits_too() -> None:
    encoding = Encoding.of(TEXT)
    assert decode(encoding, encoding.encode(TEXT)) == TEXT


def test_the_same_letters_have_the_same_codes_in_whatever_order_they_come() -> None:
    assert Encoding.of("abc").codes == Encoding.of("cabbac").codes
    assert " " in Encoding.of("").codes
    assert 0 not in Encoding.of(TEXT).codes.values()


def test_blocks_of_the_map_are_no_longer_than_readers_take() -> None:
    cmap = Encoding.of(map(chr, range(0x4E00, 0x4E00 + 250))).to_cmap()
    counts = [int(count) for count in re.findall(rb"(\d+) beginbfchar", cmap)]
    assert sum(counts) == 251
    assert max(counts) <= 100
    for count, block in zip(counts, re.findall(rb"beginbfchar(.*?)endbfchar", cmap, re.S), strict=True):
        assert block.count(b"> <") == count


def test_every_code_draws_the_same_box_of_the_same_width() -> None:
    pikepdf = pytest.importorskip("pikepdf", reason="pikepdf is not installed: pip install 'deshred[pdf]'")
    font_tools = pytest.importorskip("fontTools.ttLib", reason="fontTools is not installed")
    encoding = Encoding.of("abc")
    document = pikepdf.new()
    descendant = build_font(document, encoding).DescendantFonts[0]
    assert bytes(descendant.CIDToGIDMap.read_bytes()) == b"\0\0" + b"\0\1" * 4
    assert int(descendant.DW) == ADVANCE
    program = bytes(descendant.FontDescriptor.FontFile2.read_bytes())
    font = font_tools.TTFont(io.BytesIO(program))
    assert font["head"].unitsPerEm == UNITS
    assert font["hmtx"]["box"][0] == ADVANCE
    assert font["glyf"]["box"].numberOfContours == 1
