from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import cv2
import numpy as np
import pytest

import deshred
from deshred.cases import save_compatibility
from deshred.cli import COMMANDS, app
from deshred.cli.console import exit_codes, say
from deshred.compatibility.scorers import SCORER_NAMES
from deshred.elements import Compatibility, ShredSet
from deshred.errors import DeshredError
from deshred.imaging.decoding import encode_png
from deshred.settings import Settings
from tests.commands import run
from tests.conftest import SavedPile


def list_commands() -> dict[str, click.Command]:
    """Every command there is by its words, such as `train towers`."""
    context = click.Context(app)
    found: dict[str, click.Command] = {}
    for name in COMMANDS:
        command = app.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            inner = {one: command.get_command(context, one) for one in command.list_commands(context)}
            found |= {f"{name} {one}": known for one, known in inner.items() if known is not None}
        else:
            found[name] = command
    return found


ALL = list_commands()


def write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def png(level: int = 200, height: int = 120, width: int = 40) -> bytes:
    image = np.full((height, width, 3), 240, np.uint8)
    image[30:60, 5:30] = level
    return encode_png(image)


# Reconstructing


def test_shreds_in_pages_out(saved_pile: SavedPile, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = run("reconstruct", saved_pile.folder, "-o", out, "--scorer", "outline", "--pages", 1)
    assert result.exit_code == 0, result.stderr
    told = result.stdout.splitlines()
    assert told[0].startswith("read as 9 single shreds: ")
    assert told[1].startswith("8 shreds, 1 page, 1 blank shred set aside")
    assert str(out / "report.html") in result.stdout
    assert "reading: 9/9" in result.stderr
    content = json.loads((out / "arrangement.json").read_text())
    assert tuple(shred["id"] for shred in content["pages"][0]["shreds"]) == saved_pile.truth
    assert (out / "pages" / "page-001.png").stat().st_size > 10_000

    again = run("reconstruct", saved_pile.folder, "-o", out, "--scorer", "outline", "--pages", 1)
    assert (again.exit_code, again.stdout) == (4, "")
    assert "--force" in again.stderr

    flags = ("--scorer", "outline", "--pages", 1, "--force", "--quiet", "--json")
    forced = run("reconstruct", saved_pile.folder, "-o", out, *flags)
    assert (forced.exit_code, forced.stderr) == (0, "")
    again = json.loads(forced.stdout)["pages"]
    assert [page["joins"] for page in again] == [page["joins"] for page in content["pages"]]


def test_flags_override_the_settings_file_and_it_the_defaults(saved_pile: SavedPile, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text('scorer = "outline"\njobs = 1\n[arrangement]\npages = 3\n')
    given = ("--settings", tmp_path / "s.toml", "--pages", 1, "--json")
    result = run("reconstruct", saved_pile.folder, "-o", tmp_path / "out", *given)
    assert result.exit_code == 0, result.stderr
    settings = json.loads(result.stdout)["settings"]
    assert (settings["scorer"], settings["jobs"]) == ("outline", 1)
    assert settings["arrangement"]["pages"] == 1
    assert settings["arrangement"]["solver"] == Settings().arrangement.solver


def zero_bytes(folder: Path) -> None:
    write(folder / "a.png", b"")


def truncated(folder: Path) -> None:
    write(folder / "a.png", png()[:90])


def wrong_mask(folder: Path) -> None:
    write(folder / "strips" / "a.png", png())
    write(folder / "masks" / "a.png", png(height=99))


def one_shred(folder: Path) -> None:
    write(folder / "a.png", png(0))


def all_blank(folder: Path) -> None:
    for name in "abc":
        write(folder / f"{name}.png", png(230))


def nothing(folder: Path) -> None:
    folder.mkdir()


@pytest.mark.parametrize("make", [zero_bytes, truncated, wrong_mask, one_shred, all_blank, nothing])
def test_bad_input_is_one_line_and_exit_code_3(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / "in put")
    flags = ("-o", tmp_path / "out", "--scorer", "outline", "-q")
    result = run("reconstruct", tmp_path / "in put", *flags)
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_not_ours_is_left_alone(saved_pile: SavedPile, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years")
    result = run("reconstruct", saved_pile.folder, "-o", tmp_path, "--force")
    assert result.exit_code == 4
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_the_input_is_never_overwritten(saved_pile: SavedPile) -> None:
    before = sorted(saved_pile.folder.iterdir())
    result = run("reconstruct", saved_pile.folder, "-o", saved_pile.folder, "--force")
    assert result.exit_code == 4
    assert sorted(saved_pile.folder.iterdir()) == before


@pytest.mark.parametrize(
    "args",
    [
        ("reconstruct", "x", "-o", "out", "--pages", "0"),
        ("reconstruct", "x", "-o", "out", "--as", "pages"),
        ("reconstruct", "x", "-o", "out", "--background", "orangish"),
        ("reconstruct", "x", "-o", "out", "--settings", "none.toml"),
        ("reconstruct", "x", "-o", "out", "--frobnicate"),
        ("reconstruct", "-o", "out"),
        ("frobnicate",),
    ],
)
def test_senseless_flags_have_exit_code_2(args: tuple[str, ...], tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        result = run(*args)
    assert result.exit_code == 2
    assert result.stderr
    assert list(tmp_path.iterdir()) == []


# The other commands


@pytest.fixture
def sheet(tiny_pile: ShredSet, tmp_path: Path) -> Path:
    """Four shreds on orange paper."""
    image = np.full((1800, 1200, 3), (255, 153, 51), np.uint8)
    for at, shred in enumerate(list(tiny_pile)[2:6]):
        height, width = shred.mask.shape
        view = image[60 : 60 + height, 80 + 280 * at : 80 + 280 * at + width]
        view[shred.mask] = shred.image[shred.mask]
    path = tmp_path / "sheet.jpg"
    cv2.imwrite(str(path), cv2.cvtColor(image, cv2.COLOR_RGB2BGR))
    return path


def test_segment_cuts_out_what_reconstruct_reads(sheet: Path, tmp_path: Path) -> None:
    out = tmp_path / "cut"
    result = run("segment", sheet, "-o", out)
    assert result.exit_code == 0, result.stderr
    assert "sheet: 4 shreds" in result.stdout
    names = [path.name for path in sorted((out / "shreds").iterdir())]
    assert names == [f"sheet#0{number}.png" for number in range(1, 5)]
    index = json.loads((out / "shreds.json").read_text())
    assert [shred["id"] for shred in index["sheets"][0]["shreds"]] == [name[:-4] for name in names]
    assert (out / index["sheets"][0]["overview"]).exists()
    flags = ("--scorer", "outline", "--pages", 1, "--json", "-q")
    from_cut = run("reconstruct", out, "-o", tmp_path / "a", *flags)
    from_sheet = run("reconstruct", sheet, "-o", tmp_path / "b", *flags)
    assert from_cut.exit_code == from_sheet.exit_code == 0
    pages = [json.loads(done.stdout)["pages"][0] for done in (from_cut, from_sheet)]
    assert [shred["id"] for shred in pages[0]["shreds"]] == [shred["id"] for shred in pages[1]["shreds"]]


def test_shred_writes_a_pile_and_apart_from_it_the_truth(tiny_pile: ShredSet, tmp_path: Path) -> None:
    page = np.hstack([shred.image[100:900] for shred in tiny_pile])
    write(tmp_path / "page.png", encode_png(page))
    result = run("shred", tmp_path / "page.png", "-o", tmp_path / "pile", "--shreds", 5, "--seed", 1)
    assert result.exit_code == 0, result.stderr
    truth = json.loads((tmp_path / "pile" / "truth.json").read_text())
    files = {path.stem for path in (tmp_path / "pile" / "shreds").iterdir()}
    assert files == set(truth["shreds"])
    assert sorted(place["position"] for place in truth["shreds"].values()) == [0, 1, 2, 3, 4]


def test_demo_says_how_well_it_went(tmp_path: Path) -> None:
    result = run("demo", "-o", tmp_path / "demo", "--kinds", "letter", "--shreds", 6, "-q")
    assert result.exit_code == 0, result.stderr
    assert "joins right" in result.stdout
    assert (tmp_path / "demo" / "run" / "report.html").exists()


def test_evaluate_prints_the_accuracy_for_people_and_programs(tiny_pile: ShredSet, tmp_path: Path) -> None:
    for position, shred in enumerate(tiny_pile):
        write(tmp_path / f"set/D001/strips/D001{position:02d}.png", encode_png(shred.image))
        write(tmp_path / f"set/D001/masks/D001{position:02d}.png", encode_png(_to_image(shred.mask)))
    flags = ("--scorer", "outline", "--k", 1, "--cache", tmp_path / "cache")
    result = run("evaluate", tmp_path / "set", *flags)
    assert result.exit_code == 0, result.stderr
    assert "D001  " in "".join(result.stdout.splitlines()[4:])  # a table has lines
    content = json.loads(run("evaluate", tmp_path / "set", *flags, "--json", "-q").stdout)
    assert content["accuracy"]["1"]["mean"] == 1.0
    assert content["accuracy"]["1"]["instances"][0]["documents"] == ["D001"]
    assert content["accuracy"]["1"]["instances"][0]["optimal"] is True
    assert content["seconds"]["decode"] > 0


def _to_image(mask: np.ndarray) -> np.ndarray:
    return np.repeat(mask[..., None], 3, axis=2).astype(np.uint8) * 255


def test_arrange_takes_the_scores_of_a_run(tmp_path: Path) -> None:
    scores = np.full((4, 4), -5.0, np.float32)
    scores[[2, 0, 3], [0, 3, 1]] = 9.0
    file = tmp_path / "c.npz"
    save_compatibility(Compatibility(tuple("abcd"), scores, np.zeros((4, 4), np.int16)), file)
    result = run("arrange", file, "--pages", 1, "--json", "-q")
    assert result.exit_code == 0, result.stderr
    content = json.loads(result.stdout)
    assert content["pages"] == [["c", "a", "d", "b"]]
    assert content["optimal"] is True
    text = run("arrange", file, "--pages", 1, "-q").stdout
    assert text.splitlines()[0] == "page 1: c a d b"
    assert "proven optimal" in text


def test_arrange_takes_tsplib_files(tmp_path: Path) -> None:
    distances = "9 1 5 5\n5 9 1 5\n5 5 9 1\n1 5 5 9\n"
    header = "NAME: ring\nTYPE: ATSP\nDIMENSION: 4\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\n"
    (tmp_path / "ring.atsp").write_text(f"{header}EDGE_WEIGHT_SECTION\n{distances}EOF\n")
    content = json.loads(run("arrange", tmp_path / "ring.atsp", "--json", "-q").stdout)
    assert (content["pages"], content["cost"]) == ([["1", "2", "3", "4"]], 4)


@pytest.mark.parametrize("name", ["bad.npz", "bad.atsp", "absent.npz"])
def test_arrange_refuses_what_it_cannot_read(name: str, tmp_path: Path) -> None:
    if not name.startswith("absent"):
        (tmp_path / name).write_text("nonsense")
    result = run("arrange", tmp_path / name)
    assert result.exit_code == 3
    assert name in result.stderr


def test_models_are_listed_with_their_cards() -> None:
    listed = json.loads(run("models", "--json").stdout)["models"]
    assert all(model["card"] for model in listed)
    text = run("models").stdout
    assert all(model["name"] in text for model in listed)


def test_doctor_says_what_is_there_and_tries_it() -> None:
    result = run("doctor")
    assert result.exit_code == 0, result.stdout
    assert "deshred is well." in result.stdout
    assert "PyTorch" in result.stdout


def test_training_without_pages_is_exit_code_3(tmp_path: Path) -> None:
    for kind in ("pairwise", "towers"):
        result = run("train", kind, tmp_path, "-o", tmp_path / "m.onnx")
        assert result.exit_code == 3, result.stderr


@pytest.mark.parametrize("kind", ["pairwise", "towers"])
def test_without_torch_training_says_how_to_get_it(kind: str) -> None:
    script = "import sys; sys.modules['torch'] = None; from deshred.cli import main; main()"
    for args in (["--help"], ["x", "-o", "m.onnx"]):
        command = [sys.executable, "-c", script, "train", kind, *args]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 8
        assert "pip install 'deshred[train]'" in done.stderr
        assert done.stderr.count("\n") == 1


def test_the_version_is_shown() -> None:
    for flag in ("--version", "-v"):
        assert run(flag).stdout == f"deshred {deshred.__version__}\n"


def test_the_module_is_the_command() -> None:
    command = [sys.executable, "-m", "deshred", "segment", "nowhere", "-o", "out"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr == "error: nowhere: there is no such file or folder. Check the name.\n"


def test_a_reader_that_goes_away_is_no_error_to_shout_about() -> None:
    script = f"{shlex.quote(sys.executable)} -m deshred models | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.strip() == "141"


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_are_no_error(closed: str) -> None:
    script = f"{shlex.quote(sys.executable)} -m deshred models {closed}"
    assert subprocess.run(["bash", "-c", script], capture_output=True, check=False).returncode == 0


def test_an_empty_argument_is_not_taken_for_the_folder_one_stands_in(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "deshred", "reconstruct", "", "-o", "out"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 2
    assert "an argument is empty" in done.stderr
    assert not list(tmp_path.iterdir())


def test_names_cannot_move_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    say("page 1: a\x1b[2Jb\npage 2: ä\r")
    assert capsys.readouterr().out == "page 1: a\\x1b[2Jb\npage 2: ä\\r\n"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse names that are no text")
def test_names_of_files_may_hold_bytes_that_are_no_text(saved_pile: SavedPile, tmp_path: Path) -> None:
    for number, file in enumerate(sorted(saved_pile.folder.glob("s*.png"))[:3]):
        shutil.copy(file, os.fsencode(tmp_path) + b"/caf\xe9-%d.png" % number)
    flags = ["-o", tmp_path / "out", "--scorer", "outline", "--pages", "1", "--json", "-q"]
    command = [sys.executable, "-m", "deshred", "reconstruct", tmp_path, *flags]
    done = subprocess.run([*map(str, command)], capture_output=True, check=True)
    sources = [entry["path"] for entry in json.loads(done.stdout)["inputs"]]
    assert sources == [os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9-%d.png" % n) for n in range(3)]
    kept = json.loads((tmp_path / "out" / "arrangement.json").read_text())
    assert [entry["path"] for entry in kept["inputs"]] == [f"../caf\udce9-{n}.png" for n in range(3)]


# Constraints


def test_what_is_known_for_sure_is_obeyed_and_written_down(saved_pile: SavedPile, tmp_path: Path) -> None:
    one, two, *_, last = saved_pile.truth
    known = tmp_path / "known.toml"
    known.write_text(f'forbidden = [["{one}", "{two}"]]\nfirst = ["{last}"]\n')
    flags = ["--scorer", "outline", "--pages", 1, "--constraints", known]
    done = run("reconstruct", saved_pile.folder, "-o", tmp_path / "out", "--json", *flags)
    assert done.exit_code == 0, done.stderr
    content = json.loads(done.stdout)
    order = [shred["id"] for shred in content["pages"][0]["shreds"]]
    assert order[0] == last
    assert order.index(two) != order.index(one) + 1
    assert content["constraints"] == {"forbidden": [[one, two]], "first": [last]}
    again = run("arrange", tmp_path / "out" / "compatibility.npz", "--json", *flags[2:])
    assert json.loads(again.stdout)["pages"] == [order]


def test_constraints_that_contradict_or_name_nobody_are_told_apart(
    saved_pile: SavedPile, tmp_path: Path
) -> None:
    one, two, *_ = saved_pile.truth
    known = tmp_path / "known.toml"
    for text, code, told in (
        (f'required = [["{one}", "{two}"]]\nforbidden = [["{one}", "{two}"]]', 7, two),
        ('first = ["nobody"]', 5, "nobody"),
    ):
        known.write_text(text)
        flags = ["--scorer", "outline", "--constraints", known, "--force"]
        done = run("reconstruct", saved_pile.folder, "-o", tmp_path / "out", *flags)
        assert done.exit_code == code
        assert told in done.stderr


# Flags and help


def test_a_flag_that_makes_no_sense_is_named_as_it_was_given(saved_pile: SavedPile, tmp_path: Path) -> None:
    done = run("reconstruct", saved_pile.folder, "-o", tmp_path / "out", "--dpi", "7")
    assert done.exit_code == 2
    assert done.stderr.startswith("error: --dpi: dpi must lie between")


@pytest.mark.parametrize("command", ["reconstruct", "evaluate"])
def test_every_scorer_is_named_in_the_help(command: str) -> None:
    text = run(command, "--help").stdout
    assert all(name in text for name in SCORER_NAMES)


@pytest.mark.parametrize("name", ALL)
def test_every_command_has_examples_that_can_be_parsed(name: str) -> None:
    text = run(*name.split(), "--help").stdout
    examples = [line.strip() for line in text.splitlines() if line.strip().startswith("deshred ")]
    assert examples
    for example in examples:
        words = shlex.split(example.partition(" > ")[0])[1:]
        parts = 1 if words[0] in ALL else 2
        ALL[" ".join(words[:parts])].make_context(example, words[parts:])


@pytest.mark.parametrize("name", ALL)
def test_json_is_a_switch_wherever_it_is(name: str) -> None:
    for parameter in ALL[name].params:
        if "--json" in parameter.opts:
            assert isinstance(parameter, click.Option)
            assert parameter.is_flag


def test_a_flag_is_not_taken_for_the_name_of_a_folder(saved_pile: SavedPile, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        done = run("reconstruct", saved_pile.folder, "-o", "-q")
    assert done.exit_code == 2
    assert "looks like a flag" in done.stderr
    assert not list(tmp_path.iterdir())


def test_help_loads_nothing_heavy() -> None:
    script = "import sys; from deshred.cli import main\ntry: main()\nexcept SystemExit: print(*sys.modules)"
    command = [sys.executable, "-c", script, "--help"]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert not {"cv2", "scipy", "torch", "onnxruntime", "highspy"}.intersection(loaded)


def test_the_names_of_scorers_are_completed() -> None:
    environment = {**os.environ, "_DESHRED_COMPLETE": "bash_complete", "COMP_CWORD": "3"}
    environment["COMP_WORDS"] = "deshred reconstruct --scorer ma"
    command = [sys.executable, "-m", "deshred"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert "marques" in done.stdout


def test_adding_scans_later_gives_the_same_pages(saved_pile: SavedPile, tmp_path: Path) -> None:
    files = sorted(saved_pile.folder.glob("s*.png"))
    flags = ("--scorer", "outline", "--pages", 1, "--json", "-q")
    whole = run("reconstruct", *files, "-o", tmp_path / "whole", *flags)
    run("reconstruct", *files[:5], "-o", tmp_path / "grown", *flags)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)  # the case knows where its scans are, wherever one stands
        added = run("reconstruct", *files[5:], "-o", "grown", "--add", *flags)
    assert added.exit_code == 0, added.stderr
    pages = [json.loads(done.stdout)["pages"] for done in (whole, added)]
    assert pages[0] == pages[1]
    scores = [(tmp_path / name / "compatibility.npz").read_bytes() for name in ("whole", "grown")]
    assert scores[0] == scores[1]


def test_scans_that_changed_are_not_added_to(saved_pile: SavedPile, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    files = [shutil.copy(file, tmp_path / "in") for file in sorted(saved_pile.folder.glob("s*.png"))]
    flags = ("--scorer", "outline", "--pages", 1, "-q")
    assert run("reconstruct", *files[:5], "-o", tmp_path / "out", *flags).exit_code == 0
    shutil.copy(files[6], files[0])
    done = run("reconstruct", *files[5:], "-o", tmp_path / "out", "--add", *flags)
    assert done.exit_code == 5
    assert "has changed since it was read" in done.stderr


# Errors


def test_what_was_not_expected_is_short_and_long_with_debug(capsys: pytest.CaptureFixture[str]) -> None:
    for debug in (False, True):
        with pytest.raises(SystemExit) as caught, exit_codes(debug=debug):
            raise ZeroDivisionError("by zero")
        assert caught.value.code == DeshredError.exit_code
        told = capsys.readouterr().err
        assert "ZeroDivisionError: by zero" in told
        assert ("Traceback" in told) == debug


def test_an_interrupt_is_130(capsys: pytest.CaptureFixture[str]) -> None:
    for hint, told in (("", "run the command again"), ("--resume goes on", "--resume goes on")):
        with pytest.raises(SystemExit) as caught, exit_codes(debug=False, interrupted=hint):
            raise KeyboardInterrupt
        assert caught.value.code == 130
        assert f"interrupted; {told}." in capsys.readouterr().err


def test_a_full_disk_anywhere_is_an_output_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught, exit_codes(debug=False):
        Path("/dev/full").write_text("x")
    assert caught.value.code == 4
    assert "Free some space" in capsys.readouterr().err
