"""`deshred experiment ...`: the paper's evaluation, one command each."""

from __future__ import annotations

from deshred.cli import LazyGroup

command = LazyGroup(
    package="deshred.cli.experiments",
    summaries={
        "incremental": "Accuracy as more and more documents are mixed.",
        "ablation": "What each choice of the paper and of our own scorer is worth.",
        "comparison": "All scorers and solvers on the same piles: accuracy and time.",
        "feedback": "A person in the loop: accuracy against questions asked.",
    },
    name="experiment",
    help="Repeat an experiment from the paper on collections with known answers (needs deshred[plots]).",
)
