"""A process of its own that reads images: an engine that crashes takes this process along, and nothing else.

Started as `python -m deshred.reading`, and not with multiprocessing: that would import the caller's script
anew, which hangs or fails for scripts without a main guard. The first line on stdin is the options; then
images come, each as a line of JSON (height, width, dpi) and its raw pixels. Each answer is a line of JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from threading import Timer
from typing import IO, Any

import numpy as np

from deshred.elements import Image
from deshred.errors import DeshredError
from deshred.reading.engines import ReadingOptions, open_reader
from deshred.reading.words import Reading

_PAGE_SECONDS = 600.0  # an engine that has not answered by then never will


class Worker:
    """The near end: hands images to the process and waits for their words."""

    def __init__(self, options: ReadingOptions) -> None:
        package_root = str(Path(__file__).parents[2])
        path = os.pathsep.join(filter(None, (package_root, os.environ.get("PYTHONPATH"))))
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process lives
        self._process = subprocess.Popen(
            [sys.executable, "-m", "deshred.reading"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,  # engines talk to the terminal
            # one thread per process: Tesseract's own threads make it slower, not faster
            env=os.environ | {"PYTHONPATH": path, "OMP_THREAD_LIMIT": "1", "OMP_NUM_THREADS": "1"},
        )
        self._send(asdict(options) | {"tessdata": options.tessdata and str(options.tessdata)})

    def read_image(self, image: Image, dpi: float) -> Reading:
        """The words of an image; an engine that dies or hangs is an error that says so."""
        timer = Timer(_PAGE_SECONDS, self._process.kill)
        timer.start()
        try:
            self._send({"height": image.shape[0], "width": image.shape[1], "dpi": dpi})
            _pipe(self._process.stdin).write(np.ascontiguousarray(image).tobytes())
            _pipe(self._process.stdin).flush()
            answer = _pipe(self._process.stdout).readline()
        except BrokenPipeError:
            answer = b""
        finally:
            timer.cancel()
        if not answer:
            raise DeshredError(
                f"the engine ended with code {self._process.wait()} while it read a page of "
                f"{image.shape[1]} x {image.shape[0]} px{self._last_words()}. "
                "Try the other engine with --engine."
            )
        return _unpack(json.loads(answer))

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()
        self._complaints.close()

    def _last_words(self) -> str:
        self._complaints.seek(0)
        lines = self._complaints.read().decode("utf-8", "replace").split("\n")
        told = [line.strip() for line in lines if line.strip()]
        return f" ({told[-1]})" if told else ""

    def _send(self, content: dict[str, Any]) -> None:
        _pipe(self._process.stdin).write(json.dumps(content).encode() + b"\n")
        _pipe(self._process.stdin).flush()


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


def _unpack(answer: dict[str, Any]) -> Reading:
    if "error" in answer:
        raise DeshredError(f"the engine failed: {answer['error']}")
    return Reading.from_dict(answer)


def serve(stdin: IO[bytes], stdout: IO[bytes]) -> None:
    """The far end: read images until stdin ends."""
    given = json.loads(stdin.readline())
    folder = given.pop("tessdata")
    reader = open_reader(ReadingOptions(**given, tessdata=Path(folder) if folder else None))
    while head := stdin.readline():
        size = json.loads(head)
        pixels = stdin.read(size["height"] * size["width"] * 3)
        image = np.frombuffer(pixels, np.uint8).reshape(size["height"], size["width"], 3)
        try:
            answer = reader.read_image(image, size["dpi"]).to_dict()
        except Exception as error:  # whatever an engine raises is told to the near end
            answer = {"error": f"{type(error).__name__}: {error}"}
        stdout.write(json.dumps(answer).encode() + b"\n")
        stdout.flush()
