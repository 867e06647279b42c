"""Experiment 2: what each choice is worth. One factor at a time, of the paper's network and of our scorer.

Networks that a factor needs are trained with a budget of steps, kept in `models/` by their options, and used
again. With no steps the shipped models serve, and factors that need a training are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from deshred.compatibility.models import open_model
from deshred.errors import InputError, SettingsError
from deshred.evaluation.collections import Collection
from deshred.evaluation.experiments.instances import ExperimentOptions, open_documents
from deshred.evaluation.experiments.page import Outcome, write_outcome
from deshred.evaluation.experiments.plots import import_pyplot, plot_ablation
from deshred.evaluation.experiments.raw import Entry, RawResults
from deshred.evaluation.experiments.variants import (
    Training,
    Variant,
    list_own_variants,
    list_paper_variants,
    require_training,
    train_variant,
)
from deshred.evaluation.protocol import EvaluationOptions, evaluate
from deshred.executors import Progress, default_executor
from deshred.options import option

_PAGES = {"s-cdip": "isri-ocr"}  # cross-database; all others learn from CDIP pages
_SHIPPED = {"isri-ocr": "isri", "cdip": "cdip"}


@dataclass(frozen=True, kw_only=True)
class AblationOptions(ExperimentOptions):
    """The budget: steps of each training, how many documents are mixed, and how many there are at all."""

    # the paper: 10 epochs, about 7,000 steps on CDIP pages
    steps: int = option(0, "Steps of each training; 0 measures shipped models only.")
    ks: tuple[int, ...] = option((1, 2, 3, 4, 5), "How many documents are mixed.", metavar="N,...")
    factors: tuple[str, ...] = option(
        (), "What is varied; single values as NAME=VALUE.", metavar="NAME,...", shown="everything"
    )
    max_shift: int = option(
        10, "How many px shreds are moved while sample and rho_black vary; fewer take less time."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if min(self.steps, self.max_shift) < 0 or any(k < 1 for k in self.ks):
            raise SettingsError(
                f"steps and max_shift must be at least 0 and ks at least 1, got {self.steps}, "
                f"{self.max_shift} and {self.ks}."
            )
        variants = list_variants()
        known = dict.fromkeys(variant.factor for variant in variants)
        unknown = [name for name in self.factors if not any(variant.is_called(name) for variant in variants)]
        if unknown:
            raise SettingsError(f"there is no factor {', '.join(unknown)}. Choose among {', '.join(known)}.")


def list_variants(max_shift: int = 10) -> list[Variant]:
    """All values of all factors."""
    return [*list_paper_variants(max_shift), *list_own_variants()]


def ablation(
    collections: Sequence[Path],
    out: Path,
    *,
    pages: Path | None = None,
    options: AblationOptions | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Run what `out` does not hold yet; `pages` holds the folders `cdip` and `isri-ocr` to train on."""
    options = options or AblationOptions()
    if options.steps and (pages is None or not pages.is_dir()):
        told = "none were given" if pages is None else f"{pages} is not a folder"
        raise InputError(
            f"training needs intact pages, and {told}. Give --pages a folder with cdip/ and isri-ocr/, or "
            "use --steps 0."
        )
    import_pyplot()  # hours of work should not end without it
    if options.steps:
        require_training()
    raw = RawResults(out, "ablation", again=options.again)
    for folder, seed in product(collections, options.seeds):
        collection = open_documents(folder, seed, options.documents)
        for variant in list_variants(options.max_shift):
            if _is_asked(variant, options):
                _measure(collection, variant, seed, raw, out, pages, options, progress)
    return show_ablation(raw, out)


def show_ablation(raw: RawResults, out: Path) -> Outcome:
    """Tables, plots and the page."""
    plot_ablation(list(raw), out / "ablation.png")
    return write_outcome(raw)


def _is_asked(variant: Variant, options: AblationOptions) -> bool:
    if options.factors and not any(map(variant.is_called, options.factors)):
        return False
    return options.steps > 0 or variant.training is None or _is_shipped(variant.training)


def _is_shipped(training: Training) -> bool:
    """Whether a shipped model was trained like this."""
    return training == Training(samples=type(training.samples)()) if training.samples else False


def _measure(
    collection: Collection,
    variant: Variant,
    seed: int,
    raw: RawResults,
    out: Path,
    pages: Path | None,
    options: AblationOptions,
    progress: Progress | None,
) -> None:
    ks = tuple(k for k in options.ks if k <= len(collection))
    ks = tuple(k for k in ks if k == 1) if variant.factor.endswith("k = 1") else ks
    steps = options.steps if variant.training is not None else 0
    shift = options.max_shift if variant.factor in ("sample", "rho_black") else None
    head = f"{collection.name} ({len(collection)}) {variant.factor}={variant.value} steps={steps}"
    head += "" if shift in (None, 10) else f" shift={shift}"
    # a trained model is named by its options, a shipped one may be replaced
    shipped = None if steps or variant.value == "outline" else _find_shipped(collection, variant)
    sha256 = None if shipped is None else open_model(shipped, shipped.partition("-")[0]).sha256
    missing = tuple(k for k in ks if not raw.has(f"{head} k={k} seed={seed}", model=sha256))
    if not missing:
        return
    model = _find_model(collection, variant, out, pages, options, progress)
    result = evaluate(
        collection,
        variant.build(model),
        options=EvaluationOptions(ks=missing, seed=seed, arrangement=variant.arrangement),
        cache=out / "scores",
        executor=default_executor(options.jobs),
        progress=progress,
    )
    for k in missing:
        entry: Entry = {
            "collection": collection.name,
            "documents": len(collection),
            "factor": variant.factor,
            "value": variant.value,
            "steps": steps,
            "shift": shift,
            "k": k,
            "seed": seed,
            "model": Path(model).name,
            **result[k].to_dict(),
        }
        raw.keep(f"{head} k={k} seed={seed}", entry, model=sha256)


def _find_shipped(collection: Collection, variant: Variant) -> str:
    family = "towers" if variant.training is None else variant.training.family
    return f"{family}-{_SHIPPED[_PAGES.get(collection.name, 'cdip')]}"


def _find_model(
    collection: Collection,
    variant: Variant,
    out: Path,
    pages: Path | None,
    options: AblationOptions,
    progress: Progress | None,
) -> Path | str:
    training = variant.training
    if training is None or not options.steps:
        return _find_shipped(collection, variant)
    assert pages is not None
    source = _PAGES.get(collection.name, "cdip")
    return train_variant(
        training,
        pages / source,
        out / "models" / training.name(source, options.steps),
        steps=options.steps,
        threads=options.jobs or 0,
        progress=progress,
    )
