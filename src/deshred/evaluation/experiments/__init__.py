"""The paper's experiments, one function each: collections in; raw results, tables, plots and a page out."""

from deshred.evaluation.experiments.ablation import AblationOptions, ablation
from deshred.evaluation.experiments.comparison import ComparisonOptions, comparison
from deshred.evaluation.experiments.feedback import FeedbackOptions, feedback
from deshred.evaluation.experiments.incremental import IncrementalOptions, incremental
from deshred.evaluation.experiments.page import Outcome

__all__ = [
    "AblationOptions",
    "ComparisonOptions",
    "FeedbackOptions",
    "IncrementalOptions",
    "Outcome",
    "ablation",
    "comparison",
    "feedback",
    "incremental",
]
