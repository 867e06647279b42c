import itertools
import json

import numpy as np
import PIL.Image
import pytest

from deshred.cases import working_on
from deshred.errors import InputError
from deshred.executors import SerialExecutor, ThreadExecutor
from deshred.imaging.intakes import load_shreds
from deshred.simulation.drawing import DrawingOptions, draw_page
from deshred.simulation.piles import NamedPage, read_truth, save_pile, shred_pages, worsen
from deshred.simulation.shredding import ShreddingOptions

OPTIONS = ShreddingOptions(shreds=8, shift=4)


@pytest.fixture(scope="module")
def pages():
    rng = np.random.default_rng(0)
    quick = DrawingOptions(dpi=100)
    return [NamedPage(kind, draw_page(kind, rng, options=quick)) for kind in ("letter", "list")]


def make_pile(pages, seed=1, executor=None):
    return shred_pages(
        pages, np.random.default_rng(seed), options=OPTIONS, executor=executor or SerialExecutor()
    )


def save(pile, folder):
    with working_on(folder, command="shred") as case:
        save_pile(pile, case)


def test_every_shred_of_every_page_is_in_the_pile_once(pages):
    pile = make_pile(pages)
    assert {(place.document, place.position) for place in pile.truth.places.values()} == {
        (kind, position) for kind in ("letter", "list") for position in range(8)
    }
    assert [loose.name for loose in pile.shreds] == list(pile.truth.places)


def test_names_do_not_give_the_order_away(pages):
    places = list(make_pile(pages).truth.places.values())
    assert places != sorted(places, key=lambda place: (place.document, place.position))
    neighbors = [
        one.document == two.document and two.position == one.position + 1
        for one, two in itertools.pairwise(places)
    ]
    assert sum(neighbors) <= 4


def test_threads_and_a_single_job_shred_alike(pages):
    serial, threads = make_pile(pages), make_pile(pages, executor=ThreadExecutor(2))
    assert serial.truth == threads.truth
    for one, two in zip(serial.shreds, threads.shreds, strict=True):
        np.testing.assert_array_equal(one.shred.image, two.shred.image)


def test_saved_shreds_load_with_their_outline_under_the_names_of_the_truth(pages, tmp_path):
    pile = make_pile(pages)
    save(pile, tmp_path / "pile")
    loaded = load_shreds([tmp_path / "pile"])
    assert set(loaded.ids) == set(read_truth(tmp_path / "pile" / "truth.json").places)
    for loose in pile.shreds:
        shred = loaded[loaded.index_of(loose.name)]
        np.testing.assert_array_equal(shred.mask, loose.shred.mask)
        np.testing.assert_array_equal(shred.image[shred.mask], loose.shred.image[loose.shred.mask])


def test_saved_shreds_are_ordinary_images_that_say_nothing_about_their_place(pages, tmp_path):
    save(make_pile(pages), tmp_path / "pile")
    files = sorted((tmp_path / "pile" / "shreds").iterdir())
    assert [file.name for file in files] == [f"shred-{number:03d}.png" for number in range(1, 17)]
    with PIL.Image.open(files[0]) as image:
        assert image.mode == "RGBA"
        assert image.info["dpi"] == pytest.approx((300, 300), abs=0.1)
        assert set(image.info) <= {"dpi"}


def test_the_truth_survives_saving(pages, tmp_path):
    pile = make_pile(pages)
    save(pile, tmp_path / "pile")
    assert read_truth(tmp_path / "pile" / "truth.json") == pile.truth


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"shreds": 3}', '{"shreds": {"a": {"place": 1}}}'])
def test_a_damaged_truth_is_named_with_a_remedy(content, tmp_path):
    file = tmp_path / "truth.json"
    file.write_text(content)
    with pytest.raises(InputError, match=r"truth\.json: this is not (a truth\.json that deshred wrote|JSON)"):
        read_truth(file)


def test_a_missing_truth_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="Check the name"):
        read_truth(tmp_path / "truth.json")


def test_the_truth_file_is_readable_json_keyed_by_shred(pages, tmp_path):
    save(make_pile(pages), tmp_path / "pile")
    content = json.loads((tmp_path / "pile" / "truth.json").read_text())
    assert set(content["shreds"]["shred-001"]) == {"document", "position", "drop"}


def test_a_worse_pile_lacks_shreds_and_holds_others_upside_down(pages):
    pile = make_pile(pages)
    worse = worsen(pile, np.random.default_rng(2), turned=0.5, missing=0.25)
    before = {loose.name: loose.shred for loose in pile.shreds}
    assert 0 < len(worse.shreds) < len(before)
    assert {loose.name for loose in worse.shreds} == set(worse.truth.places)
    turned = [loose for loose in worse.shreds if loose.shred is not before[loose.name]]
    assert 0 < len(turned) < len(worse.shreds)
    for loose in turned:
        np.testing.assert_array_equal(loose.shred.image[::-1, ::-1], before[loose.name].image)
        np.testing.assert_array_equal(loose.shred.mask[::-1, ::-1], before[loose.name].mask)
        assert worse.truth.places[loose.name].drop is None


def test_a_pile_is_worsened_by_nothing_if_nothing_is_asked(pages):
    pile = make_pile(pages)
    same = worsen(pile, np.random.default_rng(2), turned=0.0, missing=0.0)
    assert same.shreds == pile.shreds
    assert same.truth == pile.truth
