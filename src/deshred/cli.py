"""The command line: one subcommand per public verb, the only argument parser, the only place that catches.

Heavy modules are imported inside the commands, so that `--help` and completion are quick. Flags take
their defaults from the option dataclasses.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import typing
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deshred import __version__
from deshred.console import exit_codes, progress_reporter, say, say_json, warn
from deshred.errors import MissingDependencyError

if TYPE_CHECKING:
    from deshred.settings import Settings

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

# Flag -> the setting that it overrides, and where its default comes from.
FLAGS = {
    "scorer": "scorer",
    "model": "model",
    "seed": "seed",
    "jobs": "jobs",
    "dpi": "scans.dpi",
    "max_megapixels": "scans.max_megapixels",
    "kind": "scans.kind",
    "background": "segmentation.background",
    "min_width": "segmentation.min_width_mm",
    "solver": "arrangement.solver",
    "pages": "arrangement.pages",
    "time_limit": "arrangement.time_limit",
}
SETTINGS = "deshred.settings:Settings"
EVALUATION = "deshred.evaluation.experiments:EvaluationOptions"
SHREDDING = "deshred.compatibility.shredding:ShreddingOptions"
PAIRWISE = "deshred.compatibility.pairwise_training:PairwiseTrainingOptions"
TOWERS = "deshred.compatibility.tower_network:TowerTrainingOptions"


class Default:
    """The default of a flag: an option of a dataclass, looked up when it is needed and not before."""

    def __init__(self, options: str, key: str) -> None:
        self.options = options
        self.key = key

    def __call__(self) -> Any:
        module, name = self.options.split(":")
        options = getattr(importlib.import_module(module), name)()
        value = functools.reduce(getattr, self.key.split("."), options)
        return ",".join(map(str, value)) if isinstance(value, tuple) else value

    def __str__(self) -> str:
        try:
            return str(self())
        except MissingDependencyError:
            return "shown when deshred[train] is installed"


def _option(options: str, key: str, *declarations: str, **others: Any) -> Any:
    return typer.Option(*declarations, default_factory=Default(options, key), **others)


def _flag(name: str, *declarations: str, **others: Any) -> Any:
    return _option(SETTINGS, FLAGS[name], *declarations, **others)


Inputs = Annotated[
    list[Path], typer.Argument(metavar="INPUT...", help="Files or folders: PNG, JPEG, TIFF, WebP, PDF.")
]
Output = Annotated[Path, typer.Option("-o", "--output", metavar="OUT", help="The folder to write.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a folder that deshred itself has written.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No progress.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
SettingsFile = Annotated[
    Path | None, typer.Option("--settings", metavar="TOML", help="Settings; flags override them.")
]
ScorerName = Annotated[str, _flag("scorer", help="What judges the joins; see deshred models.")]
Model = Annotated[str | None, typer.Option(help="A model file, or the name of a shipped model.")]
Seed = Annotated[int, _flag("seed", help="Seed of everything random.")]
Jobs = Annotated[int | None, typer.Option(help="Work on so many files at once.  [default: all processors]")]
Dpi = Annotated[float | None, typer.Option(help="Resolution of the files.  [default: theirs, or 300]")]
MaxMegapixels = Annotated[float, _flag("max_megapixels", help="Refuse larger images.")]
Kind = Annotated[
    str, _flag("kind", "--as", metavar="auto|shreds|sheets", help="A file shows one shred, or a sheet of them.")
]
Background = Annotated[
    str | None, typer.Option(help="Color under the shreds, as #ff9933.  [default: found in the scan]")
]
MinWidth = Annotated[float, _flag("min_width", help="Narrowest shred on a sheet, in mm.")]
Solver = Annotated[str, _flag("solver", metavar="exact|greedy", help="How the order is found.")]
Pages = Annotated[str, _flag("pages", metavar="auto|N", help="How many pages there are.")]
TimeLimit = Annotated[
    float | None, typer.Option(help="Seconds for finding the order; then the best so far.  [default: none]")
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback when something fails.")]


def _command(group: typer.Typer, name: str | None = None) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a command that turns errors into exit codes and has --debug."""

    def register(function: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(function)
        def run(*args: Any, debug: bool = False, **kwargs: Any) -> None:
            with exit_codes(debug=debug):
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


@_command(app)
def reconstruct(
    context: typer.Context,
    inputs: Inputs,
    output: Output,
    scorer: ScorerName,
    seed: Seed,
    max_megapixels: MaxMegapixels,
    kind: Kind,
    min_width: MinWidth,
    solver: Solver,
    pages: Pages,
    model: Model = None,
    jobs: Jobs = None,
    dpi: Dpi = None,
    background: Background = None,
    time_limit: TimeLimit = None,
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
      deshred reconstruct scans/ -o out/ --scorer marques --solver greedy --json
    """
    from deshred.export.runs import describe_run, reconstruct_into

    chosen = _choose_settings(context, settings)
    with progress_reporter(quiet=quiet) as progress:
        done = reconstruct_into(output, inputs, settings=chosen, force=force, progress=progress)
    for sheet in done.sheets:
        for warning in sheet.segmentation.warnings:
            warn(f"{sheet.name}: {warning}")
    if json:
        say_json(describe_run(done))
        return
    say(done.summary())
    say(f"pages:  {output / 'pages'}")
    say(f"report: {output / 'report.html'}")


@_command(app)
def segment(
    context: typer.Context,
    sheets: Annotated[list[Path], typer.Argument(metavar="SHEET...", help="Scans of sheets, or folders.")],
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
    from deshred.imaging.scans import load_pile
    from deshred.store import RunFolder

    chosen = _choose_settings(context, settings).change("scans.kind", "sheets")
    run = RunFolder.open(output, command="segment", force=force)
    executor = default_executor(chosen.jobs)
    with progress_reporter(quiet=quiet) as progress:
        pile = load_pile(
            sheets,
            options=chosen.scans,
            segmentation=chosen.segmentation,
            executor=executor,
            progress=progress,
        )
        run.begin()
        save_cutouts(pile.sheets, run, executor=executor, progress=progress)
        run.finish()
    if json:
        say_json({"sheets": [describe_sheet(sheet) for sheet in pile.sheets]})
        return
    for sheet in pile.sheets:
        say(f"{sheet.name}: {len(sheet.segmentation.shreds)} shreds")
        for warning in sheet.segmentation.warnings:
            warn(f"{sheet.name}: {warning}")
    say(f"overviews: {output / 'overviews'}")


@_command(app)
def arrange(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="compatibility.npz of a run, or an .atsp file.")],
    solver: Solver,
    pages: Pages,
    time_limit: TimeLimit = None,
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
    from deshred.arrangement import arrange as find_order
    from deshred.arrangement.tsplib import read_instance, solve_instance
    from deshred.store import load_compatibility

    chosen = _choose_settings(context, settings).arrangement
    with progress_reporter(quiet=quiet) as progress:
        if file.suffix.lower() == ".atsp":
            found = solve_instance(read_instance(file), options=chosen, progress=progress)
        else:
            found = find_order(load_compatibility(file), options=chosen, progress=progress)
    order = [[slot.shred_id for slot in page] for page in found.pages]
    if json:
        proof = {"cost": found.cost, "bound": found.bound, "gap": found.gap, "optimal": found.is_optimal}
        say_json({"pages": order, **proof})
        return
    for number, page in enumerate(order, 1):
        say(f"page {number}: {' '.join(page)}")
    proof = "proven optimal" if found.is_optimal else "not proven optimal"
    say(f"cost {found.cost:.6f}, bound {found.bound:.6f}, gap {found.gap:.3g}: {proof}")


@_command(app)
def evaluate(
    context: typer.Context,
    collection: Annotated[Path, typer.Argument(metavar="COLLECTION", help="A folder of documents.")],
    scorer: ScorerName,
    k: Annotated[str, _option(EVALUATION, "ks", metavar="1,5,all", help="How many documents are mixed.")],
    seed: Annotated[int, _option(EVALUATION, "seed", help="Seed of the sequence of documents.")],
    solver: Annotated[str, _option(EVALUATION, "arrangement.solver", metavar="exact|greedy")],
    pages: Annotated[str, _option(EVALUATION, "arrangement.pages", help="1 is the published protocol.")],
    documents: Annotated[
        str | None, typer.Option(metavar="D001,...", help="Only these.  [default: all]")
    ] = None,
    model: Model = None,
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

    from deshred.evaluation.collections import open_collection
    from deshred.evaluation.experiments import EvaluationOptions, parse_ks
    from deshred.evaluation.experiments import evaluate as measure
    from deshred.executors import default_executor
    from deshred.store import to_json, write_atomically

    defaults = EvaluationOptions()
    options = replace(
        defaults,
        ks=parse_ks(k),
        seed=seed,
        arrangement=replace(
            defaults.arrangement, solver=solver, pages=_parse_flag("pages", pages), time_limit=time_limit
        ),
    )
    found = open_collection(collection)
    if documents is not None:
        found = found.select([name.strip() for name in documents.split(",")])
    with progress_reporter(quiet=quiet) as progress:
        result = measure(
            found,
            _load_scorer(scorer, model),
            options=options,
            cache=cache,
            executor=default_executor(jobs),
            progress=progress,
        )
    if json is not None:
        write_atomically(json, to_json(result.to_dict()).encode())
    say(result.to_text())


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
        say("\n".join(f"  {line}" if line else "" for line in one.card.strip().splitlines()))
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
        raise typer.Exit(1)


def _choose_settings(context: typer.Context, file: Path | None) -> Settings:
    """Defaults, overridden by the settings file, overridden by the flags that were given."""
    from deshred.settings import Settings, read_settings

    settings = Settings() if file is None else read_settings(file)
    for flag, key in FLAGS.items():
        source = context.get_parameter_source(flag) if flag in context.params else None
        if source is not None and source.name != "DEFAULT":
            settings = settings.change(key, _parse_flag(flag, context.params[flag]))
    return settings


def _parse_flag(flag: str, value: Any) -> Any:
    if flag == "pages" and value.isdecimal():
        return int(value)
    if flag == "background":
        from deshred.imaging.segmentation import parse_color

        return parse_color(value)
    return value


def main() -> None:
    """The entry point of the command `deshred`."""
    app()
