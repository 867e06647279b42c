"""How long the review board takes: made piles of a given size, opened in a real browser.

    python benchmarks/review.py --times 700 2300 --folder /tmp/made
    python benchmarks/review.py --times 20000 --rows 150 --folder /tmp/made

Shreds are cut from drawn pages, and scores are drawn as well: true joins high, others low. So no
reconstruction is run, and a large case is there in minutes. Beyond 4,000 shreds scores are sparse and the
order is taken from the greedy solver. Times are medians over several actions where there are several.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deshred.arrangement import ArrangementOptions
from deshred.compatibility.contract import ScorerCard
from deshred.elements import Calibration, Compatibility, Margins, ShredSet
from deshred.executors import Executor, Progress
from deshred.imaging.decoding import encode_png
from deshred.imaging.edges import EdgeOptions
from deshred.pipeline import reconstruct
from deshred.runs import CopiesWarning
from deshred.settings import Settings
from deshred.simulation.drawing import PAGE_KINDS, draw_page
from deshred.simulation.piles import NamedPage, shred_pages
from deshred.simulation.shredding import ShreddingOptions

PER_PAGE = 25
DISTINCT = 6  # pages that are drawn; larger piles repeat them under other names
DENSE_LIMIT = 4000
CANDIDATES = 24
ACTIONS = 5
TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-precise-memory-info"]


class MadeScorer:
    """Draws scores by the names of shreds: page and place."""

    card = ScorerCard("made", "made")
    edge_options = EdgeOptions()

    def score_pile(
        self, shreds: ShredSet, *, executor: Executor | None = None, progress: Progress | None = None
    ) -> Compatibility:
        del executor, progress
        rng = np.random.default_rng(0)
        places = np.array([[int(part) for part in re.findall(r"\d+", id_)[:2]] for id_ in shreds.ids])
        count = len(shreds)
        order = np.lexsort((places[:, 1], places[:, 0]))
        follows = places[order[1:], 0] == places[order[:-1], 0]
        lefts, rights = order[:-1][follows], order[1:][follows]
        true = rng.normal(14, 5, len(lefts)).astype(np.float32)
        is_first, is_last = np.ones(count, bool), np.ones(count, bool)
        is_first[rights], is_last[lefts] = False, False
        margins = Margins(
            np.where(is_first, 4, -8).astype(np.float32) + rng.normal(0, 1, count).astype(np.float32),
            np.where(is_last, 4, -8).astype(np.float32) + rng.normal(0, 1, count).astype(np.float32),
            np.array([shred.width_mm for shred in shreds], np.float32),
        )
        curve = Calibration(1.0, 0.0)
        if count <= DENSE_LIMIT:
            scores = rng.normal(-8, 3, (count, count)).astype(np.float32)
            scores[lefts, rights] = true
            np.fill_diagonal(scores, -np.inf)
            offsets = np.zeros(scores.shape, np.int16)
            return Compatibility(shreds.ids, scores, offsets, margins=margins, calibration=curve)
        columns = rng.integers(0, count, (count, CANDIDATES))
        values = rng.normal(-8, 3, columns.shape).astype(np.float32)
        columns[lefts, 0], values[lefts, 0] = rights, true
        values[columns == np.arange(count)[:, None]] = -np.inf
        by_column = np.argsort(columns, axis=1)
        columns, values = (np.take_along_axis(part, by_column, 1) for part in (columns, values))
        return Compatibility(
            shreds.ids,
            values.ravel(),
            np.zeros(values.size, np.int16),
            row_starts=np.arange(count + 1, dtype=np.int64) * CANDIDATES,
            columns=columns.ravel().astype(np.int32),
            margins=margins,
            calibration=curve,
        )


def make_case(folder: Path, count: int, rows: int) -> Path:
    """A case of about so many shreds, unless it is there already."""
    case = folder / f"case-{count}-{rows}"
    if (case / "case.json").is_file():
        return case
    rng = np.random.default_rng(count)
    kinds = [kind for kind in PAGE_KINDS if kind != "sparse"]
    drawn = [draw_page(kinds[k % len(kinds)], rng) for k in range(DISTINCT)]
    tops = [max(0, (len(page) - rows) // 2) for page in drawn]  # in the middle there is most ink
    pages = [
        NamedPage(str(k), page[top : top + rows])
        for k, (page, top) in enumerate(zip(drawn, tops, strict=True))
    ]
    pile = shred_pages(pages, rng, options=ShreddingOptions(shreds=PER_PAGE))
    pngs: dict[tuple[int, int], bytes] = {}
    for loose in pile.shreds:
        place = pile.truth.places[loose.name]
        shred = loose.shred
        pngs[int(place.document), int(place.position)] = encode_png(shred.image, shred.mask)
    shreds = folder / f"shreds-{count}-{rows}"
    shreds.mkdir(parents=True, exist_ok=True)
    for k in range(count):
        page, place = divmod(k, PER_PAGE)
        names = sorted(key for key in pngs if key[0] == page % DISTINCT)
        (shreds / f"p{page:04d}-{place:02d}.png").write_bytes(pngs[names[place % len(names)]])
    solver = ArrangementOptions(time_limit=60)
    if count > DENSE_LIMIT:
        solver = ArrangementOptions(solver="greedy", pages=-(-count // PER_PAGE))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CopiesWarning)  # copies are what they are meant to be
        done = reconstruct([shreds], MadeScorer(), settings=Settings(arrangement=solver))
    done.save(case)
    return case


@dataclass(frozen=True)
class Times:
    """Seconds and megabytes."""

    shreds: int
    pages: int
    proven: bool
    start: float
    first_paint: float
    overview: float
    page_open: float
    logged: float
    certified: float | None  # None: not within two minutes
    question: float
    server_mb: float
    solver_mb: float
    tab_mb: float
    start_cpu: float  # seconds of a processor, server and solver together ...
    overview_cpu: float
    page_open_cpu: float
    certified_cpu: float  # ... per action
    load: float  # programs that wanted a processor meanwhile


def measure(case: Path) -> Times:
    """Open a copy of the case in a browser and act on it."""
    from playwright.sync_api import sync_playwright

    copy = case.with_name(f"{case.name}-open")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(case, copy)
    began = time.perf_counter()
    command = [sys.executable, "-m", "deshred.review.server", str(copy)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    assert server.stdout is not None
    link = server.stdout.readline().strip()
    start = time.perf_counter() - began
    try:
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            page = browser.new_page(viewport={"width": 1360, "height": 860})
            times = _use(page, link, server.pid, start)
            browser.close()
            return times
    finally:
        server.terminate()
        server.wait(10)
        shutil.rmtree(copy, ignore_errors=True)


def _use(page: Any, link: str, pid: int, start: float) -> Times:
    start_cpu = _spent(pid)
    asked: set[str] = set()
    answered: set[str] = set()
    page.on("request", lambda one: "/api/atlas/" in one.url and asked.add(one.url))
    page.on("requestfinished", lambda one: answered.add(one.url))
    began = time.perf_counter()
    page.goto(link)
    page.locator(".pages .card").first.wait_for(timeout=300_000)
    first_paint = time.perf_counter() - began
    while asked - answered:  # thumbnails; the wait for changes never ends
        page.wait_for_timeout(20)
    page.evaluate(TWO_FRAMES)
    overview = time.perf_counter() - began
    page.keyboard.press("Escape")
    overview_cpu = _spent(pid) - start_cpu
    facts = page.locator("header .tally").first.inner_text().replace(",", "").split()
    proven = "proven" in page.locator("#proof").inner_text()
    opened, logged, certified = [], [], []
    opened_cpu, certified_cpu = [], []
    for k in range(ACTIONS):
        page.keyboard.press("Alt+1")
        page.locator(".pages .card").nth(k).wait_for()
        began, spent = time.perf_counter(), _spent(pid)
        page.locator(".pages .card").nth(k).click()
        page.locator(".shreds").wait_for()
        page.evaluate(TWO_FRAMES)
        opened.append(time.perf_counter() - began)
        opened_cpu.append(_spent(pid) - spent)
        page.keyboard.press("ArrowRight")
        began, spent = time.perf_counter(), _spent(pid)
        page.keyboard.press("x")
        page.locator("#go-history .badge", has_text=str(k + 1)).wait_for(timeout=60_000)
        logged.append(time.perf_counter() - began)
        is_solved = _wait_for_proof(page)
        certified.append(time.perf_counter() - began if is_solved else np.inf)
        certified_cpu.append(_spent(pid) - spent)
        if not is_solved:
            break  # such a pile takes minutes per action, and one of them says so
    began = time.perf_counter()
    page.keyboard.press("Alt+2")
    page.locator(".question, .protest, .empty .main").first.wait_for(timeout=60_000)
    question = time.perf_counter() - began
    tab = page.evaluate("() => performance.memory.usedJSHeapSize") / 2**20
    middle = statistics.median
    return Times(
        shreds=int(facts[2]),
        pages=int(facts[0]),
        proven=proven,
        start=start,
        first_paint=first_paint,
        overview=overview,
        page_open=middle(opened),
        logged=middle(logged),
        certified=middle(certified) if np.isfinite(middle(certified)) else None,
        question=question,
        server_mb=_resident(pid),
        solver_mb=max((_resident(child) for child in _children(pid)), default=0.0),
        tab_mb=tab,
        start_cpu=start_cpu,
        overview_cpu=overview_cpu,
        page_open_cpu=middle(opened_cpu),
        certified_cpu=middle(certified_cpu),
        load=os.getloadavg()[0],
    )


def _wait_for_proof(page: Any) -> bool:
    from playwright.sync_api import TimeoutError as WaitedTooLong

    try:
        page.locator("#proof:not(.solving)").wait_for(timeout=120_000)
    except WaitedTooLong:
        return False
    return True


def _resident(pid: int) -> float:
    """Memory of its own that a process holds, MB; files it has mapped are the system's to take back."""
    text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    found = re.search(r"RssAnon:\s+(\d+)", text)
    return int(found[1]) / 1024 if found else 0.0


def _spent(pid: int) -> float:
    """Seconds of a processor that a process and its children have used."""
    ticks = os.sysconf("SC_CLK_TCK")
    spent = 0.0
    for one in (pid, *_children(pid)):
        fields = Path(f"/proc/{one}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        spent += (int(fields[11]) + int(fields[12])) / ticks
    return spent


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text(encoding="utf-8").split()]


def run_times(counts: list[int], folder: Path, rows: int, out: Path | None) -> None:
    """Measure piles of several sizes."""
    found = json.loads(out.read_text(encoding="utf-8")) if out and out.is_file() else []
    for count in counts:
        times = measure(make_case(folder, count, rows))
        found = [one for one in found if one["shreds"] != times.shreds] + [{**vars(times), "rows": rows}]
        print(json.dumps({k: round(v, 3) if isinstance(v, float) else v for k, v in vars(times).items()}))
    if out:
        found.sort(key=lambda one: one["shreds"])
        out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
