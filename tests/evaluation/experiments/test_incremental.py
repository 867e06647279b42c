"""Accuracy as documents are mixed: every k once for every seed, and never measured twice."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="plots need deshred[plots]")

from deshred.errors import SettingsError
from deshred.evaluation.experiments.incremental import IncrementalOptions, incremental
from tests.evaluation.experiments.entries import read_entries


def test_every_k_is_measured_and_shown(folder: Path, tmp_path: Path) -> None:
    outcome = incremental([folder], tmp_path, options=IncrementalOptions(methods=("outline",), jobs=1))
    results = read_entries(outcome.raw)
    assert sorted(entry["k"] for entry in results.values()) == [1, 2, 3]
    page = outcome.page.read_text()
    assert "outline alone" in page
    pictures = sorted(picture.name for picture in tmp_path.glob("*.png"))
    assert pictures == ["incremental.png"]  # of kinds only where documents have one
    assert all(f'src="{name}"' in page for name in pictures)
    assert "| k |" in outcome.markdown.read_text()


def test_a_run_that_grows_measures_only_what_is_new(folder: Path, tmp_path: Path) -> None:
    told: list[str] = []

    def measure(**options: object) -> dict[str, dict[str, object]]:
        told.clear()
        chosen = IncrementalOptions(methods=("marques",), jobs=1, **options)  # type: ignore[arg-type]
        progress = lambda stage, *_: told.append(stage)  # noqa: E731
        return read_entries(incremental([folder], tmp_path, options=chosen, progress=progress).raw)

    first = measure(ks=(1,))
    assert measure(ks=(1,)) == first
    assert told == []
    grown = measure(ks=(1, 2), seeds=(0, 5))
    assert {key: grown[key] for key in first} == first
    assert sorted((entry["k"], entry["seed"]) for entry in grown.values()) == [(1, 0), (1, 5), (2, 0), (2, 5)]


def test_more_documents_than_there_are_cannot_be_mixed(folder: Path, tmp_path: Path) -> None:
    options = IncrementalOptions(methods=("marques",), ks=(3, 4, 60), jobs=1)
    results = read_entries(incremental([folder], tmp_path, options=options).raw)
    assert [entry["k"] for entry in results.values()] == [3]


@pytest.mark.parametrize("wrong", [{"ks": (0,)}, {"methods": ("magic",)}])
def test_options_that_make_no_sense_are_refused(wrong: dict[str, tuple[int, ...]]) -> None:
    with pytest.raises(SettingsError, match=r"ks must be at least 1|no method magic"):
        IncrementalOptions(**wrong)  # type: ignore[arg-type]
