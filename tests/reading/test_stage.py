from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deshred.cases import Folder, FolderStore
from deshred.elements import Arrangement, Page, Shred, ShredSet, Slot, Source
from deshred.evaluation.legibility import PlacedWord, measure_legibility, place_words
from deshred.imaging.composition import compose
from deshred.reading import Box, Reading, read
from deshred.simulation.drawing import DrawingOptions
from deshred.simulation.shredding import Damage, ShreddingOptions, shred_page
from deshred.simulation.transcripts import Transcript, draw_transcript
from tests.reading.engines import ScriptedReader, needs_tesseract


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


def shred_and_compose(drawn: Transcript, rng: np.random.Generator) -> list[Page]:
    """The evidence copy and the reading copy of a page that was cut into twelve shreds."""
    pieces = shred_page(drawn.image, rng, options=ShreddingOptions(shreds=12, damage=Damage(fray=0.3)))
    shreds = ShredSet(
        [
            Shred(f"s{i:02d}", one.image, one.mask, 300.0, Source(Path("drawn"), ""))
            for i, one in enumerate(pieces)
        ]
    )
    slots = tuple(Slot(name, -one.shift) for name, one in zip(shreds.ids, pieces, strict=True))
    order = Arrangement((slots,), (), (), 0.0, 0.0)
    return [*compose(shreds, order), *compose(shreds, order, copy="reading")]


@needs_tesseract
def test_shredded_pages_read_worse_and_their_reading_copies_better_than_their_evidence() -> None:
    found = []
    for seed, kind in ((4, "memo"), (5, "memo"), (6, "letter")):  # one page gains or loses by chance
        rng = np.random.default_rng(seed)
        drawn = draw_transcript(kind, rng)
        pages = [to_page(drawn.image), *shred_and_compose(drawn, rng)]
        found.append([compare(one, drawn) for one in read(pages, jobs=2)])
    intact, evidence, reading = (
        sum(page[copy].words_found * page[copy].words for page in found) for copy in range(3)
    )
    assert evidence < reading < intact
    assert all(page[0].character_error_rate < page[1].character_error_rate < 0.5 for page in found)


@needs_tesseract
def test_a_page_without_words_is_no_error() -> None:
    assert read([to_page(np.full((400, 300, 3), 255, np.uint8))], jobs=1)[0].lines == ()


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
