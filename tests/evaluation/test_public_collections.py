"""Figures on the public collections, where they lie beside the repository."""

from pathlib import Path

import pytest

from deshred.arrangement import ArrangementOptions
from deshred.compatibility.classical.marques import MarquesScorer
from deshred.evaluation.collections import Collection, open_collection, read_document
from deshred.evaluation.protocol import EvaluationOptions, evaluate
from deshred.imaging.binarization import BlankOptions, is_blank

DATA = Path(__file__).parents[3] / "shared" / "data"


def public(name: str, documents: int) -> Collection:
    if not (DATA / name).is_dir():
        pytest.skip(f"the public collection {name} does not lie at ../shared/data")
    collection = open_collection(DATA / name)
    if len(collection) != documents:
        pytest.skip(f"figures are known for {documents} documents of {name}, here are {len(collection)}")
    return collection


# The complete collections give 1,370 and 505 shreds, as in the paper; fewer documents lie here.


def test_the_published_accuracy_and_count_of_s_marques_are_reproduced() -> None:
    options = EvaluationOptions(ks=(1,), arrangement=ArrangementOptions(solver="greedy", pages=1))
    result = evaluate(public("s-marques", 20), MarquesScorer(), options=options)
    assert (result.shreds, result.blank) == (459, 32)
    assert result["1"].mean.value == pytest.approx(0.292, abs=0.05)


def test_the_published_rule_calls_one_shred_of_s_isri_ocr_blank() -> None:
    shreds = [shred for document in public("s-isri-ocr", 8) for shred in read_document(document).shreds]
    assert [shred.id for shred in shreds if is_blank(shred, options=BlankOptions("paper"))] == ["D00627"]
