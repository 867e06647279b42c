"""A process that reads: it answers image by image, and neither a failure nor its death is silent."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import numpy as np
import pytest

from deshred.errors import DeshredError
from deshred.reading import Reading, ReadingOptions, open_reader
from deshred.reading.worker import Worker, serve
from tests.reading.engines import needs_tesseract

WHITE = np.full((60, 80, 3), 255, np.uint8)


def framed(image: np.ndarray, dpi: float | None = 300.0) -> bytes:
    """An image as the near end sends it."""
    head = {"height": image.shape[0], "width": image.shape[1], "dpi": dpi}
    return json.dumps(head).encode() + b"\n" + image.tobytes()


@needs_tesseract
def test_the_far_end_answers_every_image_in_turn_and_goes_on_after_a_failure() -> None:
    options = json.dumps({"engine": "tesseract", "language": "eng", "tessdata": None}).encode() + b"\n"
    stdin = io.BytesIO(options + framed(WHITE) + framed(WHITE, dpi=None) + framed(WHITE))
    stdout = io.BytesIO()
    serve(stdin, stdout)
    first, failed, last = map(json.loads, stdout.getvalue().splitlines())
    assert failed["error"].startswith("TypeError: ")
    expected = open_reader(ReadingOptions()).read_image(WHITE, 300.0)
    assert Reading.from_dict(first) == Reading.from_dict(last) == expected


@needs_tesseract
def test_a_failure_of_the_engine_is_raised_near_by_and_the_process_lives_on() -> None:
    worker = Worker(ReadingOptions())
    try:
        with pytest.raises(DeshredError, match=r"^the engine failed: TypeError: "):
            worker.read_image(WHITE, None)  # type: ignore[arg-type]
        assert worker.read_image(WHITE, 300.0).lines == ()
    finally:
        worker.close()


def test_a_process_that_cannot_begin_says_why() -> None:
    worker = Worker(ReadingOptions(engine="none"))
    try:
        with pytest.raises(DeshredError, match=r"code 1 .*80 x 60 px \(.*no page is read.*--engine"):
            worker.read_image(WHITE, 300.0)
    finally:
        worker.close()


@needs_tesseract
def test_an_engine_that_dies_is_an_error_that_says_so() -> None:
    worker = Worker(ReadingOptions())
    worker._process.kill()
    with pytest.raises(DeshredError, match=r"the engine ended with code -?9"):
        worker.read_image(np.full((300, 200, 3), 255, np.uint8), 300.0)
    worker.close()


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
