"""A finished case of one small page, and a board over it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from deshred.cases import Case, open_case
from deshred.export.results import reconstruct_into, reopen
from deshred.imaging.decoding import encode_png
from deshred.pipeline import Reconstruction
from deshred.review.board import Board
from deshred.settings import Settings
from deshred.simulation.drawing import draw_page
from deshred.simulation.piles import NamedPage, shred_pages
from deshred.simulation.shredding import ShreddingOptions
from deshred.simulation.truth import Truth


@dataclass(frozen=True)
class FinishedCase:
    """A case folder that nobody writes to, and the truth about its shreds."""

    folder: Path
    truth: Truth


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> FinishedCase:
    """Two pages of ten shreds, matched by ink alone."""
    out = tmp_path_factory.mktemp("review")
    rng = np.random.default_rng(11)
    pages = [NamedPage(kind, draw_page(kind, rng)[:1400]) for kind in ("letter", "table")]
    pile = shred_pages(pages, rng, options=ShreddingOptions(shreds=10))
    (out / "shreds").mkdir()
    for loose in pile.shreds:
        png = encode_png(loose.shred.image, loose.shred.mask)
        (out / "shreds" / f"{loose.name}.png").write_bytes(png)
    reconstruct_into(out / "case", [out / "shreds"], settings=Settings(scorer="towers"))
    return FinishedCase(out / "case", pile.truth)


@pytest.fixture(scope="session")
def reconstruction(finished: FinishedCase) -> Reconstruction:
    return reopen(finished.folder)


@pytest.fixture
def case(finished: FinishedCase, tmp_path: Path) -> Case:
    """A copy to write to; its scans lie where they were."""
    (tmp_path / "case").mkdir()
    shutil.copytree(finished.folder, tmp_path / "case", dirs_exist_ok=True)
    (tmp_path / "shreds").symlink_to(finished.folder.parent / "shreds")
    return open_case(tmp_path / "case")


@pytest.fixture
def board(reconstruction: Reconstruction, case: Case) -> Board:
    """Without a solver: what people say is obeyed at once all the same."""
    return Board(reconstruction, case.journal)


@dataclass(frozen=True)
class Serving:
    """A board in a process of its own."""

    process: subprocess.Popen[str]
    port: int
    code: str


@contextmanager
def serving(folder: Path, port: int = 0) -> Iterator[Serving]:
    command = [sys.executable, "-m", "deshred.review.server", str(folder), str(port)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    )
    try:
        assert process.stdout is not None
        link = process.stdout.readline().strip()
        assert link, process.stderr.read() if process.stderr else ""
        address, _, code = link.partition("/#")
        yield Serving(process, int(address.rpartition(":")[2]), code)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
