from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from deshred.cases import Folder, FolderStore
from deshred.elements import Page
from deshred.errors import DeshredError, MissingDependencyError, SettingsError
from deshred.evaluation.legibility import PlacedWord, measure_legibility, place_words
from deshred.reading import Box, Reading, ReadingOptions, list_engines, open_reader, read
from deshred.reading.worker import Worker
from deshred.simulation.drawing import DrawingOptions
from deshred.simulation.transcripts import Transcript, draw_transcript
from tests.reading.engines import ScriptedReader, needs_rapidocr, needs_tesseract


@pytest.fixture(scope="module")
def letter() -> Transcript:
    """The upper half of a letter: English, with a letterhead."""
    drawn = draw_transcript("letter", np.random.default_rng(0), options=DrawingOptions(scanned=False))
    words = tuple(word for word in drawn.words if word.box[3] < 1600)
    image = drawn.image.copy()
    image[min(word.box[1] for word in drawn.words if word.box[3] >= 1600) :] = 255
    return Transcript(image[:1700], words)


def to_page(image: np.ndarray, dpi: float = 300.0) -> Page:
    return Page(image, np.ones(image.shape[:2], bool), (), dpi)


def compare(reading: Reading, drawn: Transcript):
    truth = [PlacedWord(word.text, Box(*word.box)) for word in drawn.words]
    return measure_legibility(place_words(reading), truth)


@needs_tesseract
def test_tesseract_reads_the_words_that_were_drawn_where_they_were_drawn(letter: Transcript) -> None:
    reading = read([to_page(letter.image)], jobs=1)[0]
    found = compare(reading, letter)
    assert found.character_error_rate < 0.04
    assert found.words_found > 0.93
    truth = {word.text: word.box for word in letter.words}
    hits = [word for word in reading.words if [w.text for w in letter.words].count(word.text) == 1]
    assert len(hits) > 30
    for word in hits:
        assert (
            np.abs(
                np.subtract(truth[word.text], (word.box.left, word.box.top, word.box.right, word.box.bottom))
            ).max()
            <= 12
        )
    assert reading.clear_share > 0.6
    assert reading.engine.startswith("tesseract 5")


@needs_tesseract
def test_a_shredded_page_reads_worse_and_the_loss_is_measured() -> None:
    from deshred.elements import Arrangement, Shred, ShredSet, Slot, Source
    from deshred.imaging.composition import compose
    from deshred.simulation.shredding import Damage, ShreddingOptions, shred_page

    rng = np.random.default_rng(4)
    drawn = draw_transcript("memo", rng)
    pieces = shred_page(drawn.image, rng, options=ShreddingOptions(shreds=12, damage=Damage(fray=0.3)))
    shreds = ShredSet(
        [
            Shred(f"s{i:02d}", one.image, one.mask, 300.0, Source(Path("drawn"), ""))
            for i, one in enumerate(pieces)
        ]
    )
    order = Arrangement((tuple(Slot(name, 0) for name in shreds.ids),), (), (), 0.0, 0.0)
    before, after = (
        compare(one, drawn) for one in read([to_page(drawn.image), *compose(shreds, order)], jobs=2)
    )
    assert before.words_found > 0.8
    assert 0.3 < after.words_found < before.words_found
    assert before.character_error_rate < after.character_error_rate < 0.5


@needs_rapidocr
def test_rapidocr_stands_behind_the_same_face(letter: Transcript) -> None:
    reading = read([to_page(letter.image[:700])], options=ReadingOptions(engine="rapidocr"), jobs=1)[0]
    assert reading.engine.startswith("rapidocr")
    wanted = {word.text for word in letter.words if word.box[3] < 700}
    assert len(wanted & {word.text for word in reading.words}) > 0.6 * len(wanted)


@needs_tesseract
def test_a_page_without_words_is_no_error() -> None:
    assert read([to_page(np.full((400, 300, 3), 255, np.uint8))], jobs=1)[0].lines == ()


@needs_tesseract
def test_a_script_without_a_main_guard_can_read() -> None:
    script = (
        "import numpy as np\nfrom deshred.elements import Page\nfrom deshred.reading import read\n"
        "image = np.full((200, 300, 3), 255, np.uint8)\n"
        "print(len(read([Page(image, image[:, :, 0] > 0, (), 300.0)])[0].lines))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout == "0\n"


def test_what_was_read_is_not_read_again(tmp_path: Path) -> None:
    store = FolderStore(Folder(tmp_path))
    pages = [to_page(np.full((50, 40, 3), tone, np.uint8)) for tone in (200, 250)]
    first = read(pages, reader=ScriptedReader(), store=store)

    class Tired(ScriptedReader):
        def read_image(self, _image, _dpi):
            raise AssertionError("read again")

    assert read(pages, reader=Tired(), store=store) == first
    with pytest.raises(AssertionError, match="read again"):
        read([to_page(np.full((50, 40, 3), 7, np.uint8))], reader=Tired(), store=store)


def test_a_damaged_file_on_the_shelf_counts_as_missing(tmp_path: Path) -> None:
    store = FolderStore(Folder(tmp_path))
    page = to_page(np.full((50, 40, 3), 200, np.uint8))
    first = read([page], reader=ScriptedReader(), store=store)
    for file in tmp_path.rglob("*.npz"):
        file.write_bytes(file.read_bytes()[:40])
    assert read([page], reader=ScriptedReader(), store=store) == first


def test_a_reading_survives_its_json_form() -> None:
    reading = ScriptedReader().read_image(None, 300.0)
    assert Reading.from_dict(json.loads(json.dumps(reading.to_dict()))) == reading


@needs_tesseract
def test_an_engine_that_dies_is_an_error_that_says_so() -> None:
    worker = Worker(ReadingOptions())
    worker._process.kill()
    with pytest.raises(DeshredError, match=r"the engine ended with code -?9"):
        worker.read_image(np.full((300, 200, 3), 255, np.uint8), 300.0)
    worker.close()


@needs_tesseract
def test_a_language_that_is_not_there_is_named_with_its_remedy() -> None:
    with pytest.raises(MissingDependencyError, match=r"tlh.*found are .*eng.*apt install tesseract-ocr-tlh"):
        open_reader(ReadingOptions(language="eng+tlh"))


@pytest.mark.parametrize("language", ["", "eng+", "../x", "eng por", "e" * 60])
def test_a_language_that_makes_no_sense_is_refused(language: str) -> None:
    with pytest.raises(SettingsError, match="language is one code or several"):
        ReadingOptions(language=language)


def test_every_engine_is_listed_with_its_languages_or_its_remedy() -> None:
    engines = {engine.name: engine for engine in list_engines()}
    assert list(engines) == ["tesseract", "rapidocr"]
    for engine in engines.values():
        assert engine.languages or "pip install" in engine.remedy


def test_an_engine_that_is_not_installed_names_its_pip_line() -> None:
    script = (
        "import sys\nsys.modules['tesserocr'] = None\n"
        "from deshred.reading import ReadingOptions, open_reader\n"
        "try:\n    open_reader(ReadingOptions())\n"
        "except Exception as error:\n    print(type(error).__name__, error.exit_code, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("MissingDependencyError 8 reading pages needs tesserocr")
    assert "pip install 'deshred[ocr]'" in done.stdout
