"""One process at a time: a second one is refused at once, with the reason; nothing waits.

For Linux and macOS. On Windows, and on file systems without locks, nothing is held.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from deshred.errors import OutputError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextmanager
def lock(descriptor: int, refusal: str) -> Iterator[None]:
    """Hold an open file or folder until it is closed; `refusal` is the error if another process holds it."""
    if fcntl is not None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OutputError(refusal) from None
        except OSError:  # a file system without locks
            pass
    yield
