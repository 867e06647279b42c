"""Draws `docs/architecture.md` from the code: what imports what, and how a scan becomes a page.

python docs/architecture.py            write it
python docs/architecture.py --check    fail if it would change
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
import typing
from pathlib import Path

import grimp

import deshred
from deshred import pipeline
from deshred.runs import Run

PAGE = Path(__file__).parent / "architecture.md"
ASKED_FOR = {("pipeline", "export")}  # result.save() looks upwards, when it is asked for
VERBS = ("load_shreds", "prepare", "score", "arrange", "refine", "compose")


def find_rooms() -> dict[str, set[str]]:
    """Every room and module of the hall, with the ones it imports."""
    graph = grimp.build_graph("deshred")
    rooms = sorted(graph.find_children("deshred"))
    names = [room.partition(".")[2] for room in rooms if not room.endswith("__main__")]
    return {
        room: {other for other in names if (room, other) not in ASKED_FOR and _imports(graph, room, other)}
        for room in names
    }


def _imports(graph: grimp.ImportGraph, room: str, other: str) -> bool:
    importer, imported = f"deshred.{room}", f"deshred.{other}"
    return room != other and graph.direct_import_exists(
        importer=importer, imported=imported, as_packages=True
    )


def reduce_edges(rooms: dict[str, set[str]]) -> dict[str, set[str]]:
    """Without the imports that others imply: the picture shows the layers, not every line."""
    reach: dict[str, set[str]] = {}

    def find_reach(room: str) -> set[str]:
        if room not in reach:
            reach[room] = set().union(*({other} | find_reach(other) for other in rooms[room]))
        return reach[room]

    return {
        room: {one for one in others if not any(one in find_reach(other) for other in others - {one})}
        for room, others in rooms.items()
    }


def draw_rooms() -> str:
    """The layers of the house."""
    lines = ["flowchart TD"]
    for room, others in sorted(reduce_edges(find_rooms()).items()):
        lines += [f"  {room} --> {other}" for other in sorted(others)]
    return "\n".join(lines)


def list_calls(function: object) -> list[str]:
    """The names of what a function calls, in order: `verb(...)`, and `run.verb(...)` as `run.verb`."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))  # type: ignore[arg-type]
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [ast.unparse(call.func) for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset))]


def check_path() -> None:
    """`reconstruct` is the verbs in their order, and each of them is the public one."""
    taken = [call for call in list_calls(pipeline.reconstruct) if call.startswith("run.")]
    if taken != [f"run.{verb}" for verb in ("load", *VERBS[1:])]:
        raise SystemExit(f"reconstruct calls {', '.join(taken)}")
    for verb in VERBS[1:]:
        if verb not in list_calls(getattr(Run, verb)):
            raise SystemExit(f"Run.{verb} does not call {verb}")


def draw_path() -> str:
    """The verbs in the order in which `reconstruct` calls them, with what each takes and gives."""
    check_path()
    lines = ["flowchart LR", "  files([files]) -- load_shreds --> n0([ShredSet])"]
    for number, verb in enumerate(VERBS[1:]):
        gives = typing.get_type_hints(getattr(deshred, verb))["return"]
        name = getattr(gives, "__name__", str(gives))
        inner = ", ".join(one.__name__ for one in typing.get_args(gives))
        shown = f"{name} of {inner}" if inner else name
        lines.append(f"  n{number} -- {verb} --> n{number + 1}([{shown}])")
    return "\n".join(lines)


def list_homes() -> str:
    """Where each verb lives."""
    rows = ["| function | where it is | what it does |", "| --- | --- | --- |"]
    for verb in VERBS:
        function = getattr(deshred, verb)
        home = f"src/{function.__module__.replace('.', '/')}"
        module = Path(inspect.getfile(function)).name
        place = f"{home}/{module}" if module == "__init__.py" else f"{home}.py"
        told = (inspect.getdoc(function) or "").splitlines()[0]
        rows.append(f"| `{verb}` | [{place}](../{place}) | {told} |")
    return "\n".join(rows)


def make_page() -> str:
    """The whole page."""
    return f"""# Architecture

This page is generated from the code by `python docs/architecture.py`; a test fails if it is out of date.
The plan behind it: [rooms](decisions/0001-rooms.md) and [one path](decisions/0003-one-path.md).

## From a scan to a page

`reconstruct` calls these functions and nothing else. Each is public, takes our own types and
options, and returns one of our types.
[runs.py](../src/deshred/runs.py) hands each of them the settings of a run, its processors and its clock.

```mermaid
{draw_path()}
```

{list_homes()}

The types are in [elements.py](../src/deshred/elements.py). Results that depend on only a part of the pile
are kept in the store of the [case](../src/deshred/cases/case.py), by the hash of their content.

## What imports what

An arrow means "imports"; arrows that follow from others are left out. `lint-imports` enforces this.

```mermaid
{draw_rooms()}
```
"""


def main() -> None:
    """Write the page, or check it."""
    page = make_page()
    if "--check" not in sys.argv:
        PAGE.write_text(page, encoding="utf-8")
        return
    if not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != page:
        sys.exit("docs/architecture.md is out of date: python docs/architecture.py")


if __name__ == "__main__":
    main()
