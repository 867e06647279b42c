"""One process at a time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from deshred.cases import lock
from deshred.errors import OutputError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no locks on Windows")

_HOLD = """
import os, sys
from deshred.cases import lock
with lock(os.open(sys.argv[1], os.O_RDONLY), "held"):
    print("mine", flush=True)
    sys.stdin.read()
"""


def test_a_second_process_is_refused_with_the_given_words_until_the_first_ends(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "mine\n"
        descriptor = os.open(tmp_path, os.O_RDONLY)
        with pytest.raises(OutputError, match=r"^somebody is here$"), lock(descriptor, "somebody is here"):
            pass
        first.kill()
    with lock(descriptor, "somebody is here"):
        pass
    os.close(descriptor)


def test_the_lock_ends_with_the_descriptor(tmp_path: Path) -> None:
    first, second = (os.open(tmp_path, os.O_RDONLY) for _ in range(2))
    with lock(first, "held"):
        os.close(first)
    with lock(second, "held"):
        pass
    os.close(second)
