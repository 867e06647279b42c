"""Who takes part in the experiments: each method's name, label, scorer, model per collection and solver.

Cross-database as in the paper: what is measured on S-Marques and S-ISRI-OCR was trained on CDIP pages, what
is measured on S-CDIP on ISRI pages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from deshred.arrangement import ArrangementOptions
from deshred.compatibility.contract import AnyScorer
from deshred.compatibility.models import open_model
from deshred.compatibility.pairwise.scorer import PairwiseOptions
from deshred.compatibility.scorers import load_scorer
from deshred.errors import SettingsError

Solver = Literal["exact", "greedy", "composition"]


@dataclass(frozen=True)
class Method:
    """One curve of a figure."""

    name: str
    label: str
    scorer: str
    solver: Solver = "exact"
    published: str | None = None  # the method of the paper that it stands beside
    most_k: int | None = None  # documents mixed at most, as in the paper
    family: str | None = None  # of models: towers or pairwise
    max_shift: int | None = None  # px that a pairwise network moves shreds; None is the paper's choice

    def model_for(self, collection: str) -> str | None:
        """The model that saw no page like those of this collection."""
        if self.family is None:
            return None
        return f"{self.family}-isri" if collection == "s-cdip" else f"{self.family}-cdip"

    def find_sha256(self, collection: str) -> str | None:
        """What identifies that model."""
        model = self.model_for(collection)
        return None if model is None or self.family is None else open_model(model, self.family).sha256

    def load(self, collection: str, *, threads: int = 0) -> AnyScorer:
        """Its scorer, with that model."""
        pairwise = None if self.max_shift is None else PairwiseOptions(max_shift=self.max_shift)
        return load_scorer(self.scorer, self.model_for(collection), pairwise=pairwise, threads=threads)

    @property
    def is_slow(self) -> bool:
        """Whether comparing all joins of a few mixed documents takes hours."""
        return self.scorer == "pairwise" and self.max_shift is None

    @property
    def arrangement(self) -> ArrangementOptions:
        """One path through all shreds; a composition of its own never asks for it."""
        return ArrangementOptions(solver="greedy" if self.solver == "greedy" else "exact", pages=1)


METHODS = {
    method.name: method
    for method in (
        Method("default", "deshred (ink and outline)", "default", published="proposed", family="towers"),
        Method("towers", "deshred, ink alone", "towers", published="proposed", family="towers"),
        Method("outline", "deshred, outline alone", "outline"),
        Method(
            "pairwise", "pairwise network (Proposed)", "pairwise", published="proposed", family="pairwise"
        ),
        Method(
            "pairwise-nn",
            "pairwise network, nearest neighbor (Proposed-NN)",
            "pairwise",
            "greedy",
            published="proposed-nn",
            family="pairwise",
        ),
        Method(
            "pairwise-still",
            "pairwise network, no vertical shifts",
            "pairwise",
            family="pairwise",
            max_shift=0,
        ),
        Method(
            "pairwise-still-nn",
            "pairwise network, no vertical shifts, nearest neighbor",
            "pairwise",
            "greedy",
            family="pairwise",
            max_shift=0,
        ),
        Method(
            "characters",
            "characters, 5 px, mean of 10 alphabets (Paixão 2019 as meant)",
            "characters",
            published="paixao",
            most_k=5,
        ),
        Method(
            "characters-2020",
            "characters, 10 px, best of 10 by true accuracy (Paixão as run in 2020)",
            "characters",
            published="paixao",
            most_k=5,
        ),
        Method("words", "word paths (Liang)", "words", "composition", published="liang", most_k=3),
        Method("marques", "edge pixels (Marques)", "marques", "greedy", published="marques"),
        Method(
            "marques-2020",
            "edge pixels with overflowing bytes (Marques as run in 2020)",
            "marques",
            "greedy",
            published="marques",
        ),
    )
}


def find_methods(names: tuple[str, ...]) -> tuple[Method, ...]:
    """The methods of these names."""
    unknown = [name for name in names if name not in METHODS]
    if unknown or not names:
        raise SettingsError(
            f"there is no method {', '.join(unknown) or 'given'}. Choose among {', '.join(METHODS)}."
        )
    return tuple(METHODS[name] for name in names)
