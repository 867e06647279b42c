"""`deshred shred`: shred intact pages by simulation."""

from __future__ import annotations

from pathlib import Path

from deshred.cli import flags
from deshred.cli.console import progress_reporter, say, say_json
from deshred.imaging.scans import ScanOptions
from deshred.simulation.piles import shred_into
from deshred.simulation.shredding import ShreddingOptions


@flags.command()
@flags.inputs
@flags.output
@flags.option_flags(ShreddingOptions, "shreds", "shift", "tilt_degrees")
@flags.option_flags(ScanOptions, "dpi", into="scans")
@flags.seed
@flags.force
@flags.quiet
@flags.as_json
def command(
    inputs: tuple[Path, ...],
    output: Path,
    options: ShreddingOptions,
    scans: ScanOptions,
    seed: int,
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Simulate shredding intact pages: ragged tears, lost paper and ink, misalignment, tilt.

    Each INPUT is a PDF, TIFF, PNG or JPEG of whole pages. OUT gets shreds/, mixed and named at random, and
    truth.json, which says where each shred belongs.

    \b
    Examples:
      deshred shred letter.pdf -o pile/
      deshred shred page1.png page2.png -o pile/ --shreds 40 --seed 3
      deshred reconstruct pile/ -o out/
    """
    with progress_reporter(quiet=quiet) as progress:
        pile = shred_into(
            output, inputs, options=options, scans=scans, seed=seed, force=force, progress=progress
        )
    pages = len(pile.truth.documents)
    if as_json:
        say_json({"shreds": len(pile.shreds), "pages": pages, "folder": output / "shreds"})
        return
    say(f"{len(pile.shreds)} shreds of {pages} pages: {output / 'shreds'}")
    say(f"truth: {output / 'truth.json'}")
