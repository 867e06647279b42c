"""Who takes part: by name, in the order asked for, on one path through all shreds."""

from __future__ import annotations

from hashlib import sha256

import pytest

from deshred.compatibility.models import list_models
from deshred.compatibility.scorers import SCORER_NAMES
from deshred.errors import SettingsError
from deshred.evaluation.experiments.methods import METHODS, find_methods


def test_methods_come_in_the_order_of_their_names_as_given() -> None:
    assert [method.name for method in find_methods(("words", "default", "words"))] == [
        "words",
        "default",
        "words",
    ]


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ((), "no method given"),
        (("default", "magic", "spell"), "no method magic, spell. Choose among default"),
    ],
)
def test_who_is_not_known_is_named_with_those_who_are(names: tuple[str, ...], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        find_methods(names)


def test_every_scorer_of_a_method_can_be_chosen_on_the_command_line() -> None:
    assert {method.scorer for method in METHODS.values()} <= set(SCORER_NAMES)


def test_labels_tell_all_methods_apart() -> None:
    assert len({method.label for method in METHODS.values()}) == len(METHODS)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_looks_for_one_path_by_its_solver(name: str) -> None:
    options = METHODS[name].arrangement
    assert options.pages == 1
    assert options.solver == ("greedy" if METHODS[name].solver == "greedy" else "exact")


def test_a_network_that_moves_no_shred_is_not_slow_and_says_so_in_its_label() -> None:
    for name, solver in (("pairwise-still", "exact"), ("pairwise-still-nn", "greedy")):
        method = METHODS[name]
        scorer = method.load("s-isri-ocr")
        assert scorer.options.max_shift == 0  # type: ignore[union-attr]
        assert scorer.card.model == "pairwise-cdip"
        assert (method.solver, method.is_slow) == (solver, False)
        assert "no vertical shifts" in method.label
    assert METHODS["pairwise"].load("s-cdip").options.max_shift == 10  # type: ignore[union-attr]
    assert [name for name, method in METHODS.items() if method.is_slow] == ["pairwise", "pairwise-nn"]


def test_a_method_knows_which_model_it_is_measured_with() -> None:
    shipped = {model.name: sha256(model.path.read_bytes()).hexdigest() for model in list_models()}
    assert METHODS["default"].find_sha256("s-cdip") == shipped["towers-isri"]
    assert METHODS["pairwise-nn"].find_sha256("s-marques") == shipped["pairwise-cdip"]
    assert METHODS["characters"].find_sha256("s-cdip") is None
