"""`deshred review`: a person in the loop, in the browser."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import click

from deshred.cli import flags
from deshred.cli.console import progress_reporter, say, say_json
from deshred.review.server import ReviewOptions, serve


@flags.command(interrupted="every answer is kept; the same command continues")
@flags.case
@flags.option_flags(ReviewOptions, "port", "merge", "stay")
@click.option("--no-browser", is_flag=True, help="Only print the link.")
@flags.quiet
@flags.as_json
def command(case: Path, options: ReviewOptions, no_browser: bool, quiet: bool, as_json: bool) -> None:
    """Check a finished case in the browser: answer questions and correct mistakes.

    Nothing leaves the computer, and there is nothing to save: every answer is kept at once. Ctrl-C ends it.

    \b
    Examples:
      deshred review out/
      deshred review out/ --port 8765
      deshred review out/ --merge copy-of-ann/
    """
    with progress_reporter(quiet=quiet) as progress:
        chosen = replace(options, open_browser=not no_browser)
        served = serve(case, options=chosen, announce=say, progress=progress)
    if as_json:
        merged = served.merged and asdict(served.merged)
        say_json({"events": served.events, "merged": merged, "head": served.head})
        return
    if served.merged is not None:
        agreed = f"{served.merged.agreement.agreed} of {served.merged.agreement.shared}"
        say(f"{served.merged.events} events merged, {served.merged.disputes} disputes; agreed on {agreed}")
    say(f"{served.events} events in the journal; its head: {served.head}")
