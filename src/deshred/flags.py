"""The flags of the command line: each takes its default from an option dataclass, looked up when needed."""

from __future__ import annotations

import functools
import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deshred.errors import MissingDependencyError

if TYPE_CHECKING:
    from deshred.settings import Settings

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
    "max_shift": "pairwise.max_shift",
    "solver": "arrangement.solver",
    "pages": "arrangement.pages",
    "free_ends": "arrangement.free_ends",
    "time_limit": "arrangement.time_limit",
}
SETTINGS = "deshred.settings:Settings"
EVALUATION = "deshred.evaluation.protocol:EvaluationOptions"
DEMO = "deshred.evaluation.demo:DemoOptions"
SHREDDING = "deshred.simulation.shredding:ShreddingOptions"
PAIRWISE = "deshred.compatibility.pairwise.training:PairwiseTrainingOptions"
SAMPLES = "deshred.compatibility.pairwise.samples:SampleOptions"
TOWERS = "deshred.compatibility.towers.network:TowerTrainingOptions"
TRAINING = "deshred.compatibility.training:TrainingOptions"


class Default:
    """The default of a flag: an option of a dataclass, looked up when it is needed and not before."""

    def __init__(self, options: str, key: str) -> None:
        self.options = options
        self.key = key

    def __call__(self) -> Any:
        module, name = self.options.split(":")
        try:
            options = getattr(importlib.import_module(module), name)()
        except ModuleNotFoundError as error:
            raise MissingDependencyError(
                f"this needs {error.name}, which is not installed. Try: pip install 'deshred[train]'"
            ) from None
        value = functools.reduce(getattr, self.key.split("."), options)
        return ",".join(map(str, value)) if isinstance(value, tuple) else value

    def __str__(self) -> str:
        try:
            return str(self())
        except MissingDependencyError:
            return "shown when deshred[train] is installed"


def flag_default(options: str, key: str, *declarations: str, **others: Any) -> Any:
    """A flag whose default is an option of a dataclass, given as `module:class` and the option's key."""
    return typer.Option(*declarations, default_factory=Default(options, key), **others)


def _flag(name: str, *declarations: str, **others: Any) -> Any:
    return flag_default(SETTINGS, FLAGS[name], *declarations, **others)


Inputs = Annotated[
    list[Path], typer.Argument(metavar="INPUT", help="Files or folders: PNG, JPEG, TIFF, WebP, PDF.")
]
Output = Annotated[Path, typer.Option("-o", "--output", metavar="OUT", help="The folder to write.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a folder that deshred itself has written.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No progress.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
SettingsFile = Annotated[
    Path | None, typer.Option("--settings", metavar="TOML", help="Settings; flags override them.")
]
ConstraintsFile = Annotated[
    Path | None, typer.Option("--constraints", metavar="TOML", help="What is known for sure; docs/guide.md.")
]
ScorerName = Annotated[
    str,
    _flag("scorer", metavar="NAME", help="default, towers, outline, pairwise or marques: what judges joins."),
]
Model = Annotated[str | None, typer.Option(help="A model file, or the name of a shipped model.")]
Seed = Annotated[int, _flag("seed", min=0, help="Seed of everything random.")]
KeptSeed = Annotated[int, _flag("seed", min=0, help="Kept in the results; nothing here is random.")]
Jobs = Annotated[int | None, typer.Option(help="Processors to use.  [default: all]")]
Dpi = Annotated[float | None, typer.Option(help="Resolution of the files.  [default: theirs, or 300]")]
MaxMegapixels = Annotated[float, _flag("max_megapixels", help="Refuse larger images.")]
Kind = Annotated[
    str,
    _flag("kind", "--as", metavar="auto|shreds|sheets", help="A file shows one shred, or a sheet of them."),
]
Background = Annotated[
    str | None, typer.Option(help="Color under the shreds, as #ff9933.  [default: found in the scan]")
]
MinWidth = Annotated[float, _flag("min_width", help="Narrowest shred on a sheet, in mm.")]
MaxShift = Annotated[
    int, _flag("max_shift", help="Scorer pairwise: px that a shred is moved up and down, at most.")
]
Solver = Annotated[str, _flag("solver", metavar="exact|greedy", help="How the order is found.")]
Pages = Annotated[str, _flag("pages", metavar="auto|N", help="How many pages there are.")]
FreeEnds = Annotated[
    bool, typer.Option("--free-ends", help="Do not weigh where pages begin and end; the published protocol.")
]
TimeLimit = Annotated[
    float | None, typer.Option(help="Seconds for finding the order; then the best so far.  [default: none]")
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback when something fails.")]


Checkpointed = Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint of a killed run.")]
ReplaceModel = Annotated[bool, typer.Option("--force", help="Replace the file if it is there.")]
TrainingPages = Annotated[
    list[Path], typer.Argument(metavar="PAGE", help="Intact pages: files or folders; PDF, TIFF, PNG, JPEG.")
]
ModelOutput = Annotated[
    Path, typer.Option("-o", "--output", metavar="MODEL", help="The .onnx file to write.")
]
Threads = Annotated[int, flag_default(TRAINING, "threads", help="0 means all processors.")]


def choose_settings(context: typer.Context, file: Path | None, **flags: Any) -> Settings:
    """Defaults, overridden by the settings file, overridden by the flags that were given."""
    from deshred.settings import Settings, read_settings

    settings = Settings() if file is None else read_settings(file)
    for flag, value in flags.items():
        source = context.get_parameter_source(flag)
        if source is not None and source.name != "DEFAULT":
            declared = next(p.opts[-1] for p in context.command.params if p.name == flag)
            settings = settings.change(FLAGS[flag], parse_flag(flag, value), where=declared)
    return settings


def parse_flag(flag: str, value: Any) -> Any:
    """What a flag's text stands for."""
    if flag == "pages" and value.isdecimal():
        return int(value)
    if flag == "background":
        from deshred.imaging.sheets.segmentation import parse_color

        return parse_color(value)
    return value
