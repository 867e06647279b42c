"""`deshred train pairwise` and `deshred train towers`: models of your own."""

from __future__ import annotations

from deshred.cli import LazyGroup

command = LazyGroup(
    package="deshred.cli.training",
    summaries={
        "towers": "Train the towers, which look at every edge once.",
        "pile": "Teach a model on the shreds of a pile.",
        "pairwise": "Train the network of the paper, which judges one join at a time.",
    },
    name="train",
    help="Train a model of your own (needs the extra deshred[train]).",
)
