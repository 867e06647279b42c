"""The far end of a `Worker`: not for people."""

from __future__ import annotations

import os
import sys

from deshred.reading.worker import serve

if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what an engine prints must not come between the answers
    serve(sys.stdin.buffer, answers)
