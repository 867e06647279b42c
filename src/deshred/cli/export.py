"""`deshred export`: what people take away."""

from __future__ import annotations

from pathlib import Path

import click

from deshred.cli import flags
from deshred.cli.console import progress_reporter, say, say_json
from deshred.executors import MOST_JOBS
from deshred.export.casefiles import CaseFacts, read_case_facts
from deshred.export.exporting import export
from deshred.export.material import FORMATS, ExportOptions
from deshred.reading import ReadingOptions


@flags.command(interrupted="the same command continues where it stopped")
@flags.case
@click.option(
    "-o", "--output", metavar="DEST", required=True, type=flags.OutputPath(), help="The folder to write."
)
@click.option(
    "--as",
    "formats",
    metavar="FORMAT,...",
    default="pdf",
    show_default=True,
    help=f"Any of {', '.join(FORMATS)}.",
)
@flags.option_flags(ReadingOptions, "engine", "language", "tessdata", "as_it_is", into="reading")
@flags.option_flags(
    ExportOptions,
    "copy",
    "pages",
    "images",
    "pdfa",
    "split",
    "multipage",
    "mark",
    "prefix",
    "start",
    "digits",
    "custodian",
    "base_url",
    "terms",
    "headings",
    "operator",
    "with_inputs",
)
@click.option(
    "--case",
    "facts",
    metavar="TOML",
    type=click.Path(path_type=Path),
    help="report: what is known about the case; see docs/exports.md.",
)
@click.option(
    "--jobs", type=click.IntRange(1, MOST_JOBS), help="Pages to read at a time.  [default: all processors]"
)
@flags.force
@flags.quiet
@flags.as_json
def command(
    case: Path,
    output: Path,
    formats: str,
    reading: ReadingOptions,
    options: ExportOptions,
    facts: Path | None,
    jobs: int | None,
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Write the pages, text and reports of a finished case into a folder to hand over.

    CASE is the folder of a finished reconstruct; it is not changed.

    \b
    Examples:
      deshred export out/ -o delivery/
      deshred export out/ -o delivery/ --as pdf,text,csv --language eng+por
      deshred export out/ -o sealed/ --as pdf,json,report,bag --case case.toml
    """
    with progress_reporter(quiet=quiet) as progress:
        done = export(
            case,
            output,
            formats=tuple(name.strip() for name in formats.split(",") if name.strip()),
            options=options,
            reading=reading,
            facts=CaseFacts() if facts is None else read_case_facts(facts),
            command=flags.tell_command(),
            jobs=jobs,
            force=force,
            progress=progress,
        )
    if as_json:
        say_json(done.to_dict())
        return
    say(done.to_text())
