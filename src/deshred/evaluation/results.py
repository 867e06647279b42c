"""What an evaluation found: accuracies per k, seconds per stage, and how it was done; as JSON and as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from deshred.compatibility.contract import ScorerCard
from deshred.evaluation.metrics import Mean, PageMetrics, Reliability, average
from deshred.versions import installed_versions


@dataclass(frozen=True)
class InstanceResult:
    """One mixed pile, solved."""

    documents: tuple[str, ...]
    shreds: int
    accuracy: float
    whole: int  # documents that stand complete and in sequence
    optimal: bool
    gap: float
    pages: PageMetrics | None = None  # where the answer may have several pages


@dataclass(frozen=True)
class KResult:
    """All instances that mix k documents."""

    k: str  # a number, or "all"
    instances: tuple[InstanceResult, ...]
    reliability: Reliability | None = None  # of the joins used, where the scorer gives probabilities

    @property
    def mean(self) -> Mean:
        """Mean accuracy over the instances."""
        return average([instance.accuracy for instance in self.instances])

    @property
    def whole(self) -> int:
        """How many documents stand complete and in sequence, over all instances."""
        return sum(instance.whole for instance in self.instances)

    @property
    def documents(self) -> int:
        """How many documents there are, over all instances."""
        return sum(len(instance.documents) for instance in self.instances)

    @property
    def optimal(self) -> int:
        """How many orders are proven to be the best for their scores."""
        return sum(instance.optimal for instance in self.instances)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        content: dict[str, Any] = {
            "mean": self.mean.value,
            "ci95": self.mean.margin,
            "whole": self.whole,
            "instances": [_without_none(asdict(instance)) for instance in self.instances],
        }
        if self.reliability is not None:
            content["reliability"] = asdict(self.reliability)
        return content


@dataclass(frozen=True)
class EvaluationResult:
    """An evaluation of one scorer on one collection."""

    collection: str
    kinds: Mapping[str, str | None]  # of the documents, in the random sequence that was used
    shreds: int
    blank: int  # dropped before solving
    accuracy: tuple[KResult, ...]
    seconds: Mapping[str, float]
    scorer: ScorerCard
    settings: Mapping[str, Any]

    def __getitem__(self, k: int | str) -> KResult:
        """The result for one k."""
        return next(result for result in self.accuracy if result.k == str(k))

    def by_kind(self) -> dict[str, Mean]:
        """Mean accuracy at k = 1 for each kind of document, where kinds are known."""
        found: dict[str, list[float]] = {}
        for result in self.accuracy:
            for instance in result.instances if result.k == "1" else ():
                kind = self.kinds[instance.documents[0]]
                if kind is not None:
                    found.setdefault(kind, []).append(instance.accuracy)
        return {kind: average(values) for kind, values in sorted(found.items())}

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "collection": self.collection,
            "documents": list(self.kinds),
            "shreds": self.shreds,
            "blank": self.blank,
            "accuracy": {result.k: result.to_dict() for result in self.accuracy},
            "kinds": {kind: mean.value for kind, mean in self.by_kind().items()},
            "seconds": dict(self.seconds),
            "scorer": self.scorer.name,
            "model": (
                {"name": self.scorer.model, "sha256": self.scorer.model_sha256} if self.scorer.model else None
            ),
            "fingerprint": self.scorer.fingerprint,
            "settings": dict(self.settings),
            "versions": installed_versions(),
        }

    def to_text(self) -> str:
        """Tables to print: every k, every document at k = 1, seconds."""
        model = "" if self.scorer.model is None else f", model {self.scorer.model}"
        pile = f"{len(self.kinds)} documents, {self.shreds} shreds, {self.blank} blank dropped"
        lines = [
            f"{self.collection}: {pile}; scorer {self.scorer.name}{model}",
            "",
            f"{'k':>4}  {'instances':>9}  {'accuracy %':>15}  {'whole documents':>15}  {'proven':>6}",
        ]
        lines += [
            f"{result.k:>4}  {len(result.instances):>9}  {_percent(result.mean):>15}  "
            f"{f'{result.whole} of {result.documents}':>15}  {result.optimal:>6}"
            for result in self.accuracy
        ]
        lines += self._document_lines()
        total = sum(self.seconds.values())
        stages = ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in self.seconds.items())
        return "\n".join([*lines, "", f"{total:.1f} s: {stages}"])

    def _document_lines(self) -> list[str]:
        single = [instance for result in self.accuracy if result.k == "1" for instance in result.instances]
        lines = [""] if single else []
        for instance in sorted(single, key=lambda instance: instance.documents):
            name = instance.documents[0]
            line = f"{name}  {100 * instance.accuracy:6.1f} %  {instance.shreds:3d} shreds"
            lines.append(f"{line}  {self.kinds[name] or ''}".rstrip())
        return lines


def _percent(mean: Mean) -> str:
    margin = "" if mean.margin is None else f" ± {100 * mean.margin:.1f}"
    return f"{100 * mean.value:.1f}{margin}"


def _without_none(content: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in content.items() if value is not None}
