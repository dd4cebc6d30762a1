# SPDX-License-Identifier: Apache-2.0
"""`kill -9` at random points of the main path: nothing committed is lost, nothing is left behind, the next call works.

HEDDLE_KILLS sets the number of kills (50), HEDDLE_SEED the seed (a new one each run, printed). Every role is hit in
turn, so that none is left out; without a built window its role is left out, and the run says so.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from driven import PATIENCE, Driven, Window
from heddle import PLANS, PROGRAMS, Answer, Home, propose, send

KILLS = int(os.environ.get("HEDDLE_KILLS", "50"))
SEED = int(os.environ.get("HEDDLE_SEED", str(random.SystemRandom().randrange(10**6))))

# Which process of ours each role is: heddle.role_of() by its command line, zygotes by their parent.
ROLES = ("window", "cli", "worker", "oracle", "runner", "executor", "oracle zygote", "runner zygote")
# What is under way when the kill comes, with how often it is chosen. What the window does begins with "window".
OPERATIONS = {"optimize": 1, "judge": 2, "judge python": 2, "accept": 2, "export": 2, "window baseline": 1,
              "window optimise": 1, "window accept": 1, "window export": 1}  # fmt: skip
# Where each role takes part: accepting is the supervisor's work alone, runners hold Python candidates.
WHERE: dict[str, Callable[[str], bool]] = {
    "window": lambda name: name.startswith("window"),
    "cli": lambda name: not name.startswith("window"),
    "runner": lambda name: name in ("judge python", "optimize"),
    "runner zygote": lambda name: name in ("judge python", "optimize"),
    "executor": lambda name: name in ("judge", "optimize", "window optimise"),
}
# How long an operation takes at first, in seconds; learned from those that ended before they were hit.
DURATIONS = {"optimize": 20.0, "judge": 2.0, "judge python": 2.0, "accept": 0.1, "export": 2.0,
             "window baseline": 10.0, "window optimise": 20.0, "window accept": 1.5, "window export": 4.0}  # fmt: skip

# A candidate that computes in a runner. It launches PyTorch's own operators, so its class is `fallback`, always.
PYTHON_CANDIDATE = """import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, features: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.randn(features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.gelu(x + self.bias)
"""

Event = tuple[int, str, str, str, str, str]


@dataclass
class Bench:
    """The workspace under test with what it must still hold."""

    home: Home
    task: Path
    candidate: Path
    python_candidate: Path
    proposal: str
    exported: dict[str, bytes]
    codes: dict[str, int]  # exit codes of the short commands when nobody is killed

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
        return {
            "optimize": ["optimize", self.home.workspace / "small.py", "--budget-seconds", 20],
            "judge": ["judge", self.task, self.candidate],
            "judge python": ["judge", self.task, self.python_candidate],
            "accept": ["proposals", "accept", self.proposal],
            "export": ["export", self.candidate, "--task", self.task, "-o", self.out()],
        }[operation]

    def start(self, operation: str) -> subprocess.Popen[str] | Driven:
        shutil.rmtree(self.out(), ignore_errors=True)
        if not operation.startswith("window"):
            return self.home.start(*self.command(operation), "--quiet", "--workspace", self.home.workspace)
        if operation == "window accept":
            listed = [row["proposal"] for row in self.home.cli("proposals", "list").report["proposals"]]
            number = listed.index(self.proposal)
            return Driven(self.home, self.task, lambda window: accept_in(window, number))
        if operation == "window export":
            return Driven(self.home, self.task, lambda window: export_in(window, self.out()))
        button = {"window baseline": "Baseline", "window optimise": "Optimise"}[operation]
        return Driven(self.home, self.home.workspace / "small.py", lambda window: press_in(window, button))


def press_in(window: Window, button: str) -> None:
    before = window.newest()
    window.press(button, PATIENCE)
    window.wait_for({"session_ended"}, before, 240)


def accept_in(window: Window, number: int) -> None:
    # A window that has just started has read no event yet, and shows no proposal.
    window.retry("open_proposal", number=number)
    before = window.newest()
    window.press("Accept the whole proposal", PATIENCE)
    window.wait_for({"landed"}, before, PATIENCE)


def export_in(window: Window, folder: Path) -> None:
    before = window.newest()
    window.press("Export", PATIENCE)
    # The preview opens when the worker has made and checked it.
    window.retry("set_text", name="Folder of the export", text=str(folder))
    window.press("Write these files", PATIENCE)
    window.wait_for({"exported"}, before, PATIENCE)


def trust_in(window: Window) -> None:
    window.press("Trust this folder", PATIENCE)
    window.wait_for({"trusted"}, 0, PATIENCE)


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
        exported = files_of(home.folder / "whole")
        if has_window():
            trusting = Driven(home, task, trust_in)
            trusting.communicate(PATIENCE)
            assert trusting.problem(False) is None, trusting.problem(False)
        python_candidate = home.folder / "model_new.py"
        python_candidate.write_text(PYTHON_CANDIDATE, encoding="utf-8")
        made = home.cli("judge", task, python_candidate)
        assert made.report["verdict"]["class"] == "fallback", made.text
        yield Bench(home, task, candidate, python_candidate, proposal, exported, {"judge python": made.code})


def has_window() -> bool:
    return (PROGRAMS / "heddle").exists()


def parent_of(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError):
        return 0


def victims(home: Home, role: str, front: int) -> list[int]:
    if role in ("cli", "window"):
        return [front]
    found = home.processes()
    python = {pid for pid, name in found.items() if name in ("oracle", "runner")}
    zygotes = {pid for pid in python if parent_of(pid) not in python}
    if role.endswith(" zygote"):
        return sorted(pid for pid in zygotes if found[pid] == role.removesuffix(" zygote"))
    return sorted(pid for pid, name in found.items() if name == role and pid not in zygotes)


@dataclass
class Hit:
    """How one attempt went."""

    killed: str
    committed: list[Event]
    seconds: float
    problem: str | None


def hit(bench: Bench, operation: str, role: str, delay: float, pick: Callable[[list[int]], int]) -> Hit:
    """Start the operation, kill once, and let what is left of it end."""
    start = time.monotonic()
    process = bench.start(operation)
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
    was_ended = killed == "window"
    try:
        process.communicate(timeout=30 if killed != "nothing" else None)
    except subprocess.TimeoutExpired:
        was_ended = True
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=120)
    problem = None
    if isinstance(process, Driven):
        # Whoever else was killed, the window stays and says what failed.
        problem = process.problem(was_ended)
    return Hit(killed, committed, time.monotonic() - start, problem)


def check_store(bench: Bench, committed: list[Event]) -> None:
    present = bench.events()
    assert present[: len(committed)] == committed, "a committed event is gone or changed"
    with sqlite3.connect(bench.database(), timeout=20) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    checked = bench.home.cli("sessions", "check")
    assert checked.code == 0, checked.text


def is_whole_object(path: Path) -> bool:
    """Whether an ELF file reaches as far as its header says: its section table is its end."""
    data = path.read_bytes()
    if len(data) < 64 or data[:4] != b"\x7fELF":
        return False
    (table,) = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    return bool(table + size * count <= len(data))


def check_files(bench: Bench) -> None:
    proposed = files_of(bench.candidate)
    for name, content in files_of(bench.head).items() if bench.head.exists() else ():
        assert content == proposed[name], f"{name} is half written"
    for name, content in files_of(bench.out()).items() if bench.out().exists() else ():
        assert content == bench.exported[name], f"the exported {name} is half written"
    for folder in ("CACHE_HOME", "CONFIG_HOME", "STATE_HOME"):
        for path in Path(bench.home.environment[f"XDG_{folder}"]).rglob("[!.]*"):
            if path.suffix == ".so":
                assert is_whole_object(path), f"{path} is half written"
            if path.suffix == ".json":
                json.loads(path.read_text(encoding="utf-8"))


def check_window(bench: Bench) -> None:
    """A window that starts again shows every event that there is."""
    expected = [(event[0], event[4]) for event in bench.events()]
    shown: list[tuple[int, str]] = []

    def look(window: Window) -> None:
        end = time.monotonic() + PATIENCE
        while len(shown) < len(expected) and time.monotonic() < end:
            shown[:] = [(event["id"], event["type"]) for event in window.ask("events")]
            time.sleep(0.05)

    again = Driven(bench.home, bench.task, look)
    again.communicate(2 * PATIENCE)
    assert again.problem(False) is None, again.problem(False)
    assert shown[: len(expected)] == expected, "the window that was started again lacks events"


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


def check_again(bench: Bench, operation: str) -> None:
    """The next call works, and it is the one that was cut off where that is a short one."""
    name = operation if operation in ("judge", "judge python", "export") else ""
    shutil.rmtree(bench.out(), ignore_errors=True)
    again: Answer = bench.home.cli(*(bench.command(name) if name else ["lint", bench.task]))
    assert again.code == bench.codes.get(name, 0), again.text
    if name == "export":
        assert files_of(bench.out()) == bench.exported, "the next export differs"


def test_kills_at_random_points_lose_nothing_and_leave_nothing(bench: Bench) -> None:
    choose = random.Random(SEED)
    roles = [role for role in ROLES if role != "window" or has_window()]
    operations = [name for name in OPERATIONS if has_window() or not name.startswith("window")]
    count = dict.fromkeys(roles, 0)
    durations = dict(DURATIONS)
    begin = time.monotonic()
    print(f"HEDDLE_SEED={SEED}" + ("" if has_window() else ": the window is not built"))
    kills = 0
    attempts = 0
    while kills < KILLS:
        attempts += 1
        assert attempts <= 4 * KILLS + 10, f"only {kills} kills in {attempts} attempts: {count}"
        role = roles[kills % len(roles)]
        takes_part = WHERE.get(role, lambda name: not name.endswith("accept"))
        possible = [name for name in operations if takes_part(name)]
        operation = choose.choices(possible, [OPERATIONS[name] for name in possible])[0]
        delay = choose.uniform(0.0, durations[operation])
        done = hit(bench, operation, role, delay, choose.choice)
        if done.killed == "nothing":
            durations[operation] = 0.9 * done.seconds
        else:
            # What comes after a kill starts colder.
            durations[operation] *= 1.1
        what = f"HEDDLE_SEED={SEED} attempt {attempts}: {done.killed} during {operation} after {delay:.3f} s"
        print(f"{time.monotonic() - begin:6.0f} s  {what}", flush=True)
        try:
            assert done.problem is None, done.problem
            check_store(bench, done.committed)
            check_files(bench)
            check_orphans(bench.home)
            if operation.endswith("accept"):
                take_back(bench)
            if role == "window":
                check_window(bench)
            check_again(bench, operation)
        except AssertionError as error:
            raise AssertionError(f"{what}\n{error}") from error
        if done.killed != "nothing":
            kills += 1
            count[done.killed] += 1
    print(f"{kills} kills in {attempts} attempts, {time.monotonic() - begin:.0f} s: {count}")
    assert min(count.values()) >= KILLS // len(roles), count
    bench.home.stop_workers()
    assert not bench.home.processes()
    assert not bench.home.leftovers()
