"""Figures: a panel for each collection, factor or person, and a style that tells all methods apart."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="plots need deshred[plots]")

from deshred.evaluation.experiments.methods import METHODS
from deshred.evaluation.experiments.plots import (
    _STYLES,
    _largest_shared_k,
    _order_kinds,
    plot_ablation,
    plot_comparison,
    plot_curves,
    plot_feedback,
    plot_kinds,
)
from deshred.evaluation.experiments.tables import group_factors
from deshred.imaging.scans import read_scans
from tests.evaluation.experiments.entries import (
    Entry,
    curve_entry,
    factor_entry,
    feedback_entry,
    pile_entry,
)

CURVES = [
    curve_entry("s-marques", method, k, [0.5, 0.9]) for method in ("default", "outline") for k in (1, 2, 3)
]


def draw(plot: Callable[[Sequence[Entry], Path], Path], entries: Sequence[Entry], file: Path) -> np.ndarray:
    assert plot(entries, file) == file
    image: np.ndarray = read_scans(file)[0].image
    return image


def test_every_collection_has_a_panel(tmp_path: Path) -> None:
    one = draw(plot_curves, CURVES, tmp_path / "one.png")
    more = [{**entry, "collection": "s-cdip"} for entry in CURVES]
    two = draw(plot_curves, [*CURVES, *more], tmp_path / "new" / "two.png")
    assert two.shape[1] == 2 * one.shape[1]


def test_the_legend_of_a_single_panel_stays_inside_the_picture(tmp_path: Path) -> None:
    entries = [curve_entry("s-cdip", name, 1, [0.9]) for name in ("default", "pairwise", "pairwise-nn")]
    image = draw(plot_curves, entries, tmp_path / "one.png")
    assert (image[:, :3] == 255).all()
    assert (image[:, -3:] == 255).all()


def test_the_same_entries_give_the_same_picture_and_others_another(tmp_path: Path) -> None:
    first, again = (draw(plot_curves, CURVES, tmp_path / f"{n}.png") for n in "ab")
    np.testing.assert_array_equal(first, again)
    other = [{**entry, "instances": [{"documents": ["D001"], "accuracy": 0.2}]} for entry in CURVES]
    assert (draw(plot_curves, other, tmp_path / "c.png") != first).any()


def test_a_network_without_shifts_is_not_drawn_beside_itself_with_shifts(tmp_path: Path) -> None:
    moved = [curve_entry("s-cdip", "pairwise", k, [0.9]) for k in (1, 2)]
    still = [curve_entry("s-cdip", "pairwise-still", k, [0.4]) for k in (1, 2)]
    alone = draw(plot_curves, moved, tmp_path / "moved.png")
    np.testing.assert_array_equal(draw(plot_curves, [*moved, *still], tmp_path / "both.png"), alone)
    assert (draw(plot_curves, still, tmp_path / "still.png") != alone).any()


def test_styles_tell_all_methods_apart_also_in_black_and_white() -> None:
    assert set(_STYLES) == set(METHODS)
    assert len({style["color"] for style in _STYLES.values()}) == len(METHODS)
    assert len({style["marker"] for style in _STYLES.values()}) == len(METHODS)


def test_a_comparison_has_one_panel_more_than_collections_for_its_times(tmp_path: Path) -> None:
    entries = [pile_entry(name, 1, "D001", 0.8, 1.0) for name in METHODS]
    one = draw(plot_comparison, entries, tmp_path / "one.png")
    more = [{**entry, "collection": "s-cdip"} for entry in entries]
    two = draw(plot_comparison, [*entries, *more], tmp_path / "two.png")  # three panels, two in a row
    assert two.shape[1] == one.shape[1]
    assert two.shape[0] > 1.5 * one.shape[0]


def test_a_factor_more_is_a_panel_more_up_to_four_in_a_row(tmp_path: Path) -> None:
    sizes = []
    for count in (1, 4, 5):
        entries = [
            factor_entry(f"factor {n}", value, 1, [0.5, 0.7])
            for n in range(count)
            for value in ("low", "high")
        ]
        sizes.append(draw(plot_ablation, entries, tmp_path / f"{count}.png").shape[:2])
    (height, width), four, five = sizes
    assert four == (height, 4 * width)
    assert five[0] > height
    assert five[1] == 4 * width


def test_one_value_far_below_all_others_does_not_flatten_their_differences(tmp_path: Path) -> None:
    near = [factor_entry("evidence", value, 1, [share]) for value, share in (("both", 0.99), ("ink", 0.97))]
    lower, higher = (
        draw(plot_ablation, [*near, factor_entry("evidence", "outline", 1, [share])], tmp_path / "far.png")
        for share in (0.05, 0.06)
    )
    assert (lower != higher).any()  # it is told
    top = len(lower) // 3
    np.testing.assert_array_equal(lower[:top], higher[:top])  # and nothing above has moved


def test_feedback_has_a_panel_for_every_person_and_shows_one_round_only(tmp_path: Path) -> None:
    entries = [feedback_entry("price", load, 5) for load in (0.1, 0.2)]
    perfect = draw(plot_feedback, entries, tmp_path / "perfect.png")
    erring = [{**entry, "error": 0.05} for entry in entries]
    both = draw(plot_feedback, [*entries, *erring], tmp_path / "both.png")
    assert both.shape[0] > perfect.shape[0]
    assert both.shape[1] == perfect.shape[1]
    later = [{**entry, "rounds": 3, "wrong_after": 0} for entry in entries]
    np.testing.assert_array_equal(draw(plot_feedback, [*entries, *later], tmp_path / "later.png"), perfect)


def test_kinds_are_drawn_for_single_documents(tmp_path: Path) -> None:
    kinds = {"D001": "letter", "D002": "form"}
    single = [curve_entry("s-cdip", "default", 1, [0.5, 0.9], kinds=kinds)]
    mixed = [curve_entry("s-cdip", "default", 2, [0.1], kinds=kinds)]
    first = draw(plot_kinds, single, tmp_path / "a.png")
    np.testing.assert_array_equal(draw(plot_kinds, [*single, *mixed], tmp_path / "b.png"), first)


def test_kinds_stand_in_the_same_order_in_every_run() -> None:
    unknown = [f"kind {letter}" for letter in "abcdefgh"]
    kinds = {"email", "budget", "letter", *unknown}
    assert _order_kinds(kinds) == ["letter", "budget", "email", *unknown]


def test_nothing_measured_is_still_a_picture(tmp_path: Path) -> None:
    assert draw(plot_kinds, [], tmp_path / "kinds.png").size > 0
    assert draw(plot_ablation, [], tmp_path / "ablation.png").size > 0


def test_without_matplotlib_the_remedy_is_named() -> None:
    script = (
        "import sys\nsys.modules['matplotlib'] = None\n"
        "from deshred.evaluation.experiments.plots import import_pyplot\n"
        "try: import_pyplot()\nexcept Exception as error: print(error.exit_code, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == (
        "8 plots need matplotlib, which is not installed. Try: pip install 'deshred[plots]'\n"
    )


def test_collections_of_an_ablation_are_shown_at_a_k_that_all_of_them_have() -> None:
    both = [factor_entry("v_shift", "0", k, [0.5]) for k in (1, 2, 5)]
    other = {**both[0], "collection": "s-marques"}
    assert _largest_shared_k(group_factors(both)) == 5
    assert _largest_shared_k(group_factors([*both, other])) == 1
    assert _largest_shared_k(group_factors([*both[1:], other])) == 5


def test_trainings_of_other_length_are_lines_of_their_own(tmp_path: Path) -> None:
    shipped = [factor_entry("sample", value, 1, [0.9]) for value in ("32x32", "64x64")]
    short = [factor_entry("sample", value, 1, [0.9], steps=100) for value in ("32x32", "64x64")]
    once = draw(plot_ablation, shipped, tmp_path / "once.png")
    both = draw(plot_ablation, [*shipped, *short], tmp_path / "both.png")
    assert once.shape == both.shape
    assert (once != both).any()  # the budget stands above the panel
