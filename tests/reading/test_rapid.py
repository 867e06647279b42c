"""RapidOCR: words in boxes as the other engine gives them, from models that came with it."""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from deshred.elements import Page
from deshred.reading import ReadingOptions, open_reader, read
from deshred.reading.rapid import RapidReader, find
from deshred.simulation.drawing import DrawingOptions
from deshred.simulation.transcripts import Transcript, draw_transcript
from tests.reading.engines import needs_rapidocr

pytestmark = needs_rapidocr


@pytest.fixture(scope="module")
def head() -> Transcript:
    """The head of a letter, and nothing that is cut off below it."""
    drawn = draw_transcript("letter", np.random.default_rng(0), options=DrawingOptions(scanned=False))
    words = tuple(word for word in drawn.words if word.box[3] < 700)
    image = drawn.image[:700].copy()
    for word in drawn.words:
        if word.box[1] < 700 <= word.box[3]:
            image[word.box[1] :] = 255
    return Transcript(image, words)


def test_it_reads_what_was_drawn_where_it_was_drawn(head: Transcript) -> None:
    page = Page(head.image, np.ones(head.image.shape[:2], bool), (), 300.0)
    reading = read([page], options=ReadingOptions(engine="rapidocr"), jobs=1)[0]
    assert reading.engine.startswith("rapidocr")
    truth = {word.text: word.box for word in head.words}
    hits = [word for word in reading.words if word.text in truth]
    assert len({word.text for word in hits}) > 0.6 * len(truth)
    for word in hits:
        if [one.text for one in head.words].count(word.text) == 1:
            left, top, right, bottom = truth[word.text]
            assert left - 30 <= (word.box.left + word.box.right) / 2 <= right + 30
            assert top - 15 <= (word.box.top + word.box.bottom) / 2 <= bottom + 15
    for line in reading.lines:
        low = max(word.box.bottom for word in line.words)
        assert min(word.box.top for word in line.words) < line.baseline[0] < low


def test_a_page_without_words_is_no_error() -> None:
    white = np.full((200, 300, 3), 255, np.uint8)
    assert open_reader(ReadingOptions(engine="rapidocr")).read_image(white, 300.0).lines == ()


def test_the_fingerprint_holds_the_models_that_came_with_it() -> None:
    reader = RapidReader.open(ReadingOptions(engine="rapidocr"))
    spec = find_spec("rapidocr")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    models = sorted(Path(spec.submodule_search_locations[0]).glob("models/*.onnx"))
    assert len(models) >= 2
    digest = hashlib.sha256(b"".join(model.read_bytes() for model in models)).hexdigest()
    assert reader.fingerprint.endswith(digest)
    assert find().version == reader.version
