"""Tables in a document that are made by a command: what stands between two marks is replaced."""

from __future__ import annotations

import re
from pathlib import Path


def replace_table(file: Path, name: str, table: str) -> None:
    """Put a table between `<!-- name -->` and `<!-- end of name -->`."""
    start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    text = file.read_text(encoding="utf-8")
    pattern = re.compile(f"{re.escape(start)}.*?{re.escape(end)}", re.DOTALL)
    if not pattern.search(text):
        raise SystemExit(f"{file}: there is no place for {name}; put {start} and {end} where it belongs.")
    file.write_text(pattern.sub(lambda _: f"{start}\n{table}\n{end}", text), encoding="utf-8")
