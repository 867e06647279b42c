"""Takes the pictures of the review board in a real browser: python docs/images/review.py"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright

from deshred.export.results import reconstruct_into
from deshred.imaging.decoding import encode_png
from deshred.settings import Settings
from deshred.simulation.drawing import draw_page
from deshred.simulation.piles import NamedPage, shred_pages
from deshred.simulation.shredding import ShreddingOptions

HERE = Path(__file__).parent
KINDS = ("letter", "table", "columns", "sparse")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu"]


def make_case(folder: Path) -> Path:
    """Four pages, matched by ink alone: some of it is wrong, and there is something to ask."""
    rng = np.random.default_rng(5)
    pages = [NamedPage(kind, draw_page(kind, rng)[:2600]) for kind in KINDS]
    (folder / "shreds").mkdir()
    for loose in shred_pages(pages, rng, options=ShreddingOptions(shreds=18)).shreds:
        (folder / "shreds" / f"{loose.name}.png").write_bytes(encode_png(loose.shred.image, loose.shred.mask))
    reconstruct_into(folder / "council-minutes", [folder / "shreds"], settings=Settings(scorer="towers"))
    return folder / "council-minutes"


@contextmanager
def serving(case: Path) -> Iterator[str]:
    """The link to a board."""
    command = [sys.executable, "-m", "deshred.review.server", str(case)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    try:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
    finally:
        server.terminate()
        server.wait(10)


class Camera:
    """A tab on the board."""

    def __init__(self, page: Any, link: str) -> None:
        self.page = page
        page.goto(link)
        page.locator("#proof").wait_for(timeout=60_000)
        page.keyboard.press("Escape")
        page.locator("#who").fill("A. Novak")
        page.keyboard.press("Tab")

    def press(self, *keys: str, until: str = "") -> None:
        for key in keys:
            self.page.keyboard.press(key)
        if until:
            self.page.locator(until).first.wait_for(timeout=60_000)
        self.page.locator("#proof:not(.solving)").wait_for(timeout=60_000)

    def shoot(self, name: str) -> None:
        time.sleep(4)  # pictures of shreds come one by one, messages go
        self.page.screenshot(path=str(HERE / f"review-{name}.png"))


def main() -> None:
    """Walk through the board and take pictures."""
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(make_case(Path(folder))) as link,
        sync_playwright() as driver,
    ):
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        camera = Camera(browser.new_page(viewport={"width": 1280, "height": 800}), link)
        camera.shoot("overview")
        camera.press("Alt+2", until=".question")
        camera.shoot("question")
        camera.press("Alt+1", "Enter", until=".shreds")
        camera.shoot("page")
        camera.press("ArrowRight", "ArrowRight", "w", until="canvas.curve")
        camera.shoot("why")
        camera.press("Escape", "p")
        camera.press("k", "ArrowRight", "v", until="dialog .stated-card")
        camera.shoot("clash")
        browser.close()


if __name__ == "__main__":
    main()
