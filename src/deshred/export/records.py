"""Everything about a reconstruction in one JSON file: `record.json`, with its JSON Schema beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from importlib import resources
from typing import Any

from deshred.cases.writing import to_plain
from deshred.elements import Join
from deshred.export.material import File, Material
from deshred.export.names import clean
from deshred.export.results import describe_constraints
from deshred.reading import Line
from deshred.versions import installed_versions

RECORD = "record.json"
SCHEMA = "record.schema.json"
FORMAT = 1


def export_json(material: Material) -> Iterator[File]:
    """The record, and the schema it keeps to."""
    yield File(RECORD, to_json(describe(material)))
    yield File(SCHEMA, (resources.files(__package__) / "templates" / SCHEMA).read_bytes())


def to_json(content: Any) -> bytes:
    """JSON with sorted keys that people can read; texts made harmless."""
    plain = _clean(to_plain(content))  # numbers that JSON does not know become null
    return (json.dumps(plain, ensure_ascii=False, indent=1, sort_keys=True, default=str) + "\n").encode()


def _clean(content: Any) -> Any:
    if isinstance(content, str):
        return clean(content)
    if isinstance(content, dict):
        return {clean(str(key)): _clean(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_clean(value) for value in content]
    return content


def describe(material: Material) -> dict[str, Any]:
    """Plain values: the answer, its proof, what was read, and what it was made from."""
    made = material.reconstruction
    arrangement = made.arrangement
    return {
        "format": FORMAT,
        "made": material.made.isoformat(timespec="seconds"),
        "summary": made.summary(),
        "copy": material.options.copy,
        "operator": material.options.operator,
        "command": material.command,
        "journal_head": material.custody.head,
        "pages": [_describe_page(material, index) for index in range(len(material.pages))],
        "breaks": [asdict(one) for one in arrangement.breaks],
        "blank": [shred.id for shred in made.blank],
        "cost": arrangement.cost,
        "bound": arrangement.bound,
        "optimal": arrangement.is_optimal,
        "constraints": describe_constraints(made.constraints),
        "scorer": asdict(made.scorer),
        "settings": made.settings.to_dict(),
        "inputs": sorted(
            ({"name": source.path.name, "sha256": source.sha256} for source in made.sources),
            key=lambda entry: (entry["name"], entry["sha256"]),
        ),
        "versions": installed_versions(),
    }


def _describe_page(material: Material, index: int) -> dict[str, Any]:
    card = material.card(index)
    return {
        "number": material.number(index),
        "name": material.stem(index),
        "copy": card.copy,
        "width": card.width,
        "height": card.height,
        "dpi": card.dpi,
        "pixels_sha256": card.pixels_sha256,
        "shreds": [asdict(placement) for placement in card.placements],
        "joins": [describe_join(join) for join in material.page_joins(index)],
        "lost_ink": _describe_lost_ink(material, index),
        "reading": _describe_reading(material, index),
    }


def _describe_lost_ink(material: Material, index: int) -> list[dict[str, Any]]:
    """The places that are marked in a reading copy."""
    places = material.lost_ink[index] if material.lost_ink else ()
    return [asdict(place) for place in places]


def describe_join(join: Join) -> dict[str, Any]:
    """A join with its verdict."""
    return {**asdict(join), "verdict": join.verdict}


def _describe_reading(material: Material, index: int) -> dict[str, Any] | None:
    if material.readings is None:
        return None
    reading = material.readings[index]
    return {
        "engine": reading.engine,
        "language": reading.language,
        "data_sha256": reading.data_sha256,
        "clear_share": round(reading.clear_share, 4),
        "lines": [_describe_line(material, index, line) for line in reading.lines],
    }


def _describe_line(material: Material, index: int, line: Line) -> dict[str, Any]:
    return {
        "block": line.block,
        "baseline": list(line.baseline),
        "words": [
            {
                "text": word.text,
                "box": [word.box.left, word.box.top, word.box.right, word.box.bottom],
                "confidence": word.confidence,
                "clarity": word.clarity,
                "joins": [[join.left, join.right] for join in material.crossed(index, word)],
            }
            for word in line.words
        ],
    }
