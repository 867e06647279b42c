"""`deshred segment`: cut the shreds out of scanned sheets."""

from __future__ import annotations

from pathlib import Path

from deshred.cli import flags
from deshred.cli.console import progress_reporter, say, say_json, warn_of_sheets
from deshred.export.cutouts import describe_sheet, segment_into
from deshred.settings import Settings


@flags.command()
@flags.inputs
@flags.output
@flags.settings_flags(
    "jobs",
    "budget.memory_gb",
    "scans.dpi",
    "scans.max_megapixels",
    "segmentation.background",
    "segmentation.min_width_mm",
)
@flags.force
@flags.quiet
@flags.as_json
def command(
    inputs: tuple[Path, ...], output: Path, settings: Settings, force: bool, quiet: bool, as_json: bool
) -> None:
    """Cut the shreds out of scanned sheets.

    OUT gets shreds/ (PNG with the outline as alpha), shreds.json, and overviews/: each sheet with
    numbered outlines, to check at a glance.

    \b
    Examples:
      deshred segment scans/ -o shreds/
      deshred segment sheet.pdf -o shreds/ --background '#ff9933'
    """
    with progress_reporter(quiet=quiet) as progress:
        sheets = segment_into(output, inputs, settings=settings, force=force, progress=progress)
    if as_json:
        say_json({"sheets": [describe_sheet(sheet) for sheet in sheets]})
        return
    for sheet in sheets:
        count = len(sheet.segmentation.shreds)
        say(f"{sheet.name}: {count} {'shred' if count == 1 else 'shreds'}")
    warn_of_sheets(sheets)
    say(f"overviews: {output / 'overviews'}")
