from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from deshred.imaging.formats import describe_foreign, is_risky, recognize

PICTURE = Image.fromarray(np.random.default_rng(0).integers(0, 255, (40, 30, 3), np.uint8))


def encode(kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    PICTURE.save(buffer, kind, **options)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "WEBP", "BMP"])
def test_a_format_is_known_by_its_content(kind: str) -> None:
    assert recognize(encode(kind)).upper() == kind.upper()


@pytest.mark.parametrize("content", [b"", b"%!PS-Adobe-3.0 EPSF-3.0\n", b"GIF89a", b"\x00" * 64, b"hello"])
def test_what_is_not_on_the_list_is_not_recognized(content: bytes) -> None:
    assert recognize(content) == ""


def test_a_foreign_format_is_named() -> None:
    assert "PostScript" in describe_foreign(b"%!PS-Adobe-3.0 EPSF-3.0\n")
    assert describe_foreign(b"nobody knows this") == ""


def test_files_in_which_little_makes_much_work_are_risky() -> None:
    assert is_risky(b"%PDF-1.7\n")
    assert is_risky(encode("TIFF"))
    assert is_risky(encode("JPEG", progressive=True))
    assert not is_risky(encode("JPEG"))
    assert not is_risky(encode("PNG"))
