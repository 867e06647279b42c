"""What each choice is worth: one factor at a time, by shipped models where nothing is trained."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="plots need deshred[plots]")

from deshred.errors import InputError, SettingsError
from deshred.evaluation.experiments.ablation import AblationOptions, ablation, list_variants
from tests.evaluation.experiments.entries import read_entries, write_page


def test_one_factor_is_changed_at_a_time_on_the_documents_asked_for(folder: Path, tmp_path: Path) -> None:
    options = AblationOptions(ks=(1, 2), factors=("evidence", "page ends at k = 1"), documents=2, jobs=1)
    results = list(read_entries(ablation([folder], tmp_path, options=options).raw).values())
    assert {(entry["factor"], entry["value"]) for entry in results} == {
        ("evidence", "ink and outline"),
        ("evidence", "ink"),
        ("evidence", "outline"),
        ("page ends at k = 1", "weighed"),
        ("page ends at k = 1", "free"),
    }
    assert {entry["k"] for entry in results if entry["factor"] == "evidence"} == {1, 2}
    assert {entry["k"] for entry in results if entry["factor"] != "evidence"} == {1}
    assert {(entry["documents"], entry["steps"], entry["model"]) for entry in results} == {
        (2, 0, "towers-cdip")
    }


def test_single_values_of_a_factor_can_be_asked_for(folder: Path, tmp_path: Path) -> None:
    options = AblationOptions(ks=(1,), factors=("evidence=outline", "v_shift=0"), documents=1, jobs=1)
    results = read_entries(ablation([folder], tmp_path, options=options).raw).values()
    assert [(entry["factor"], entry["value"]) for entry in results] == [
        ("v_shift", "0"),
        ("evidence", "outline"),
    ]


def test_no_two_values_of_a_factor_have_one_name() -> None:
    names = [(variant.factor, variant.value) for variant in list_variants()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("pages", [None, Path("nowhere")])
def test_training_without_pages_is_refused_before_anything_is_written(
    pages: Path | None, folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="intact pages"):
        ablation([folder], tmp_path / "out", pages=pages, options=AblationOptions(steps=10))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"factors": ("magic", "v_shift=3")}, "no factor magic, v_shift=3"),
        ({"steps": -1}, "must be at least 0"),
        ({"ks": (0,)}, "ks at least 1"),
    ],
)
def test_options_that_make_no_sense_are_refused(wrong: dict[str, object], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        AblationOptions(**wrong)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's exporter warns about itself
def test_networks_are_trained_once_and_kept_by_their_options(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="training needs deshred[train]")
    y, x = np.mgrid[:800, :900]
    for slope in (1, 2, 4):
        write_page(tmp_path / "pages" / "cdip" / f"{slope}.png", (y + x * slope // 3) % 12 < 5)
    options = AblationOptions(steps=2, ks=(1,), factors=("rho_black",), documents=1, max_shift=0, jobs=1)
    out = tmp_path / "out"
    results = read_entries(ablation([folder], out, pages=tmp_path / "pages", options=options).raw)
    assert [entry["value"] for entry in results.values()] == ["0.1", "0.2", "0.3"]
    assert all(entry["steps"] == 2 and entry["shift"] == 0 for entry in results.values())
    models = {file: file.stat().st_mtime_ns for file in (out / "models").glob("*.onnx")}
    assert len(models) == 3
    (out / "ablation.json").unlink()
    assert len(read_entries(ablation([folder], out, pages=tmp_path / "pages", options=options).raw)) == 3
    assert {file: file.stat().st_mtime_ns for file in models} == models
