"""The board in a real browser, by keyboard alone and by mouse alone."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deshred.cases import open_case
from deshred.export.results import reconstruct_into, reopen
from deshred.imaging.decoding import encode_png
from deshred.review.merging import merge_review
from deshred.review.session import fold, read_events
from deshred.settings import Settings
from deshred.simulation.drawing import draw_page
from deshred.simulation.piles import NamedPage, shred_pages
from deshred.simulation.shredding import ShreddingOptions
from deshred.simulation.truth import Truth
from tests.review.conftest import FinishedCase, Serving, serving

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SCREENSHOTS = os.environ.get("DESHRED_SCREENSHOTS")

playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need playwright")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None and not os.environ.get("CI"),
    reason="no Chromium on this computer: the browser tests of the review board did not run",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield running
        running.close()


@pytest.fixture(scope="session")
def hard(tmp_path_factory: pytest.TempPathFactory) -> FinishedCase:
    """Two pages with little on them, matched by ink alone: a third of the joins is wrong."""
    out = tmp_path_factory.mktemp("hard")
    rng = np.random.default_rng(7)
    pages = [NamedPage(f"{k}sparse", draw_page("sparse", rng)[:1400]) for k in range(2)]
    pile = shred_pages(pages, rng, options=ShreddingOptions(shreds=16))
    (out / "shreds").mkdir()
    for loose in pile.shreds:
        png = encode_png(loose.shred.image, loose.shred.mask)
        (out / "shreds" / f"{loose.name}.png").write_bytes(png)
    done = reconstruct_into(out / "case", [out / "shreds"], settings=Settings(scorer="towers"))
    return FinishedCase(out / "case", pile.truth.restrict(done.shreds.ids))


@pytest.fixture
def hard_copy(hard: FinishedCase, tmp_path: Path) -> FinishedCase:
    return copy_case(hard, tmp_path)


def copy_case(known: FinishedCase, folder: Path) -> FinishedCase:
    shutil.copytree(known.folder, folder / "case")
    (folder / "shreds").symlink_to(known.folder.parent / "shreds")
    return FinishedCase(folder / "case", known.truth)


class Tab:
    """A tab on the board that notes whatever goes wrong in it."""

    def __init__(self, context: Any, running: Serving, *, with_code: bool = True) -> None:
        self.page = context.new_page()
        self.problems: list[str] = []
        self.foreign: list[str] = []
        self._port = running.port
        self.page.on("console", self._note)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", self._watch)
        fragment = f"#{running.code}" if with_code else ""
        self.page.goto(f"http://127.0.0.1:{running.port}/{fragment}")
        self.page.locator("#proof").wait_for(timeout=30_000)
        if self.page.locator("dialog").count():
            self.page.keyboard.press("Escape")

    def _note(self, message: Any) -> None:
        is_told = any(known in message.text for known in ("ERR_CONNECTION", "status of 422", "status of 401"))
        if message.type in ("error", "warning") and not is_told:
            self.problems.append(message.text)

    def _watch(self, request: Any) -> None:
        if not request.url.startswith((f"http://127.0.0.1:{self._port}/", "blob:", "data:")):
            self.foreign.append(request.url)

    def settle(self) -> None:
        self.page.locator("#proof:not(.solving)").wait_for(timeout=60_000)

    def shoot(self, name: str) -> None:
        if SCREENSHOTS:
            time.sleep(1.5)
            self.page.screenshot(path=str(Path(SCREENSHOTS) / f"{name}.png"))

    def pages(self) -> list[list[str]]:
        """The pages as the page screen lists them."""
        token = self.page.evaluate("sessionStorage.getItem('deshred-token')")
        script = "token => Promise.all(['case', 'state'].map(one => fetch(`/api/${one}`, {headers: {authorization: `Bearer ${token}`}}).then(r => r.json())))"  # noqa: E501
        case, state = self.page.evaluate(script, token)
        return [[case["shreds"][k]["id"] for k in page["shreds"]] for page in state["pages"]]


@pytest.fixture
def tab(browser: Any, finished: FinishedCase, tmp_path: Path) -> Iterator[Tab]:
    copy = copy_case(finished, tmp_path)
    with serving(copy.folder) as running:
        context = browser.new_context(viewport={"width": 1360, "height": 860})
        one = Tab(context, running)
        yield one
        context.close()
        assert not one.problems
        assert not one.foreign


class Examiner:
    """Knows the truth and answers what the screen asks, by keys or by clicks."""

    def __init__(self, tab: Tab, truth: Truth, *, by_mouse: bool) -> None:
        self._tab, self._by_mouse = tab, by_mouse
        self._right = dict(truth.joins)
        self._left = {right: left for left, right in truth.joins}

    def review(self, most: int = 60) -> int:
        page = self._tab.page
        self._go("questions", "Alt+2")
        for asked in range(most):
            self._tab.settle()
            page.locator(".question, .empty .main, .protest").first.wait_for(timeout=30_000)
            time.sleep(0.5)  # nobody answers quicker
            if page.locator(".protest").count():
                self._press("Enter", "#keep")
            elif page.locator(".question").count():
                self._answer()
            else:
                return asked
        return most

    def _go(self, screen: str, key: str) -> None:
        if self._by_mouse:
            self._tab.page.locator(f"#go-{screen}").click()
        else:
            self._tab.page.keyboard.press(key)

    def _press(self, key: str, button: str) -> None:
        page = self._tab.page
        shown = page.locator(".question")
        before = shown.get_attribute("data-key") if shown.count() else None
        other = page.locator(f".question:not([data-key={json.dumps(before)}]), .empty, .protest").first
        for _ in range(6):
            if self._by_mouse:
                page.locator(button).click()
            else:
                page.locator("main").focus()
                page.keyboard.press(key)
            try:
                other.wait_for(timeout=10_000)
            except playwright.TimeoutError:
                continue  # a question that came just before is not answered blindly
            return
        raise AssertionError(f"{key} changed nothing")

    def _answer(self) -> None:
        question = self._tab.page.locator(".question")
        side, shred = question.get_attribute("data-side"), question.locator(".from").inner_text()
        if side == "page":
            last = question.locator(".to").inner_text()
            choice = {(0, 0): 1, (1, 0): 2, (0, 1): 3, (1, 1): 4}[shred in self._left, last in self._right]
            names = ("whole", "left", "right", "both")
            self._press(str(choice), f"#choose-{names[choice - 1]}")
            return
        true = (self._right if side == "right" else self._left).get(shred, "The page ends here")
        labels = question.locator(".option .label b").all_inner_texts()
        if true in labels:
            self._press(str(labels.index(true) + 1), f"#option-{labels.index(true)}")
        elif true == "The page ends here":
            self._press("e", "#choose-end")
        else:
            self._press("x", "#choose-none")


@pytest.mark.parametrize("by_mouse", [False, True], ids=["keyboard", "mouse"])
def test_a_hard_pile_is_solved(browser: Any, hard_copy: FinishedCase, by_mouse: bool) -> None:
    truth = {tuple(ids) for ids in hard_copy.truth.documents.values()}
    with serving(hard_copy.folder) as running:
        context = browser.new_context(viewport={"width": 1360, "height": 860})
        tab = Tab(context, running)
        assert {tuple(page) for page in tab.pages()} != truth
        if not by_mouse:
            tab.page.keyboard.press("Alt+2")
            tab.shoot("questions")
        Examiner(tab, hard_copy.truth, by_mouse=by_mouse).review()
        assert {tuple(page) for page in tab.pages()} == truth
        tab.page.locator("#export").click() if by_mouse else tab.page.keyboard.press("Control+e")
        tab.page.locator(".toast", has_text="Written to review/001").wait_for(timeout=60_000)
        assert not tab.problems
        assert not tab.foreign
        context.close()
    content = json.loads((hard_copy.folder / "review/001/arrangement.json").read_text())
    deciders = {join["decided"]["by"] for page in content["pages"] for join in page["joins"]}
    assert "person" in deciders


COUNT_GREEN = """canvas => {
    const c = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    let n = 0;
    for (let k = 0; k < c.length; k += 4) if (c[k + 1] > c[k] + 25 && c[k + 1] > c[k + 2] + 25) n++;
    return n;
}"""
SAID = {  # what a statement is made by: its key, its button, and what is typed
    "join": ("p", "#do-pin", None),
    "cannot-tell": ("d", "#do-cannot-tell", None),
    "offset": ("Alt+ArrowDown", "#down-1", None),
    "title": ("r", "#do-title", "A letter"),
    "note": ("n", "#do-note", "torn"),
    "not-first": ("<", "#do-on-left", None),
    "not-last": (">", "#do-on-right", None),
    "flipped": ("f", "#do-flip", None),
    "no-join": ("x", "#do-forbid", None),
    "last": ("s", "#do-end", None),
    "first": ("a", "#do-begin", None),
    "aside": ("t", "#do-aside", None),
    "gap": ("g", "#do-gap", "12"),
    "blank": ("b", "#do-blank", None),
    "together": ("y", "#do-together", None),
    "apart": ("v", "#do-apart", None),
    "done": ("l", "#do-done", None),
}


class Speaker:
    """Makes a statement on the page screen, by keys or by clicks."""

    def __init__(self, tab: Tab, *, by_mouse: bool) -> None:
        self._tab, self._by_mouse = tab, by_mouse

    def press(self, key: str, button: str) -> None:
        if self._by_mouse:
            self._tab.page.locator(button).click()
        else:
            self._tab.page.keyboard.press(key)

    def select(self, place: int) -> None:
        """The shred at a place of the page that is open."""
        page = self._tab.page
        if self._by_mouse:
            page.locator(".shreds li").nth(place).click()
            return
        page.locator(".shreds li").first.wait_for()
        for _ in range(20):
            page.keyboard.press("ArrowLeft")
        for _ in range(place):
            page.keyboard.press("ArrowRight")

    def open_longest(self) -> None:
        self.press("Alt+1", "#go-overview")
        longest = max(range(len(pages := self._tab.pages())), key=lambda k: len(pages[k]))
        card = self._tab.page.locator(f"#page-{longest}")
        if self._by_mouse:
            card.click()
        else:
            card.focus()
            self._tab.page.keyboard.press("Enter")
        self._tab.page.locator(".shreds").wait_for()

    def say(self, kind: str) -> None:
        key, button, typed = SAID[kind]
        page = self._tab.page
        self.open_longest()
        if kind in ("together", "apart"):
            self.select(1)
            self.press("k", "#do-mark")
        self.select(2)
        self.press(key, button)
        if typed is not None:
            self._wait_for_dialog(key, button)
            page.locator("#asked").fill(typed)
            if self._by_mouse:
                page.locator("dialog form button").click()
            else:
                page.keyboard.press("Enter")
        elif kind == "blank" and page.locator("dialog").count():
            self.press("Enter", "dialog button.main >> nth=0")

    def _wait_for_dialog(self, key: str, button: str) -> None:
        """A key that comes while the page is drawn anew selects nothing; people press it again."""
        try:
            self._tab.page.locator("#asked").wait_for(timeout=5_000)
        except playwright.TimeoutError:
            self.select(2)
            self.press(key, button)

    def undo(self) -> None:
        self.press("Control+z", "#undo")


@pytest.mark.parametrize("by_mouse", [False, True], ids=["keyboard", "mouse"])
def test_every_statement_is_made_and_undone(
    browser: Any, finished: FinishedCase, tmp_path: Path, by_mouse: bool
) -> None:
    copy = copy_case(finished, tmp_path)
    with serving(copy.folder) as running:
        context = browser.new_context(viewport={"width": 1360, "height": 860})
        tab = Tab(context, running)
        speaker, journal = Speaker(tab, by_mouse=by_mouse), open_case(copy.folder).journal
        before, events = sorted(map(tuple, tab.pages())), 0
        for kind in SAID:
            speaker.say(kind)
            events += 1
            tab.page.locator("#go-history .badge", has_text=str(events)).wait_for(timeout=20_000)
            standing = fold(read_events(journal.read()))
            assert [one.statement.kind for one in standing.said] == [kind]
            tab.settle()
            speaker.undo()
            events += 1
            tab.page.locator("#go-history .badge", has_text=str(events)).wait_for(timeout=20_000)
            assert not fold(read_events(journal.read())).said
        tab.settle()
        assert sorted(map(tuple, tab.pages())) == before
        tab.page.keyboard.press("Alt+5")
        tab.page.locator("table").wait_for()
        tab.shoot("history")
        assert not tab.problems
        context.close()


@pytest.mark.parametrize("by_mouse", [False, True], ids=["keyboard", "mouse"])
def test_a_contradiction_is_shown_as_pictures_and_the_older_word_can_go(tab: Tab, by_mouse: bool) -> None:
    speaker = Speaker(tab, by_mouse=by_mouse)
    page = tab.page
    speaker.open_longest()
    speaker.select(1)
    speaker.press("p", "#do-pin")
    page.locator("#go-history .badge", has_text="1").wait_for()
    tab.settle()
    speaker.select(1)
    speaker.press("k", "#do-mark")
    speaker.select(2)
    speaker.press("v", "#do-apart")
    page.locator("dialog .stated-card").first.wait_for()
    assert page.locator("dialog canvas.stated").count() == 2
    tab.shoot("clash")
    speaker.press("Enter", "dialog .drop")
    page.locator("#go-history .badge", has_text="3").wait_for()
    tab.settle()
    page.keyboard.press("Alt+4")
    page.locator(".tray canvas.stated").wait_for()


def test_the_evidence_is_drawn_on_the_paper(tab: Tab) -> None:
    page = tab.page
    Speaker(tab, by_mouse=False).open_longest()
    page.keyboard.press("w")
    page.locator("canvas.curve").wait_for()
    page.locator(".alternatives li", has_text="costs").first.wait_for(timeout=20_000)
    tab.shoot("why")
    time.sleep(1)
    assert page.locator("canvas.paper").evaluate(COUNT_GREEN) > 20


@pytest.mark.parametrize("by_mouse", [False, True], ids=["keyboard", "mouse"])
def test_a_dispute_between_two_reviews_is_settled(
    browser: Any, finished: FinishedCase, tmp_path: Path, by_mouse: bool
) -> None:
    (tmp_path / "bob").mkdir()
    ann, bob = copy_case(finished, tmp_path), copy_case(finished, tmp_path / "bob")
    done = reopen(finished.folder)
    left, right = max(done.arrangement.pages, key=len)[2:4]
    for folder, kind in ((ann.folder, "no-join"), (bob.folder, "join")):
        statement = [kind, [left.shred_id, right.shred_id]]
        open_case(folder).journal.append(
            "review", id=kind, action=kind, say=[statement], unsay=[], of="", actor=kind, cause={}
        )
    merge_review(open_case(ann.folder), str(bob.folder), done.compatibility.ids, done.constraints)
    with serving(ann.folder) as running:
        context = browser.new_context(viewport={"width": 1360, "height": 860})
        tab = Tab(context, running)
        speaker = Speaker(tab, by_mouse=by_mouse)
        speaker.press("Alt+2", "#go-questions")
        tab.page.locator(".dispute canvas.stated").first.wait_for()
        tab.shoot("dispute")
        speaker.press("2", "#settle-theirs")
        tab.page.locator(".question, .empty, .protest").first.wait_for(timeout=20_000)
        context.close()
    standing = fold(read_events(open_case(ann.folder).journal.read()))
    assert [one.statement.kind for one in standing.said] == ["join"]


def test_an_open_tab_goes_on_when_the_board_was_started_again(
    browser: Any, finished: FinishedCase, tmp_path: Path
) -> None:
    copy = copy_case(finished, tmp_path)
    context = browser.new_context(viewport={"width": 1360, "height": 860})
    with serving(copy.folder) as running:
        old = Tab(context, running)
        Speaker(old, by_mouse=False).open_longest()
        running.process.kill()
        running.process.wait(10)
        old.page.keyboard.press("p")  # nobody answers
        old.page.locator("#banner:not([hidden])").wait_for(timeout=20_000)
        port = running.port
    with serving(copy.folder) as running:
        assert running.port == port, "a restarted board is found at its old address"
        old.page.locator("#banner", has_text="restarted").wait_for(timeout=20_000)
        Tab(context, running)
        old.page.bring_to_front()
        old.page.locator("#go-history .badge", has_text="1").wait_for(timeout=20_000)
        old.page.locator("#banner").wait_for(state="hidden")
        context.close()
    standing = fold(read_events(open_case(copy.folder).journal.read()))
    assert [one.statement.kind for one in standing.said] == ["join"]


def test_a_shred_is_moved_by_keys_and_by_dragging(tab: Tab) -> None:
    page = tab.page
    page.keyboard.press("Alt+3")
    page.locator(".shreds").wait_for()
    tab.shoot("page")
    ids = page.locator(".shreds .id").all_inner_texts()
    page.keyboard.press("m")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("m")
    page.locator("#go-history .badge", has_text="1").wait_for()
    tab.settle()
    moved = next(one for one in tab.pages() if ids[0] in one)
    assert moved[moved.index(ids[2]) + 1] == ids[0]
    page.keyboard.press("Control+z")
    page.locator("#go-history .badge", has_text="2").wait_for()
    tab.settle()
    page.locator(f".shreds li:has-text('{ids[0]}')").click()
    box = page.locator("canvas.paper").bounding_box()
    step = box["width"] / len(ids)
    page.mouse.move(box["x"] + step / 2, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 2.9 * step, box["y"] + 210, steps=6)
    page.mouse.up()
    page.locator("#go-history .badge", has_text="3").wait_for()
    tab.settle()
    moved = next(one for one in tab.pages() if ids[0] in one)
    assert moved.index(ids[0]) > 0


def test_two_tabs_see_the_same_and_the_second_needs_no_link(
    browser: Any, finished: FinishedCase, tmp_path: Path
) -> None:
    copy = copy_case(finished, tmp_path)
    with serving(copy.folder) as running:
        context = browser.new_context()
        first = Tab(context, running)
        second = Tab(context, running, with_code=False)
        first.page.bring_to_front()
        first.page.keyboard.press("l")
        second.page.bring_to_front()
        second.page.locator("#go-history .badge", has_text="1").wait_for(timeout=10_000)
        assert first.pages() == second.pages()
        stranger = browser.new_context().new_page()
        stranger.goto(f"http://127.0.0.1:{running.port}/")
        stranger.locator("text=This board is locked").wait_for()
        context.close()


def test_a_server_that_is_killed_is_told_of(browser: Any, finished: FinishedCase, tmp_path: Path) -> None:
    copy = copy_case(finished, tmp_path)
    with serving(copy.folder) as running:
        context = browser.new_context()
        tab = Tab(context, running)
        tab.page.keyboard.press("l")
        tab.page.locator("#go-history .badge", has_text="1").wait_for()
        running.process.kill()
        tab.page.locator("#banner:not([hidden])").wait_for(timeout=20_000)
        context.close()
    with serving(copy.folder) as running:
        context = browser.new_context()
        again = Tab(context, running)
        again.page.locator("#go-history .badge", has_text="1").wait_for()
        context.close()
    standing = fold(read_events(open_case(copy.folder).journal.read()))
    assert [one.statement.kind for one in standing.said] == ["done"]


def test_a_cyrillic_keyboard_works_too(tab: Tab) -> None:
    tab.page.keyboard.press("Alt+3")
    tab.page.locator(".shreds").wait_for()
    pressed = "new KeyboardEvent('keydown', {key: 'з', code: 'KeyP', bubbles: true})"
    tab.page.evaluate(f"() => document.body.dispatchEvent({pressed})")
    tab.page.locator("#go-history .badge", has_text="1").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violations(browser: Any, finished: FinishedCase, tmp_path: Path, scheme: str) -> None:
    axe = (resources.files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
    copy = copy_case(finished, tmp_path)
    with serving(copy.folder) as running:
        context = browser.new_context(bypass_csp=True, color_scheme=scheme)
        tab = Tab(context, running)
        tab.page.keyboard.press("l")
        screens = {
            "pages": ["Alt+1"],
            "question": ["Alt+2"],
            "page": ["Alt+3"],
            "candidates": ["c"],
            "why": ["Escape", "w"],
            "note": ["Escape", "n"],
            "blank": ["Escape", "b"],
            "trays": ["Escape", "Alt+4"],
            "history": ["Alt+5"],
            "search": ["/"],
            "keys": ["Escape", "?"],
        }
        for name, keys in screens.items():
            for key in keys:
                tab.page.keyboard.press(key)
                time.sleep(0.4)
            time.sleep(0.8)
            tab.page.evaluate(axe)
            found = tab.page.evaluate("() => axe.run()")
            bad = [
                (one["id"], [node["html"][:120] for node in one["nodes"]][:3]) for one in found["violations"]
            ]
            assert not bad, (name, bad)
        context.close()
