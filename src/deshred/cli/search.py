"""`deshred search`: look for words."""

from __future__ import annotations

from pathlib import Path

import click

from deshred.cli import flags
from deshred.cli.console import progress_reporter, say, say_json
from deshred.executors import MOST_JOBS
from deshred.export.finding import save_cutouts, search_all
from deshred.export.material import ExportOptions
from deshred.export.searching import SearchOptions
from deshred.reading import ReadingOptions


@flags.command()
@click.argument("cases", metavar="CASE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.argument("query")
@flags.option_flags(SearchOptions, "exact", "most", into="search_options")
@flags.option_flags(ReadingOptions, "engine", "language", "tessdata", "as_it_is", into="reading")
@flags.option_flags(ExportOptions, "copy", into="options")
@click.option(
    "--jobs", type=click.IntRange(1, MOST_JOBS), help="Pages to read at a time.  [default: all processors]"
)
@click.option(
    "-o", "--output", metavar="DEST", type=flags.OutputPath(), help="A folder for a picture of every hit."
)
@flags.force
@flags.quiet
@flags.as_json
def command(
    cases: tuple[Path, ...],
    query: str,
    search_options: SearchOptions,
    reading: ReadingOptions,
    options: ExportOptions,
    jobs: int | None,
    output: Path | None,
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Look for words in finished cases, or in exports that have a record (--as json).

    Longer words may have a wrong letter; case and accents never matter. Finding nothing
    does not prove that a word is not there.

    \b
    Examples:
      deshred search out/ invoice
      deshred search delivery/ "bank account" --exact
      deshred search delivery/ invoice -o hits/
      deshred search case-1/ case-2/ case-3/ invoice
    """
    with progress_reporter(quiet=quiet) as progress:
        found = search_all(
            cases,
            query,
            options=search_options,
            copy=options.copy,
            reading=reading,
            jobs=jobs,
            progress=progress,
        )
    if output is not None:
        save_cutouts(found, output, force=force)
    if as_json:
        say_json(found.to_dict())
        return
    say(found.to_text())
    if output is not None:
        say(f"pictures: {output}")
