"""A review whose board is killed at random moments, again and again; nothing that it answered may be lost.

python -m tests.faults.reviews --count 100 --write docs/reliability.md

A scripted person says all kinds of things, answers questions, undoes and does again. At a random moment the
board is killed with SIGKILL. Every event that it had answered must be in the journal, in its order and with
its words; the journal must be a sound chain once the torn line is taken away; and the next board must stand
where the answered events put it, give or take the one that was never answered.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import Any

from deshred.cases import open_case
from deshred.doctor import draw_tiny_pile
from deshred.export.results import reconstruct_into
from deshred.imaging.decoding import encode_png
from deshred.review.session import Event, fold, read_events
from deshred.settings import Settings
from tests.fuzz.tables import replace_table
from tests.review.conftest import Serving, serving

LONGEST_S = 1.2  # that a board lives after the first request


@dataclass
class Tally:
    """What a campaign has seen."""

    kills: int = 0
    answered: int = 0
    in_flight: int = 0  # kills that cut off a request, or were followed by one that was refused
    kept_unanswered: int = 0  # events on disk whose answer the kill swallowed
    torn: int = 0  # journals that ended in the middle of a line
    problems: list[str] = field(default_factory=list)


class Desk:
    """A person's end of the wire."""

    def __init__(self, running: Serving) -> None:
        self._address = f"http://127.0.0.1:{running.port}"
        self._token = ""
        self._token = str(self.post("/api/login", {"code": running.code})["token"])

    def get(self, path: str) -> dict[str, Any]:
        return self._send(urllib.request.Request(self._address + path))

    def post(self, path: str, content: object) -> dict[str, Any]:
        body = json.dumps(content).encode()
        return self._send(urllib.request.Request(self._address + path, body))

    def _send(self, request: urllib.request.Request) -> dict[str, Any]:
        request.add_header("Content-Type", "application/json")
        request.add_header("Authorization", f"Bearer {self._token}")
        with urllib.request.urlopen(request, timeout=20) as answer:
            found: dict[str, Any] = json.load(answer)
            return found


class Script:
    """What a person does: a bit of everything, the same for the same seed."""

    def __init__(self, seed: int, shreds: int) -> None:
        self._rng, self._shreds, self._number = random.Random(seed), shreds, 0
        self._name = f"s{seed}"

    def act(self, desk: Desk) -> str:
        """One action; the id of the event that the board answered for."""
        self._number += 1
        id_ = f"{self._name}-{self._number}"
        kind = self._rng.choice(["say"] * 6 + ["answer"] * 3 + ["undo", "undo", "redo"])
        if kind == "answer":
            return self._answer(desk, id_)
        if kind == "say":
            told = desk.post("/api/events", {"id": id_, "action": "x", "say": [self._statement()]})
        else:
            told = desk.post(f"/api/{kind}", {"id": id_, "actor": ""})
        return str(told["event"] or "")

    def _answer(self, desk: Desk, id_: str) -> str:
        found = desk.get("/api/questions?tab=t")["questions"]
        if not found:
            return ""
        choices = ["whole", "right"] if found[0]["side"] == "page" else ["0", "none"]
        content = {"id": id_, "key": found[0]["key"], "choice": self._rng.choice(choices), "ms": 900}
        return str(desk.post("/api/answers", content)["event"])

    def _statement(self) -> list[object]:
        left = self._rng.randrange(self._shreds - 1)
        pair, text = [left, left + 1], f"{self._name}-{self._number} ünï"
        choices: list[list[object]] = [
            ["note", [left], text],
            ["title", [left], text],
            ["offset", pair, str(self._rng.randint(-9, 9))],
            ["join", pair],
            ["no-join", pair],
            ["gap", pair, "12"],
            ["last", [left]],
            ["not-first", [left]],
            ["together", pair],
            ["aside", [left]],
            ["cannot-tell", [left]],
        ]
        return self._rng.choice(choices)


def make_case(folder: Path) -> Path:
    """A small finished case."""
    (folder / "shreds").mkdir(parents=True)
    for k, shred in enumerate(draw_tiny_pile()):
        (folder / "shreds" / f"{k:02d}.png").write_bytes(encode_png(shred.image, shred.mask))
    reconstruct_into(folder / "case", [folder / "shreds"], settings=Settings(scorer="towers"))
    return folder / "case"


def campaign(case: Path, count: int) -> Tally:
    """One review, killed so many times."""
    rng, tally = random.Random(count), Tally()
    answered: list[str] = []
    for number in range(count):
        before = len(answered)
        _review_until_killed(case, number, rng.uniform(0.0, LONGEST_S), answered, tally)
        tally.answered += len(answered) - before
        problem = _look(case, answered, tally)
        if problem:
            tally.problems.append(f"kill {number}: {problem}")
    return tally


def _review_until_killed(case: Path, number: int, seconds: float, answered: list[str], tally: Tally) -> None:
    with serving(case) as running:
        desk = Desk(running)
        script = Script(number, len(desk.get("/api/case")["shreds"]))
        killer = threading.Timer(seconds, running.process.send_signal, [signal.SIGKILL])
        killer.start()
        while running.process.poll() is None:
            try:
                event = script.act(desk)
            except urllib.error.HTTPError as error:
                error.close()  # refused, and said so
            except (OSError, HTTPException, ValueError):
                tally.in_flight += 1
                break
            else:
                answered += [event] if event else []
        killer.join()
        running.process.wait(20)
        tally.kills += 1


def _look(case: Path, answered: list[str], tally: Tally) -> str:
    """What is wrong with the journal that was left; nothing, if all is well."""
    tally.torn += not (case / "journal.jsonl").read_bytes().endswith(b"\n")
    events = read_events(open_case(case).journal.read())
    known = [event.id for event in events]
    swallowed = [id_ for id_ in known if id_ not in set(answered)]
    if [id_ for id_ in known if id_ in set(answered)] != list(dict.fromkeys(answered)):
        return f"{len(set(answered) - set(known))} answered events are lost, or their order is another"
    if len(swallowed) > 1:
        return f"{len(swallowed)} events that nobody answered for"
    tally.kept_unanswered += len(swallowed)
    answered += swallowed  # from now on they count
    journal = open_case(case).journal
    journal.mend()
    if not journal.check().is_sound:
        return f"the chain is broken: {journal.check().problems[0]}"
    return "" if _stands(events) == _stands(read_events(journal.read())) else "mending changed what stands"


def _stands(events: tuple[Event, ...]) -> list[str]:
    return sorted(str(one.statement) for one in fold(events).said)


def main() -> None:
    """Kill a board again and again, and count what was lost."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--write", type=Path, help="a document to put the table into")
    given = parser.parse_args()
    start = time.perf_counter()
    folder = Path(tempfile.mkdtemp())
    try:
        tally = campaign(make_case(folder), given.count)
    finally:
        shutil.rmtree(folder)
    seconds = time.perf_counter() - start
    print("\n".join(tally.problems))
    rows = [
        "| kills | events answered | requests cut off or refused | on disk, answer swallowed "
        "| torn lines | bad | s |",
        "|---:|---:|---:|---:|---:|---:|---:|",
        f"| {tally.kills} | {tally.answered:,} | {tally.in_flight} | {tally.kept_unanswered} | {tally.torn} "
        f"| {len(tally.problems)} | {seconds:.0f} |",
    ]
    print("\n".join(rows))
    if given.write is not None:
        replace_table(given.write, "review", "\n".join(rows))
    sys.exit(1 if tally.problems else 0)


if __name__ == "__main__":
    main()
