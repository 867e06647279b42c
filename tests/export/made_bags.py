"""Small bags, written to a folder."""

from __future__ import annotations

from pathlib import Path

from deshred.export.bags import Digest, build_tags
from deshred.export.casefiles import CaseFacts
from deshred.export.material import Custody
from tests.export.materials import make_material

PAYLOAD = {"data/b.txt": b"two", "data/a.txt": b"one"}
FACTS = CaseFacts(case="AZ 1\nPayload-Oxum: 0.0", laboratory=("Lab", "Söhne"))


def write_bag(folder: Path, payload: dict[str, bytes] = PAYLOAD) -> Path:
    material = make_material(facts=FACTS, custody=Custody("ab" * 32), operator="E. Mustermann")
    digests = {name: Digest.of(content) for name, content in payload.items()}
    for file in build_tags(digests, material):
        (folder / file.name).parent.mkdir(parents=True, exist_ok=True)
        (folder / file.name).write_bytes(file.content)
    return folder
