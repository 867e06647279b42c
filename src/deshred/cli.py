"""The command line: one subcommand per public verb, the only argument parser, the only place that catches.

Heavy modules are imported inside the commands, so that `--help` and completion are quick. Flags take
their defaults from the option dataclasses.
"""

from __future__ import annotations

import functools
import inspect
import sys
import typing
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deshred import __version__
from deshred.console import (
    exit_codes,
    figure_reporter,
    prepare_streams,
    progress_reporter,
    say,
    say_json,
    warn,
)
from deshred.errors import SettingsError
from deshred.flags import (
    DEMO,
    EVALUATION,
    PAIRWISE,
    SAMPLES,
    SHREDDING,
    TOWERS,
    AsJson,
    Background,
    Checkpointed,
    ConstraintsFile,
    Debug,
    Dpi,
    Force,
    FreeEnds,
    Inputs,
    Jobs,
    KeptSeed,
    Kind,
    MaxMegapixels,
    MaxShift,
    MinWidth,
    Model,
    ModelOutput,
    Output,
    Pages,
    Quiet,
    ReplaceModel,
    ScorerName,
    Seed,
    SettingsFile,
    Solver,
    Threads,
    TimeLimit,
    TrainingPages,
    choose_settings,
    flag_default,
    parse_flag,
)

if TYPE_CHECKING:
    from deshred.imaging.intakes import Sheet

app = typer.Typer(
    name="deshred",
    help="Put strip-shredded paper back together: scans of shreds in, readable pages out.",
    epilog="Every command has examples in its own --help. Exit codes: docs/exit-codes.md",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
train_app = typer.Typer(
    help="Train a model of your own (needs the extra deshred[train]).",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(train_app, name="train")


def _command(
    group: typer.Typer, name: str | None = None, *, interrupted: str = ""
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a command that turns errors into exit codes and has --debug.

    `interrupted` says how to go on after Ctrl-C.
    """

    def register(function: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(function)
        def run(*args: Any, debug: bool = False, **kwargs: Any) -> None:
            with exit_codes(debug=debug, interrupted=interrupted):
                function(*args, **kwargs)

        # Typer reads the wrapper's own signature, so it must be complete and free of strings.
        hints = typing.get_type_hints(function, include_extras=True)
        given = inspect.signature(function).parameters.values()
        parameters = [parameter.replace(annotation=hints[parameter.name]) for parameter in given]
        flag = inspect.Parameter("debug", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Debug)
        run.__signature__ = inspect.Signature([*parameters, flag])  # type: ignore[attr-defined]
        run.__annotations__ = {**hints, "debug": Debug}
        group.command(name)(run)
        return run

    return register


def _warn_of(sheets: Sequence[Sheet]) -> None:
    """Say what is doubtful on sheets."""
    from deshred.export.cutouts import list_warnings

    for sheet in sheets:
        for warning in list_warnings(sheet):
            warn(f"{sheet.name}: {warning}")


def _show_version(wanted: bool) -> None:
    if wanted:
        say(f"deshred {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@_command(app, interrupted="the same command goes on where it stopped")
def reconstruct(
    context: typer.Context,
    inputs: Inputs,
    output: Output,
    scorer: ScorerName,
    seed: KeptSeed,
    max_megapixels: MaxMegapixels,
    kind: Kind,
    min_width: MinWidth,
    max_shift: MaxShift,
    solver: Solver,
    pages: Pages,
    model: Model = None,
    free_ends: FreeEnds = False,
    jobs: Jobs = None,
    dpi: Dpi = None,
    background: Background = None,
    time_limit: TimeLimit = None,
    constraints: ConstraintsFile = None,
    settings: SettingsFile = None,
    force: Force = False,
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Shreds in, pages out.

    INPUT are files and folders of single shreds, of scanned sheets with many shreds, or of both; all
    together are one mixed pile. OUT gets pages/, arrangement.json and report.html; a run that was
    interrupted goes on where it stopped.

    \b
    Examples:
      deshred reconstruct scans/ -o out/
      deshred reconstruct monday/ tuesday/ -o out/ --pages 12
      deshred reconstruct sheets/*.jpg -o out/ --as sheets --background '#ff9933'
      deshred reconstruct scans/ -o out/ --constraints known.toml --force
      deshred reconstruct scans/ -o out/ --scorer marques --solver greedy --json
    """
    from deshred.export.runs import describe_run, reconstruct_into
    from deshred.store import load_constraints

    known = None if constraints is None else load_constraints(constraints)
    chosen = choose_settings(
        context,
        settings,
        scorer=scorer,
        model=model,
        seed=seed,
        jobs=jobs,
        dpi=dpi,
        max_megapixels=max_megapixels,
        kind=kind,
        background=background,
        min_width=min_width,
        max_shift=max_shift,
        solver=solver,
        pages=pages,
        free_ends=free_ends,
        time_limit=time_limit,
    )
    with progress_reporter(quiet=quiet) as progress:
        done = reconstruct_into(
            output, inputs, constraints=known, settings=chosen, force=force, progress=progress
        )
    _warn_of(done.sheets)
    if json:
        say_json(describe_run(done))
        return
    say(done.summary())
    say(f"pages:  {output / 'pages'}")
    say(f"report: {output / 'report.html'}")


@_command(app)
def segment(
    context: typer.Context,
    sheets: Annotated[list[Path], typer.Argument(metavar="SHEET", help="Scans of sheets, or folders.")],
    output: Output,
    min_width: MinWidth,
    max_megapixels: MaxMegapixels,
    dpi: Dpi = None,
    background: Background = None,
    jobs: Jobs = None,
    settings: SettingsFile = None,
    force: Force = False,
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Cut the shreds out of scanned sheets.

    OUT gets shreds/ (PNG with the outline as alpha), shreds.json, and overviews/: each sheet with
    numbered outlines, to check at a glance.

    \b
    Examples:
      deshred segment scans/ -o shreds/
      deshred segment sheet.pdf -o shreds/ --background '#ff9933'
    """
    from deshred.executors import default_executor
    from deshred.export.cutouts import describe_sheet, save_cutouts
    from deshred.imaging.intakes import load_intake
    from deshred.store import RunFolder

    chosen = choose_settings(
        context,
        settings,
        jobs=jobs,
        dpi=dpi,
        max_megapixels=max_megapixels,
        background=background,
        min_width=min_width,
    ).change("scans.kind", "sheets")
    run = RunFolder.open(output, command="segment", force=force)
    run.keep_apart(sheets)
    executor = default_executor(chosen.jobs)
    with progress_reporter(quiet=quiet) as progress:
        intake = load_intake(
            sheets,
            options=chosen.scans,
            segmentation=chosen.segmentation,
            executor=executor,
            progress=progress,
        )
        run.begin()
        save_cutouts(intake.sheets, run, executor=executor, progress=progress)
        run.finish()
    if json:
        say_json({"sheets": [describe_sheet(sheet) for sheet in intake.sheets]})
        return
    for sheet in intake.sheets:
        say(f"{sheet.name}: {len(sheet.segmentation.shreds)} shreds")
    _warn_of(intake.sheets)
    say(f"overviews: {output / 'overviews'}")


@_command(app)
def shred(
    pages: Annotated[list[Path], typer.Argument(metavar="PAGE", help="Intact pages: PDF, TIFF, PNG, JPEG.")],
    output: Output,
    shreds: Annotated[int, flag_default(SHREDDING, "shreds", help="Shreds per page.")],
    shift: Annotated[int, flag_default(SHREDDING, "shift", help="Largest vertical misalignment, in px.")],
    tilt: Annotated[float, flag_default(SHREDDING, "tilt_degrees", help="Largest tilt, in degrees.")],
    seed: Seed,
    dpi: Dpi = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Shred intact pages by simulation: ragged tears, lost paper and ink, misalignment, tilt.

    OUT gets shreds/, mixed and named at random, and truth.json with the place of each.

    \b
    Examples:
      deshred shred letter.pdf -o pile/
      deshred shred page1.png page2.png -o pile/ --shreds 40 --seed 3
      deshred reconstruct pile/ -o out/
    """
    import numpy as np

    from deshred.executors import default_executor
    from deshred.imaging.scans import ScanOptions, flatten, load_scans, name_scans, to_working_resolution
    from deshred.simulation.piles import NamedPage, save_pile, shred_pages
    from deshred.simulation.shredding import ShreddingOptions
    from deshred.store import RunFolder

    options = ShreddingOptions(shreds=shreds, shift=shift, tilt_degrees=tilt)
    run = RunFolder.open(output, command="shred", force=force)
    run.keep_apart(pages)
    executor = default_executor()
    with progress_reporter(quiet=quiet) as progress:
        scans = load_scans(pages, options=ScanOptions(dpi=dpi), executor=executor, progress=progress)
        intact = [
            NamedPage(name, to_working_resolution(replace(scan, image=flatten(scan))).image)
            for name, scan in zip(name_scans(scans), scans, strict=True)
        ]
        pile = shred_pages(intact, np.random.default_rng(seed), options=options, progress=progress)
        run.begin()
        save_pile(pile, run, executor=executor, progress=progress)
        run.finish()
    say(f"{len(pile.shreds)} shreds of {len(intact)} pages: {output / 'shreds'}")
    say(f"truth: {output / 'truth.json'}")


@_command(app)
def demo(
    seed: Annotated[int, flag_default(DEMO, "seed", min=0, help="Seed of everything random.")],
    shreds: Annotated[int, flag_default(DEMO, "shreds", help="Shreds per page.")],
    kinds: Annotated[str, flag_default(DEMO, "kinds", metavar="KIND,...", help="Pages to draw.")],
    output: Output = Path("demo"),
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Draw a few pages, shred and mix them, reconstruct them, and say how well it went.

    \b
    Examples:
      deshred demo
      deshred demo -o elsewhere/ --seed 5
      deshred demo -o forms/ --kinds form,invoice,table --shreds 40
    """
    from deshred.evaluation.demo import DemoOptions, run_demo
    from deshred.export.runs import reconstruct_into

    with progress_reporter(quiet=quiet) as progress:
        result = run_demo(
            output,
            reconstruct_into=reconstruct_into,
            options=DemoOptions(kinds=tuple(kinds.split(",")), seed=seed, shreds=shreds),  # type: ignore[arg-type]
            force=force,
            progress=progress,
        )
    say(result.reconstruction.summary())
    say(result.summary())
    say(f"shreds: {result.pile / 'shreds'}")
    say(f"pages:  {result.run / 'pages'}")
    say(f"report: {result.run / 'report.html'}")


@_command(app)
def arrange(
    context: typer.Context,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="compatibility.npz of a run, or an .atsp file.")
    ],
    solver: Solver,
    pages: Pages,
    free_ends: FreeEnds = False,
    time_limit: TimeLimit = None,
    constraints: ConstraintsFile = None,
    settings: SettingsFile = None,
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Find the order alone, from scores that are there already.

    FILE holds scores (.npz, as every run keeps them) or is a TSPLIB instance (.atsp), which asks for
    the shortest round trip.

    \b
    Examples:
      deshred arrange out/compatibility.npz
      deshred arrange out/compatibility.npz --pages 1 --time-limit 60 --json
      deshred arrange ftv33.atsp
    """
    from deshred.arrangement import ClosedTour, arrange_atsp, read_atsp
    from deshred.arrangement import arrange as find_order
    from deshred.elements import Arrangement, Constraints
    from deshred.store import load_compatibility, load_constraints

    known = Constraints() if constraints is None else load_constraints(constraints)
    chosen = choose_settings(
        context, settings, solver=solver, pages=pages, free_ends=free_ends, time_limit=time_limit
    ).arrangement
    found: Arrangement | ClosedTour
    with progress_reporter(quiet=quiet) as progress:
        if file.suffix.lower() == ".atsp":
            if known:
                raise SettingsError("--constraints are for shreds; a TSPLIB instance takes none.")
            found = arrange_atsp(read_atsp(file), time_limit=chosen.time_limit, progress=progress)
            order = [[str(city + 1) for city in found.cities]]  # TSPLIB counts from 1
        else:
            found = find_order(load_compatibility(file), known, options=chosen, progress=progress)
            order = [[slot.shred_id for slot in page] for page in found.pages]
    if json:
        proof = {"cost": found.cost, "bound": found.bound, "gap": found.gap, "optimal": found.is_optimal}
        say_json({"pages": order, **proof})
        return
    for number, page in enumerate(order, 1):
        say(f"page {number}: {' '.join(page)}")
    verdict = "proven optimal" if found.is_optimal else "not proven optimal"
    say(f"cost {found.cost:.10g}, bound {found.bound:.10g}, gap {found.gap:.3g}: {verdict}")


@_command(app, interrupted="with --cache the same command goes on where it stopped")
def evaluate(
    collection: Annotated[Path, typer.Argument(metavar="COLLECTION", help="A folder of documents.")],
    scorer: ScorerName,
    k: Annotated[
        str, flag_default(EVALUATION, "ks", metavar="1,5,all", help="How many documents are mixed.")
    ],
    seed: Annotated[int, flag_default(EVALUATION, "seed", min=0, help="Seed of the sequence of documents.")],
    solver: Annotated[str, flag_default(EVALUATION, "arrangement.solver", metavar="exact|greedy")],
    pages: Annotated[str, flag_default(EVALUATION, "arrangement.pages", help="1 is one path through all.")],
    max_shift: MaxShift,
    documents: Annotated[
        str | None, typer.Option(metavar="D001,...", help="Only these.  [default: all]")
    ] = None,
    model: Model = None,
    free_ends: FreeEnds = False,
    time_limit: TimeLimit = None,
    jobs: Jobs = None,
    cache: Annotated[Path | None, typer.Option(help="A folder to keep scores in, to resume.")] = None,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Save the result as JSON.")] = None,
    quiet: Quiet = False,
) -> None:
    """Measure accuracy on a collection with known answers, by the published protocol.

    A document is a folder with strips/ and, where the outline is known, masks/; the last two digits of
    a file name are its true place.

    \b
    Examples:
      deshred evaluate s-isri-ocr --k 1,all
      deshred evaluate s-marques --scorer marques --solver greedy --k 1
      deshred evaluate s-cdip --documents D003,D016 --model towers-isri --json result.json
    """
    from dataclasses import replace

    from deshred.compatibility.pairwise.scorer import PairwiseOptions
    from deshred.compatibility.scorers import load_scorer
    from deshred.evaluation.collections import open_collection
    from deshred.evaluation.protocol import EvaluationOptions, parse_ks
    from deshred.evaluation.protocol import evaluate as measure
    from deshred.executors import default_executor
    from deshred.store import to_json, write_atomically

    defaults = EvaluationOptions()
    options = replace(
        defaults,
        ks=parse_ks(k),
        seed=seed,
        arrangement=replace(
            defaults.arrangement,
            solver=solver,
            pages=parse_flag("pages", pages),
            free_ends=free_ends,
            time_limit=time_limit,
        ),
    )
    found = open_collection(collection)
    if documents is not None:
        found = found.select([name.strip() for name in documents.split(",")])
    with progress_reporter(quiet=quiet) as progress:
        result = measure(
            found,
            load_scorer(scorer, model, pairwise=PairwiseOptions(max_shift=max_shift), threads=jobs or 0),
            options=options,
            cache=cache,
            executor=default_executor(jobs),
            progress=progress,
        )
    if json is not None:
        write_atomically(json, to_json(result.to_dict()).encode())
    say(result.to_text())


@_command(app)
def explain(
    run: Annotated[Path, typer.Argument(metavar="OUT", help="The folder of a finished reconstruct.")],
    page: Annotated[int, typer.Option(help="Number of the page.")] = 1,
    model: Annotated[
        str | None,
        typer.Option(help="A pairwise model: a file, or the name of a shipped one."),
    ] = None,
    jobs: Jobs = None,
    quiet: Quiet = False,
) -> None:
    """Show where the network of the paper says that joins fit (green) and do not (red).

    \b
    Examples:
      deshred explain out/
      deshred explain out/ --page 3 --model pairwise-cdip
    """
    from deshred.compatibility.pairwise.scorer import PairwiseScorer
    from deshred.executors import default_executor
    from deshred.export.explanations import explain_run

    scorer = PairwiseScorer(threads=jobs or 0) if model is None else PairwiseScorer(model, threads=jobs or 0)
    with progress_reporter(quiet=quiet) as progress:
        picture = explain_run(run, page, scorer, executor=default_executor(jobs), progress=progress)
    say(str(picture))


@_command(app)
def models(json: AsJson = False) -> None:
    """List the shipped models with their cards.

    \b
    Examples:
      deshred models
      deshred reconstruct scans/ -o out/ --scorer towers --model towers-default
    """
    from deshred.compatibility.models import list_models

    shipped = list_models()
    if json:
        say_json({"models": [{"name": one.name, "path": one.path, "card": one.card} for one in shipped]})
        return
    for one in shipped:
        say(f"{one.name}  ({one.path.stat().st_size / 1e6:.1f} MB)")
        for line in one.card.strip().splitlines():
            say(f"  {line}" if line else "")
        say("")


@_command(app)
def doctor(json: AsJson = False) -> None:
    """Check the installation: what is there, what is missing and how to get it, a tiny reconstruction.

    \b
    Examples:
      deshred doctor
      deshred doctor --json
    """
    from deshred.doctor import examine

    diagnosis = examine()
    if json:
        say_json(diagnosis.to_dict())
    else:
        say(diagnosis.to_text())
    if not diagnosis.is_well:
        raise SystemExit(1)


@_command(train_app, "pairwise", interrupted="go on from the last checkpoint with --resume")
def train_pairwise(
    pages: TrainingPages,
    output: ModelOutput,
    epochs: Annotated[int, flag_default(PAIRWISE, "epochs")],
    batch: Annotated[int, flag_default(PAIRWISE, "batch")],
    seed: Annotated[int, flag_default(PAIRWISE, "seed", min=0)],
    threads: Threads,
    max_positives: Annotated[
        int, flag_default(SAMPLES, "max_positives", help="Windows of true joins per page and epoch, at most.")
    ],
    min_ink: Annotated[float, flag_default(SAMPLES, "min_ink", help="Least share of ink in a window.")],
    faint_share: Annotated[
        float, flag_default(SAMPLES, "faint_share", help="Share of windows drawn with any ink or none.")
    ],
    rows: Annotated[int, flag_default(SAMPLES, "rows", help="Height of a window: 32 or 64 px.")],
    columns: Annotated[int, flag_default(SAMPLES, "columns", help="Width of a window: 32 or 64 px.")],
    learning_rate: Annotated[
        float | None, typer.Option(help="Peak; 0.002, 0.0001 from ImageNet weights, 0.001 from a model.")
    ] = None,
    init: Annotated[
        Path | None,
        typer.Option(help="ImageNet weights in torchvision's format, or a pairwise model to go on from."),
    ] = None,
    resume: Checkpointed = False,
    force: ReplaceModel = False,
    quiet: Quiet = False,
) -> None:
    """Train the network of the paper, which judges one join at a time.

    \b
    Examples:
      deshred train pairwise pages/ -o mine.onnx
      deshred train pairwise pages/ -o mine.onnx --epochs 3 --seed 7 --resume
      deshred reconstruct scans/ -o out/ --scorer pairwise --model mine.onnx
    """
    from deshred.compatibility.pairwise.samples import SampleOptions
    from deshred.compatibility.pairwise.training import PairwiseTask, PairwiseTrainingOptions
    from deshred.compatibility.training import TrainingOptions, train
    from deshred.simulation.intact import load_intact

    training = PairwiseTrainingOptions(
        epochs=epochs, batch=batch, learning_rate=learning_rate, seed=seed, init=init
    )
    samples = SampleOptions(
        max_positives=max_positives, min_ink=min_ink, faint_share=faint_share, rows=rows, columns=columns
    )
    with progress_reporter(quiet=quiet) as progress:
        intact = load_intact(pages, progress=progress)
        task = PairwiseTask(intact, options=samples, training=training)
        if init is not None:
            say(f"initial weights: {init}, SHA-256 {task.identity['training']['init']}")
        options = TrainingOptions(seed=seed, threads=threads)
        train(task, output, options=options, resume=resume, force=force, report=figure_reporter(progress))
    say(f"model: {output}")


@_command(train_app, "towers", interrupted="go on from the last checkpoint with --resume")
def train_towers(
    pages: TrainingPages,
    output: ModelOutput,
    steps: Annotated[int, flag_default(TOWERS, "steps")],
    seed: Annotated[int, flag_default(TOWERS, "seed", min=0)],
    threads: Threads,
    init: Annotated[str | None, typer.Option(metavar="MODEL", help="Start from a trained model.")] = None,
    drawn: Annotated[int, typer.Option(metavar="N", min=0, help="Add so many pages drawn by deshred.")] = 0,
    resume: Checkpointed = False,
    force: ReplaceModel = False,
    quiet: Quiet = False,
) -> None:
    """Train the towers, which look at every edge once and judge all joins by matrix products.

    \b
    Examples:
      deshred train towers pages/ -o mine.onnx
      deshred train towers pages/ -o mine.onnx --steps 8000 --init towers-default
      deshred reconstruct scans/ -o out/ --model mine.onnx
    """
    import numpy as np

    from deshred.compatibility.fitting import calibrate, write_calibration
    from deshred.compatibility.towers.network import TowerTask, TowerTrainingOptions, load_weights
    from deshred.compatibility.training import TrainingOptions, train
    from deshred.simulation.intact import draw_intact, load_intact

    training = TowerTrainingOptions(steps=steps, seed=seed)
    weights = None if init is None else load_weights(init)
    with progress_reporter(quiet=quiet) as progress:
        intact = load_intact(pages, progress=progress)
        intact += draw_intact(drawn, np.random.default_rng(seed), progress=progress)
        task = TowerTask(intact, training=training, init=weights)
        options = TrainingOptions(seed=seed, threads=threads)
        train(
            task,
            output,
            options=options,
            resume=resume,
            average=training.average,
            refine=lambda model: write_calibration(model, calibrate(model, task.validation_pages, seed=seed)),
            force=force,
            report=figure_reporter(progress),
        )
    say(f"model: {output}")


def main() -> None:
    """The entry point of the command `deshred`."""
    prepare_streams()
    with exit_codes(debug=False):  # looking up defaults can fail before a command runs
        if "" in sys.argv[1:]:  # as paths, it would be the folder one stands in
            raise SettingsError('an argument is empty; is "$VARIABLE" not set? Give a file or folder, or "."')
        app()
