"""Names that break things: formulas, signs of formats, controls, halves of characters, other directions."""

from __future__ import annotations

from hypothesis import strategies as st

PIECES = [
    "=HYPERLINK('x')",
    "@SUM(1)",
    "-1+1",
    "%2e%2e/",
    "%s%n",
    "]]>",
    "<b>&amp;",
    '"quoted", "twice"',
    "\x00\x1b[31m",
    "\x14\xfe\xae",
    "\r\nContent: 1",
    "\u202egnp.exe",
    "שלום",
    "مستند",
    "\udc80\udcff",
    "\ufffe\uffff",
    "{{ 7*7 }}",
    "../../etc/passwd",
    "CON",
    "🙂文書",
    "\\",
    "' OR 1=1 --",
]
names = st.lists(st.sampled_from(PIECES) | st.text(max_size=6), min_size=1, max_size=4).map("".join)
# what an engine can return: text that was decoded from UTF-8
texts = names.map(lambda text: text.encode("utf-8", "ignore").decode().replace("\n", " ")).filter(str.strip)
