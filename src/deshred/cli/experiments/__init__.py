"""The commands below `deshred experiment`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deshred.cli.console import say, say_json

if TYPE_CHECKING:
    from deshred.evaluation.experiments.page import Outcome


def tell(outcome: Outcome, *, as_json: bool) -> None:
    """Say what an experiment wrote."""
    if as_json:
        say_json({"raw": outcome.raw, "tables": outcome.markdown, "page": outcome.page})
        return
    say(outcome.to_text())
    say(f"page: {outcome.page}")
