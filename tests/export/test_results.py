from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deshred.arrangement import ArrangementOptions
from deshred.cases import open_case, working_on
from deshred.compatibility.outline import OutlineScorer
from deshred.elements import Constraints, Scan
from deshred.errors import InputError, MismatchError, OutputError, SettingsError
from deshred.export.results import describe, reconstruct_into, reopen
from deshred.imaging.decoding import encode_png
from deshred.imaging.scans import read_scans
from deshred.imaging.sheets import keeping
from deshred.imaging.sheets.segmentation import Segmentation, segment
from deshred.pipeline import Reconstruction, rearrange, reconstruct
from deshred.settings import Settings
from tests.conftest import SavedPile
from tests.faults.kills import make_sheet

OUTLINE = Settings(scorer="outline", arrangement=ArrangementOptions(pages=1))


@pytest.fixture(scope="module")
def case(saved_pile: SavedPile, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results") / "case"
    reconstruct_into(folder, [saved_pile.folder], settings=OUTLINE)
    return folder


@pytest.fixture(scope="module")
def done(saved_pile: SavedPile) -> Reconstruction:
    return reconstruct([saved_pile.folder], OutlineScorer(), settings=OUTLINE)


def test_the_case_holds_what_people_look_at(case: Path, saved_pile: SavedPile) -> None:
    content = json.loads((case / "arrangement.json").read_text())
    page = content["pages"][0]
    assert tuple(shred["id"] for shred in page["shreds"]) == saved_pile.truth
    assert [(join["left"], join["right"]) for join in page["joins"]] == list(
        zip(saved_pile.truth[:-1], saved_pile.truth[1:], strict=True)
    )
    assert content["optimal"] is True
    assert [shred["id"] for shred in content["blank"]] == ["blank"]
    assert len(content["inputs"]) == 9
    assert {"deshred", "numpy", "python"} <= set(content["versions"])
    assert content["scorer"]["name"] == "outline"
    for name in ("pages/page-001.png", "report.html", "compatibility.npz", "inputs.json", "journal.jsonl"):
        assert (case / name).is_file()


def test_the_report_tells_the_hash_of_every_file_of_a_page(case: Path) -> None:
    told = (case / "report.html").read_text()
    for page in (case / "pages").iterdir():
        assert hashlib.sha256(page.read_bytes()).hexdigest() in told


def test_paths_lead_from_the_case_to_the_scans(case: Path, saved_pile: SavedPile) -> None:
    source = json.loads((case / "arrangement.json").read_text())["pages"][0]["shreds"][0]["source"]
    assert not Path(source).is_absolute()
    assert (case / source).resolve() == (saved_pile.folder / f"{saved_pile.truth[0]}.png").resolve()


def test_a_case_that_is_opened_again_is_what_was_saved(
    case: Path, done: Reconstruction, tmp_path: Path
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)  # wherever one stands
        again = reopen(case)
    assert again.arrangement == done.arrangement
    assert again.shreds.ids == done.shreds.ids
    assert again.blank.ids == done.blank.ids
    assert again.settings == done.settings
    np.testing.assert_array_equal(again.compatibility.scores, done.compatibility.scores)
    assert again.compatibility.calibration == done.compatibility.calibration
    np.testing.assert_array_equal(again.pages[0].image, done.pages[0].image)


def test_a_case_that_is_opened_again_can_be_solved_again(case: Path) -> None:
    again = reopen(case)
    first, second = again.arrangement.order[:2]
    other = rearrange(again, Constraints(forbidden=frozenset({(first, second)})))
    assert (first, second) not in {(join.left, join.right) for join in other.arrangement.joins}


def test_scans_that_changed_are_not_opened_again(saved_pile: SavedPile, tmp_path: Path) -> None:
    shutil.copytree(saved_pile.folder, tmp_path / "in")
    reconstruct_into(tmp_path / "case", [tmp_path / "in"], settings=OUTLINE)
    shutil.copy(tmp_path / "in" / "s1.png", tmp_path / "in" / "s2.png")
    with pytest.raises(MismatchError, match=r"s2\.png: has changed"):
        reopen(tmp_path / "case")


@pytest.mark.parametrize("damage", ['{"pages": 3}', "[]", '{"settings": {}}', "{"])
def test_a_damaged_record_is_an_input_error(case: Path, tmp_path: Path, damage: str) -> None:
    shutil.copytree(case, tmp_path / "case")
    (tmp_path / "case" / "arrangement.json").write_text(damage)
    with pytest.raises(InputError, match=r"arrangement\.json"):
        reopen(tmp_path / "case")


def test_a_failed_run_leaves_the_finished_results(saved_pile: SavedPile, case: Path, tmp_path: Path) -> None:
    shutil.copytree(case, tmp_path / "case")
    before = {file: file.read_bytes() for file in (tmp_path / "case").glob("*/*.png")}
    for wrong, error in (
        ({"constraints": Constraints(first=frozenset({"nobody"}))}, MismatchError),
        ({"settings": replace(OUTLINE, arrangement=ArrangementOptions(pages=50))}, SettingsError),
    ):
        with pytest.raises(error):
            reconstruct_into(
                tmp_path / "case", [saved_pile.folder], force=True, **{"settings": OUTLINE, **wrong}
            )
        assert {file: file.read_bytes() for file in (tmp_path / "case").glob("*/*.png")} == before
        assert (tmp_path / "case" / "report.html").is_file()


def test_bad_input_leaves_no_folder_behind(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.png").write_bytes(b"")
    with pytest.raises(InputError, match="empty"):
        reconstruct_into(tmp_path / "out", [tmp_path / "in"], settings=OUTLINE)
    assert not (tmp_path / "out").exists()


def test_a_result_saves_itself(done: Reconstruction, tmp_path: Path) -> None:
    done.save(tmp_path / "mine")
    assert reopen(tmp_path / "mine").arrangement == done.arrangement
    with pytest.raises(OutputError, match="--force"):
        done.save(tmp_path / "mine")


def test_every_second_belongs_to_a_named_stage(case: Path) -> None:
    seconds = json.loads((case / "arrangement.json").read_text())["seconds"]
    assert list(seconds) == [
        *("decode", "prepare", "encode", "score", "solve", "refine", "compose", "save", "report")
    ]


def test_without_a_case_paths_are_absolute(done: Reconstruction) -> None:
    described = describe(done)
    assert all(Path(entry["path"]).is_absolute() for entry in described["inputs"])


def test_the_journal_names_every_result_with_its_hash(case: Path) -> None:
    entry = next(one for one in open_case(case).journal.read() if one.event == "finished")
    assert set(entry.fields["files"]) >= {"pages/page-001.png", "arrangement.json", "report.html"}


@pytest.fixture
def segmentations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of sheets that are cut while a test runs."""
    cut: list[str] = []

    def count(scan: Scan, **others: Any) -> Segmentation:
        cut.append(others["name"])
        return segment(scan, **others)

    monkeypatch.setattr(keeping, "segment", count)
    return cut


def test_no_sheet_is_cut_twice(tmp_path: Path, segmentations: list[str]) -> None:
    sheets = make_sheet(tmp_path / "in")
    case = tmp_path / "case"
    first = reconstruct_into(case, [sheets], settings=OUTLINE)
    assert segmentations == ["sheet"]
    segmentations.clear()
    other = Settings(scorer="outline", arrangement=ArrangementOptions(pages=2))
    reconstruct_into(case, [sheets], settings=other, force=True)
    reconstruct_into(case, [sheets], settings=OUTLINE, force=True)
    again = reopen(case)
    assert segmentations == []
    np.testing.assert_array_equal(again.pages[0].image, first.pages[0].image)
    np.testing.assert_array_equal(again.sheets[0].overview, first.sheets[0].overview)

    (tmp_path / "more").mkdir()
    image = read_scans(sheets / "sheet.png")[0].image.copy()
    image[:20, :20] = 0
    (tmp_path / "more/second.png").write_bytes(encode_png(image))
    reconstruct_into(case, [tmp_path / "more"], settings=OUTLINE, add=True)
    assert segmentations == ["second"]


def test_kept_cutouts_that_were_changed_are_cut_again(tmp_path: Path, segmentations: list[str]) -> None:
    sheets = make_sheet(tmp_path / "in")
    first = reconstruct_into(tmp_path / "case", [sheets], settings=OUTLINE)
    for kept in (tmp_path / "case/store").rglob("*.npz"):
        kept.write_bytes(kept.read_bytes()[:-30])
    segmentations.clear()
    again = reopen(tmp_path / "case")
    assert segmentations == ["sheet"]
    np.testing.assert_array_equal(again.pages[0].image, first.pages[0].image)


def test_pages_keep_their_numbers_from_run_to_run(tmp_path: Path) -> None:
    sheets = make_sheet(tmp_path / "in")
    two = Settings(scorer="outline", arrangement=ArrangementOptions(pages=2))
    pages = []
    for jobs in (1, 2):
        settings = replace(two, jobs=jobs)
        done = reconstruct_into(tmp_path / f"case{jobs}", [sheets], settings=settings)
        pages.append([tuple(slot.shred_id for slot in page) for page in done.arrangement.pages])
        assert reopen(tmp_path / f"case{jobs}").arrangement.pages == done.arrangement.pages
    assert pages[0] == pages[1]


def test_a_folder_of_another_command_is_named_as_such(tmp_path: Path) -> None:
    with working_on(tmp_path / "pile", command="shred") as case:
        case.write_text("shreds.txt", "none")
    with pytest.raises(InputError, match="holds no reconstructed pages"):
        reopen(tmp_path / "pile")
