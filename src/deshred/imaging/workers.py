"""Decode files from strangers: harmless formats in this process, risky ones in a process with limits.

A worker is a Python of its own that gets bytes and gives back pixels, one picture at a time. It may use only
so much memory and so many seconds of a processor for a picture; whatever kills it is an InputError with the
name of the file, and what a decoder writes to stderr meanwhile becomes a complaint of the picture.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, Any

import numpy as np

from deshred.budgets import Budget
from deshred.errors import InputError
from deshred.imaging.decoding import Frame, Frames, decode
from deshred.imaging.formats import is_risky

_BOOT = (
    "import sys; paths = sys.argv[1:]; sys.path[:] = paths; "
    "from deshred.imaging.workers import serve; serve(sys.stdin.buffer, sys.stdout.buffer)"
)
_LENGTH = struct.Struct(">I")
_FLAT_MEMORY = (
    768 << 20
)  # bytes, beyond what the interpreter takes: a page may show pictures larger than itself
_MEMORY_PER_PIXEL = 12  # bytes
_PATIENCE = 15  # times the seconds of a processor: a machine may be busy, a decoder may sleep
_LATER_SHARE = 0.25  # of the seconds, that each picture of a file may take on average
_MOST_IDLE = 8
_LONGEST_COMPLAINT = 200


def decode_safely(content: bytes, path: Path, *, max_pixels: int, budget: Budget | None = None) -> Frames:
    """All pictures of a file, as `decode` has them, without trusting it."""
    if not is_risky(content) or not _can_start():
        return decode(content, path, max_pixels=max_pixels)
    return _workers().decode(content, path, max_pixels, budget or Budget())


def serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """The life of a worker: decode one file after the other until nobody asks."""
    complaints = _redirect_stderr()
    with suppress(EOFError, BrokenPipeError):
        while True:
            header = _read_header(requests)
            _answer(header, _read_exactly(requests, header["bytes"]), answers, complaints)


class _Workers:
    """Workers that wait for work; one that a file has killed is replaced when the next file comes."""

    def __init__(self) -> None:
        self._idle: list[_Worker] = []
        self._lock = threading.Lock()

    def decode(self, content: bytes, path: Path, max_pixels: int, budget: Budget) -> Frames:
        worker = self._take()
        try:
            worker.ask(content, path, max_pixels, budget)
            header = worker.hear_count(path, budget)
        except InputError:
            self._put_back(worker)
            raise
        except BaseException:
            worker.kill()
            raise
        return Frames(header["count"], header["most_pixels"], self._stream(worker, path, budget))

    def _stream(self, worker: _Worker, path: Path, budget: Budget) -> Iterator[Frame]:
        try:
            while (frame := worker.hear_frame(path, budget)) is not None:
                yield frame
        except InputError:
            self._put_back(worker)
            raise
        except BaseException:  # a file of which the rest is not wanted as well
            worker.kill()
            raise
        self._put_back(worker)

    def _take(self) -> _Worker:
        with self._lock:
            return self._idle.pop() if self._idle else _Worker()

    def _put_back(self, worker: _Worker) -> None:
        with self._lock:
            if len(self._idle) < _MOST_IDLE and worker.is_alive:
                self._idle.append(worker)
                return
        worker.kill()


@cache
def _workers() -> _Workers:
    """One set for the process, as starting one takes a quarter of a second; they end with the process."""
    return _Workers()


class _Worker:
    """One process that decodes, and how to talk to it."""

    def __init__(self) -> None:
        # Isolated, as a folder that one works in may hold a hostile numpy.py; in a session of its own, as
        # Ctrl-C is for us. It ends when its stdin does.
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", _BOOT, *(entry for entry in sys.path if entry)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            start_new_session=True,
        )
        self._is_late = False
        self.kill = weakref.finalize(self, _end, self._process)  # also when it is forgotten, or all ends

    @property
    def is_alive(self) -> bool:
        """Whether it can take another file: it has told what was wrong with the last, and not died of it."""
        return self._process.poll() is None

    def ask(self, content: bytes, path: Path, max_pixels: int, budget: Budget) -> None:
        """Send a file."""
        header = {
            "path": str(path),
            "bytes": len(content),
            "max_pixels": max_pixels,
            "memory": budget.memory_bytes,
            "seconds": budget.seconds,
        }
        with suppress(BrokenPipeError):  # why it is gone is told when it is heard
            assert self._process.stdin is not None
            _write(self._process.stdin, header, content)
            self._process.stdin.flush()

    def hear_count(self, path: Path, budget: Budget) -> dict[str, Any]:
        """How many pictures there are, and how large."""
        with self._listening(path, budget) as answers:
            return _read_answer(answers)

    def hear_frame(self, path: Path, budget: Budget) -> Frame | None:
        """The next picture; None when there are no more."""
        with self._listening(path, budget) as answers:
            header = _read_answer(answers)
            if "frame" not in header:
                return None
            height, width = header["frame"]
            image = _read_array(answers, (height, width, 3))
            mask = _read_array(answers, (height, width)).view(np.bool_) if header["mask"] else None
        return Frame(image, mask, header["dpi"], header["complaint"], header["meaningless_dpi"])

    @contextmanager
    def _listening(self, path: Path, budget: Budget) -> Iterator[IO[bytes]]:
        """What it says while there is patience; its death is an error about the file."""
        assert self._process.stdout is not None
        seconds = _PATIENCE * budget.seconds
        watch = threading.Timer(seconds, self._lose_patience)
        watch.daemon = True
        watch.start()
        try:
            yield self._process.stdout
        except EOFError:
            raise InputError(f"{path}: {self._explain_death(budget, seconds)}") from None
        finally:
            watch.cancel()

    def _lose_patience(self) -> None:
        self._is_late = True
        self._process.kill()

    def _explain_death(self, budget: Budget, seconds: float) -> str:
        code = self._process.wait()
        if self._is_late:
            told = f"decoding it takes longer than {seconds:g} s"
        elif code == -getattr(signal, "SIGXCPU", 0):
            told = f"decoding it takes more than {budget.seconds:g} s of processor time per picture"
        else:
            told = f"the decoder failed on it (exit code {code}), or it takes too much memory"
        return f"{told}. It may be damaged or malicious; save it again as PNG, or leave it out."


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()


def _can_start() -> bool:
    return bool(sys.executable) and not getattr(sys, "frozen", False)


def _answer(header: dict[str, Any], content: bytes, answers: IO[bytes], complaints: IO[bytes]) -> None:
    path, seconds = Path(header["path"]), header["seconds"]
    limits = _Limits(header["memory"])
    try:
        limits.set(_FLAT_MEMORY, seconds)
        frames = decode(content, path, max_pixels=header["max_pixels"])
        _write(answers, {"count": frames.count, "most_pixels": frames.most_pixels})
        limits.set(_FLAT_MEMORY + _MEMORY_PER_PIXEL * frames.most_pixels, seconds)
        for done, frame in enumerate(frames.pictures, 1):
            _send_frame(answers, frame, _take_complaints(complaints))
            limits.set_seconds(min(seconds, seconds * (1 + done * _LATER_SHARE) - limits.used))
        _write(answers, {"end": True})
    except InputError as error:
        _write(answers, {"error": str(error)})
    except MemoryError:
        _write(answers, {"error": f"{path}: it takes more memory than there is. Scan at 300 dpi, in parts."})
    finally:
        _take_complaints(complaints)
        limits.lift()
        answers.flush()


class _Limits:
    """What a worker may use for the file at hand, told to the system; not every system listens."""

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._start = _processor_seconds()

    @property
    def used(self) -> float:
        """Seconds of a processor that the file has taken."""
        return _processor_seconds() - self._start

    def set(self, memory: int, seconds: float) -> None:
        """So many bytes more than there are now, and so many seconds from now."""
        with suppress(ImportError, OSError, ValueError):
            import resource

            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            most = _address_space() + min(memory, max(self._memory, _FLAT_MEMORY))
            resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))
        self.set_seconds(seconds)

    def set_seconds(self, seconds: float) -> None:
        """So many seconds from now."""
        with suppress(ImportError, OSError, ValueError):
            import resource

            most = int(_processor_seconds() + max(seconds, 0)) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (most, resource.RLIM_INFINITY))

    def lift(self) -> None:
        """No limits until the next file."""
        with suppress(ImportError, OSError, ValueError):
            import resource

            for kind in (resource.RLIMIT_AS, resource.RLIMIT_CPU):
                resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def _processor_seconds() -> float:
    used = os.times()
    return used.user + used.system


def _address_space() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _redirect_stderr() -> IO[bytes]:
    """Decoders in C write their complaints to stderr: from now on into a file that we can read."""
    import tempfile

    file = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the worker lives
    os.dup2(file.fileno(), 2)
    return file


def _take_complaints(file: IO[bytes]) -> str:
    """What was written since the last time, on one line."""
    file.seek(0)
    told = file.read(10 * _LONGEST_COMPLAINT).decode("utf-8", "replace")
    file.truncate(0)
    file.seek(0)
    return "; ".join(dict.fromkeys(told.split("\n")[:-1]))[:_LONGEST_COMPLAINT]


def _send_frame(answers: IO[bytes], frame: Frame, complaint: str) -> None:
    header = {
        "frame": frame.image.shape[:2],
        "mask": frame.mask is not None,
        "dpi": frame.dpi,
        "complaint": complaint,
        "meaningless_dpi": frame.meaningless_dpi,
    }
    _write(answers, header)
    answers.write(np.ascontiguousarray(frame.image).data)
    if frame.mask is not None:
        answers.write(np.ascontiguousarray(frame.mask).view(np.uint8).data)
    answers.flush()


def _write(stream: IO[bytes], header: dict[str, Any], content: bytes = b"") -> None:
    packed = json.dumps(header).encode("ascii")
    stream.write(_LENGTH.pack(len(packed)))
    stream.write(packed)
    stream.write(content)
    stream.flush()


def _read_header(stream: IO[bytes]) -> dict[str, Any]:
    (length,) = _LENGTH.unpack(_read_exactly(stream, _LENGTH.size))
    header: dict[str, Any] = json.loads(_read_exactly(stream, length))
    return header


def _read_answer(answers: IO[bytes]) -> dict[str, Any]:
    header = _read_header(answers)
    if "error" in header:
        raise InputError(header["error"])
    return header


def _read_exactly(stream: IO[bytes], size: int) -> bytes:
    content = stream.read(size)
    if len(content) < size:
        raise EOFError
    return content


def _read_array(stream: IO[bytes], shape: tuple[int, ...]) -> np.ndarray[Any, np.dtype[np.uint8]]:
    array = np.empty(shape, np.uint8)
    view = array.reshape(-1).data
    while view:
        got = stream.readinto(view)  # type: ignore[attr-defined]
        if not got:
            raise EOFError
        view = view[got:]
    return array
