import pytest

from deshred.arrangement import ArrangementOptions
from deshred.errors import OutputError, SettingsError
from deshred.evaluation.demo import DemoOptions, run_demo
from deshred.evaluation.metrics import measure_accuracy
from deshred.settings import Settings
from deshred.simulation.piles import read_truth

SMALL = DemoOptions(kinds=("text", "list"), shreds=6, seed=3)
QUICK = Settings(scorer="marques", arrangement=ArrangementOptions(solver="greedy", pages=1))


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    return run_demo(tmp_path_factory.mktemp("demo") / "out", settings=QUICK, options=SMALL)


def test_the_demo_leaves_a_pile_a_truth_apart_from_it_pages_and_a_report(result):
    assert len(list((result.pile / "shreds").glob("*.png"))) == 12
    assert (result.pile / "truth.json").is_file()
    assert not list(result.run.rglob("truth.json"))
    assert (result.run / "pages" / "page-001.png").is_file()
    assert (result.run / "report.html").is_file()


def test_the_accuracy_is_that_of_the_order_that_was_found(result):
    truth = read_truth(result.pile / "truth.json")
    order = result.reconstruction.arrangement.order
    assert result.accuracy == measure_accuracy(order, truth)
    assert result.pages.documents == 2
    joins = len(order) - 1
    assert result.summary().startswith(f"{round(result.accuracy * joins)} of {joins} joins right")


def test_a_finished_demo_is_replaced_only_by_force(result):
    with pytest.raises(OutputError, match="--force"):
        run_demo(result.pile.parent, settings=QUICK, options=SMALL)


def test_a_foreign_folder_is_refused_before_anything_is_written(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "diary.txt").write_text("mine")
    with pytest.raises(OutputError, match="nothing was touched"):
        run_demo(tmp_path, settings=QUICK, options=SMALL)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_demo_without_pages_or_with_a_negative_seed_is_refused():
    with pytest.raises(SettingsError, match="at least one page"):
        DemoOptions(kinds=())
    with pytest.raises(SettingsError, match="seed"):
        DemoOptions(seed=-1)


def test_a_hard_demo_lacks_shreds_and_puts_both_sides_of_the_others_upright(tmp_path):
    options = DemoOptions(kinds=("text",), shreds=12, seed=4, hard=True)
    result = run_demo(tmp_path / "hard", options=options)
    fronts, backs = (sorted(result.pile.glob(f"shreds/*-{side}.png")) for side in ("front", "back"))
    assert len(fronts) == len(backs) < 12
    settings = result.reconstruction.settings
    assert (settings.orientation, settings.sides) == ("any", "double")
