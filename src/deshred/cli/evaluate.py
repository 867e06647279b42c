"""`deshred evaluate`: accuracy on a collection with known answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from deshred.cli import flags
from deshred.cli.console import progress_reporter, say, say_json
from deshred.evaluation.collections import open_collection
from deshred.evaluation.protocol import EvaluationOptions, evaluate
from deshred.executors import default_executor
from deshred.settings import Settings


@flags.command(interrupted="with --cache the same command continues where it stopped")
@click.argument("collection", type=click.Path(path_type=Path))
@flags.option_flags(EvaluationOptions, "ks", "seed")
@flags.settings_flags(
    "scorer",
    "model",
    "jobs",
    "pairwise.max_shift",
    "arrangement.solver",
    "arrangement.pages",
    "arrangement.free_ends",
    "arrangement.time_limit",
)
@click.option("--documents", metavar="D001,...", help="Only these.  [default: all]")
@click.option(
    "--cache", type=flags.OutputPath(), help="A folder that keeps scores, so that a killed run can continue."
)
@flags.quiet
@flags.as_json
def command(
    collection: Path,
    options: EvaluationOptions,
    settings: Settings,
    documents: str | None,
    cache: Path | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Measure accuracy on a collection with known answers, by the published protocol.

    A document is a folder with strips/ and, where the outline is known, masks/; the last two digits of
    a file name are its true place. Without --pages, a pile is one path through all of its shreds.

    \b
    Examples:
      deshred evaluate s-isri-ocr --k 1,all
      deshred evaluate s-marques --scorer marques --solver greedy --k 1
      deshred evaluate s-cdip --documents D003,D016 --model towers-isri --json > result.json
    """
    is_open = settings.arrangement.pages == "auto" and not _was_given("arrangement_pages")
    arrangement = replace(settings.arrangement, pages=1) if is_open else settings.arrangement
    found = open_collection(collection)
    if documents is not None:
        found = found.select([name.strip() for name in documents.split(",")])
    with progress_reporter(quiet=quiet) as progress:
        result = evaluate(
            found,
            settings.load_scorer(),
            options=replace(options, arrangement=arrangement),
            cache=cache,
            executor=default_executor(settings.jobs),
            progress=progress,
        )
    if as_json:
        say_json(result.to_dict())
        return
    say(result.to_text())


def _was_given(parameter: str) -> bool:
    source = click.get_current_context().get_parameter_source(parameter)
    return source is not None and source.name != "DEFAULT"
