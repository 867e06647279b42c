"""One key, one meaning, on every screen."""

import re
from importlib import resources

import pytest

from deshred.review.app import read_static

TEXT = (resources.files("deshred.review") / "static" / "keys.js").read_text(encoding="utf-8")


def read_table() -> dict[str, list[str]]:
    table = TEXT[TEXT.index("TABLE = {") : TEXT.index("};")]
    screens = re.split(r"\n  (\w+): \[", table)[1:]
    return {
        name: re.findall(r'\["([^"]+)", "[^"]+", "[^"]+"\]', body)
        for name, body in zip(screens[::2], screens[1::2], strict=True)
    }


@pytest.mark.parametrize("screen", ["overview", "questions", "page", "trays", "history"])
def test_no_key_means_two_things_on_a_screen(screen: str) -> None:
    table = read_table()
    keys = [*table[screen], *table["everywhere"]]
    assert len(keys) == len(set(keys))


def test_no_script_touches_markup_or_another_address() -> None:
    for name, (content, _) in read_static().items():
        text = content.decode()
        if name.endswith(".js"):
            for forbidden in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
                assert forbidden not in text, name
        assert not re.search(r"https?://(?!www\.w3\.org)", text), name
        assert "style=" not in text, name
