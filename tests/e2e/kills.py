# SPDX-License-Identifier: Apache-2.0
"""`kill -9` at random points of the main path: nothing committed is lost, nothing is left behind, the next call works.

HEDDLE_KILLS sets the number of kills (50), HEDDLE_SEED the seed (a new one each run, printed).
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from heddle import PLANS, Home, propose, send

KILLS = int(os.environ.get("HEDDLE_KILLS", "50"))
SEED = int(os.environ.get("HEDDLE_SEED", str(random.SystemRandom().randrange(10**6))))

# Which process of ours each role is: heddle.role_of() by its command line, zygotes by their parent.
ROLES = ("cli", "worker", "oracle", "runner", "executor", "zygote")
# How long an operation takes at first, in seconds; learned from those that ended before they were hit.
DURATIONS = {"optimize": 20.0, "judge": 2.0, "accept": 0.1, "export": 2.0}

Event = tuple[int, str, str, str, str, str]


@dataclass
class Bench:
    """The workspace under test with what it must still hold."""

    home: Home
    task: Path
    candidate: Path
    proposal: str
    exported: dict[str, bytes]

    @property
    def head(self) -> Path:
        return self.task.with_suffix(".heddle")

    def database(self) -> Path:
        return self.home.workspace / ".heddle/workspace.db"

    def events(self) -> list[Event]:
        with sqlite3.connect(f"file:{self.database()}?mode=ro", uri=True, timeout=20) as database:
            return database.execute(
                "SELECT id, session, time, actor, type, data FROM events ORDER BY id"
            ).fetchall()

    def out(self) -> Path:
        return self.home.folder / "out"

    def command(self, operation: str) -> list[object]:
        shutil.rmtree(self.out(), ignore_errors=True)
        return {
            "optimize": ["optimize", self.home.workspace / "small.py", "--budget-seconds", 20],
            "judge": ["judge", self.task, self.candidate],
            "accept": ["proposals", "accept", self.proposal],
            "export": ["export", self.candidate, "--task", self.task, "-o", self.out()],
        }[operation]


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file of a folder by name; hidden ones are unfinished copies that nobody reads."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with Home() as home:
        home.write_task()
        task = home.workspace / "gelu.py"
        shutil.copy(PLANS / "bias_gelu/task.py", task)
        candidate = home.folder / "candidate"
        shutil.copytree(PLANS / "bias_gelu/cpu", candidate)
        # More files make the landing longer, so that kills fall into the middle of it.
        for number in range(12):
            (candidate / f"note{number:02}.txt").write_text(f"note {number}\n" * 4000)
        proposal = propose(home, task, candidate)
        made = home.cli("export", candidate, "--task", task, "-o", home.folder / "whole")
        assert made.code == 0, made.text
        yield Bench(home, task, candidate, proposal, files_of(home.folder / "whole"))


def parent_of(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError):
        return 0


def victims(home: Home, role: str, cli: int) -> list[int]:
    if role == "cli":
        return [cli]
    found = home.processes()
    python = {pid for pid, name in found.items() if name in ("oracle", "runner")}
    zygotes = {pid for pid in python if parent_of(pid) not in python}
    if role == "zygote":
        return sorted(zygotes)
    return sorted(pid for pid, name in found.items() if name == role and pid not in zygotes)


def hit(bench: Bench, operation: str, role: str, delay: float, pick: Callable[[list[int]], int]) -> tuple[str, list[Event]]:
    """Start the operation, kill once, and let what is left of it end. Returns what was killed and what was committed."""
    process = bench.home.start(*bench.command(operation), "--quiet", "--workspace", bench.home.workspace)
    committed: list[Event] = []
    killed = "nothing"
    end = time.monotonic() + delay
    while time.monotonic() < end and process.poll() is None:
        time.sleep(min(0.01, max(0.0, end - time.monotonic())))
    # The role's process may not be there yet: wait for it while the operation runs.
    while process.poll() is None:
        found = victims(bench.home, role, process.pid)
        if found:
            committed = bench.events()
            send(pick(found), signal.SIGKILL)
            killed = role
            break
        time.sleep(0.02)
    try:
        process.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=120)
    return killed, committed


def check_store(bench: Bench, committed: list[Event]) -> None:
    present = bench.events()
    assert present[: len(committed)] == committed, "a committed event is gone or changed"
    with sqlite3.connect(bench.database(), timeout=20) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    checked = bench.home.cli("sessions", "check")
    assert checked.code == 0, checked.text


def check_files(bench: Bench) -> None:
    proposed = files_of(bench.candidate)
    for name, content in files_of(bench.head).items() if bench.head.exists() else ():
        assert content == proposed[name], f"{name} is half written"
    for name, content in files_of(bench.out()).items() if bench.out().exists() else ():
        assert content == bench.exported[name], f"the exported {name} is half written"


def take_back(bench: Bench) -> None:
    """From wherever the kill left it, the acceptance can be finished and undone, and then nothing of it is left."""
    listed = bench.home.cli("proposals", "list")
    state = {row["proposal"]: row["state"] for row in listed.report["proposals"]}[bench.proposal]
    assert state in ("open", "accepted"), listed.text
    if state == "accepted":
        decided = [event for event in bench.events() if event[4] == "decided"][-1][0]
        landed = [event for event in bench.events() if event[4] == "landed" and f'"decision":{decided}' in event[5]]
        if not landed:
            finished = bench.home.cli("proposals", "accept", bench.proposal)
            assert finished.report.get("decision") == decided, finished.text
        assert files_of(bench.head) == files_of(bench.candidate)
        undone = bench.home.cli("proposals", "undo", decided)
        assert undone.code == 0, undone.text
    assert not files_of(bench.head) if bench.head.exists() else True


def check_orphans(home: Home, seconds: float = 15) -> None:
    """Every oracle, runner, executor and wall belongs to a living worker."""
    end = time.monotonic() + seconds
    while True:
        found = home.processes()
        workers = {pid for pid, role in found.items() if role in ("worker", "heddle-cli", "heddle-proposer")}
        orphans = {pid: role for pid, role in found.items() if not descends_from(pid, workers)}
        if not orphans:
            return
        assert time.monotonic() < end, f"left behind: {orphans}"
        time.sleep(0.1)


def descends_from(pid: int, ancestors: set[int]) -> bool:
    while pid > 1:
        if pid in ancestors:
            return True
        pid = parent_of(pid)
    return False


def test_kills_at_random_points_lose_nothing_and_leave_nothing(bench: Bench) -> None:
    choose = random.Random(SEED)
    count: dict[str, int] = {}
    durations = dict(DURATIONS)
    print(f"HEDDLE_SEED={SEED}")
    kills = 0
    attempts = 0
    while kills < KILLS:
        attempts += 1
        assert attempts <= 4 * KILLS + 10, f"only {kills} kills in {attempts} attempts: {count}"
        operation = choose.choices(("optimize", "judge", "accept", "export"), (2, 2, 3, 2))[0]
        # Accepting is the command line's work alone; the others go through every process.
        role = "cli" if operation == "accept" else ROLES[kills % len(ROLES)]
        delay = choose.uniform(0.0, durations[operation])
        start = time.monotonic()
        killed, committed = hit(bench, operation, role, delay, choose.choice)
        if killed == "nothing":
            durations[operation] = 0.9 * (time.monotonic() - start)
        else:
            # What comes after a kill starts colder.
            durations[operation] *= 1.1
        what = f"HEDDLE_SEED={SEED} attempt {attempts}: {killed} during {operation} after {delay:.3f} s"
        print(what, flush=True)
        try:
            check_store(bench, committed)
            check_files(bench)
            check_orphans(bench.home)
            if operation == "accept":
                take_back(bench)
            again = bench.home.cli("lint", bench.task)
            assert again.code == 0, again.text
        except AssertionError as error:
            raise AssertionError(f"{what}\n{error}") from error
        if killed != "nothing":
            kills += 1
            count[killed] = count.get(killed, 0) + 1
    print(f"{kills} kills in {attempts} attempts: {count}")
    bench.home.stop_workers()
    assert not bench.home.processes()
