"""`deshred models`: every shipped model, with its card and its size."""

from __future__ import annotations

import json
from pathlib import Path

from tests.commands import run


def test_every_model_is_listed_with_its_card() -> None:
    listed = json.loads(run("models", "--json").stdout)["models"]
    assert {model["name"] for model in listed} >= {"towers-default", "pairwise-cdip"}
    for model in listed:
        assert Path(model["path"]).suffix == ".onnx"
        assert Path(model["path"]).is_file()


def test_people_read_name_size_and_card_below_each_other() -> None:
    lines = run("models").stdout.splitlines()
    for model in json.loads(run("models", "--json").stdout)["models"]:
        size = f"{Path(model['path']).stat().st_size / 1e6:.1f} MB"
        start = lines.index(f"{model['name']}  ({size})") + 1
        card = [f"  {line}" if line else "" for line in model["card"].strip().splitlines()]
        assert lines[start : start + len(card)] == card
