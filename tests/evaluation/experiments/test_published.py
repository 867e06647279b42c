"""Published figures are percentages that can be looked up, and none is made up where there is none."""

from __future__ import annotations

import pytest

from deshred.evaluation.experiments.methods import METHODS
from deshred.evaluation.experiments.published import (
    ACCURACY,
    COLLECTIONS,
    COMPLETE,
    KINDS,
    published_accuracy,
)


def test_every_figure_is_a_percentage_of_a_k_that_the_collection_allows() -> None:
    assert set(ACCURACY) == set(COLLECTIONS) == set(COMPLETE)
    for collection, methods in ACCURACY.items():
        for curve in methods.values():
            assert all(1 <= k <= COMPLETE[collection] and 0 <= value <= 100 for k, value in curve.items())


def test_all_documents_at_hand_stand_for_all_of_the_paper() -> None:
    assert published_accuracy("s-marques", "proposed", 20, 20) == ACCURACY["s-marques"]["proposed"][60]
    assert published_accuracy("s-marques", "proposed", 20, 60) == ACCURACY["s-marques"]["proposed"][20]
    assert published_accuracy("s-marques", "proposed", 3, 3) == ACCURACY["s-marques"]["proposed"][3]


@pytest.mark.parametrize(
    ("collection", "method", "k"), [("drawn", "proposed", 1), ("s-cdip", None, 1), ("s-cdip", "liang", 1)]
)
def test_what_was_not_published_is_none(collection: str, method: str | None, k: int) -> None:
    assert published_accuracy(collection, method, k, 30) is None


def test_the_mean_over_kinds_is_the_published_accuracy_of_one_document() -> None:
    mean = sum(KINDS.values()) / len(KINDS)
    assert mean == pytest.approx(ACCURACY["s-cdip"]["proposed"][1], abs=0.3)


def test_every_method_beside_a_published_one_names_one_that_was() -> None:
    known = {method for methods in ACCURACY.values() for method in methods}
    assert {method.published for method in METHODS.values() if method.published} <= known


@pytest.mark.parametrize("name", METHODS)
def test_no_model_is_measured_on_pages_like_those_it_saw(name: str) -> None:
    method = METHODS[name]
    if method.family is None:
        assert method.model_for("s-cdip") is None
        return
    assert method.model_for("s-cdip") == f"{method.family}-isri"
    assert method.model_for("s-marques") == method.model_for("s-isri-ocr") == f"{method.family}-cdip"
