#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Drive the installed `heddle` along the main path by accessible names and take a picture at each step.

Every measured figure on screen must be in this run's events, or the script fails: a picture never shows a
number that was not measured. Needs a display (`xvfb-run`) or QT_QPA_PLATFORM=offscreen.

    tests/e2e/screenshots.py --heddle PREFIX/bin/heddle --task resources/tasks/NAME.py --out docs/screenshots
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# A figure with its unit, as widgets/common/Format writes it.
FIGURE = re.compile(r"(\d+(?:\.\d+)?)\s*(ns|µs|ms|s|×|%)(?![\w])")
SCALE = {"ns": 1e-6, "µs": 1e-3, "ms": 1.0, "s": 1e3}


class Window:
    """The running program at the other end of its automation socket."""

    def __init__(self, program: Path, workspace: Path, home: Path) -> None:
        self.path = home / "automation.sock"
        environment = dict(os.environ, LC_ALL="C.UTF-8")
        for name in ("CONFIG", "STATE", "CACHE", "RUNTIME"):
            folder = home / name.lower()
            folder.mkdir(mode=0o700)
            environment[f"XDG_{name}_DIR" if name == "RUNTIME" else f"XDG_{name}_HOME"] = str(folder)
        self.process = subprocess.Popen([program, "--automation", self.path, workspace], env=environment)
        self.socket = self._connect(time.monotonic() + 20)
        self.reader = self.socket.makefile("r", encoding="utf-8")

    def _connect(self, deadline: float) -> socket.socket:
        while time.monotonic() < deadline and self.process.poll() is None:
            client = socket.socket(socket.AF_UNIX)
            try:
                client.connect(str(self.path))
                return client
            except OSError:
                client.close()
                time.sleep(0.05)
        raise SystemExit("heddle did not open its automation socket")

    def ask(self, do: str, **arguments: Any) -> Any:
        self.socket.sendall((json.dumps({"id": 1, "do": do, **arguments}) + "\n").encode())
        answer = json.loads(self.reader.readline())
        if not answer["ok"]:
            raise RuntimeError(f"{do} {arguments}: {answer['error']['message']} ({answer['error']['where']})")
        return answer["result"]

    def press(self, name: str, seconds: float = 10.0) -> None:
        """Press a control, waiting until it is there and enabled."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                self.ask("press", name=name)
                return
            except RuntimeError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def events(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.ask("events") if event["type"] == kind]

    def wait(self, kind: str, count: int, seconds: float) -> None:
        """Wait for that many events of a kind; a failed session ends the run with its message."""
        deadline = time.monotonic() + seconds
        while len(self.events(kind)) < count:
            for ended in self.events("session_ended"):
                if ended["data"]["reason"] == "failed":
                    raise SystemExit(f"a session failed: {ended['data']['message']}")
            if time.monotonic() > deadline:
                raise SystemExit(f"no {kind} within {seconds:g} s")
            time.sleep(0.2)

    def close(self) -> None:
        self.ask("quit")
        self.process.wait(timeout=20)


def numbers(value: Any) -> Iterator[float]:
    """Every number in a JSON value, at any depth, and those written in its texts."""
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, (int, float)):
        yield float(value)
    elif isinstance(value, str):
        yield from (float(match[1]) for match in FIGURE.finditer(value))
    else:
        for item in value.values() if isinstance(value, dict) else value:
            yield from numbers(item)


def is_measured(text: str, unit: str, known: list[float]) -> bool:
    """Whether a figure on screen is a number of the run, or the width of an interval, rounded to its digits."""
    shown = float(text)
    slack = 0.501 * 10.0 ** -len(text.partition(".")[2])
    for number in known:
        for size in {
            "%": (number * 100,),
            "×": (number,),
        }.get(unit, (number / SCALE.get(unit, 1.0), number * 1e3 / SCALE.get(unit, 1.0))):
            if abs(size - shown) <= slack:
                return True
    return False


def check_figures(window: Window, step: str, spreads: bool = True) -> None:
    """Fail unless each figure with a unit on screen is in the events of this run."""
    events = window.ask("events")
    known = list(numbers([event["data"] for event in events]))
    intervals = list(find_intervals([event["data"] for event in events])) if spreads else []
    for text in window.ask("texts"):
        if "T" in text and text.count("  ") > 3:
            continue  # the log shows events as they are
        for match in FIGURE.finditer(text.replace("\u00a0", " ")):
            if float(match[1]) == 0 or is_measured(match[1], match[2], known + intervals):
                continue
            if ", 0:" in text or " left" in text:
                continue  # time that a job has run
            raise SystemExit(f"step {step}: {match[0]!r} in {text!r} was not measured in this run")


def find_intervals(value: Any) -> Iterator[float]:
    """Half widths of the intervals in a report: {"value", "ci": [low, high]}."""
    if isinstance(value, dict):
        interval = value.get("ci")
        if isinstance(interval, list) and isinstance(value.get("value"), (int, float)) and None not in interval:
            yield max(interval[1] - value["value"], value["value"] - interval[0])
        for item in value.values():
            yield from find_intervals(item)
    elif isinstance(value, list):
        for item in value:
            yield from find_intervals(item)


def grab(window: Window, out: Path, step: str) -> None:
    for theme in ("Light", "Dark"):
        window.press(f"Theme: {theme}")
        time.sleep(0.2)
        check_figures(window, step)
        for scale in (1, 2):
            window.ask("grab", file=str(out / f"{step}-{theme.lower()}-{scale}x.png"), scale=scale)


def drive(window: Window, out: Path, seconds: float) -> None:
    window.ask("resize", width=1440, height=900)
    grab(window, out, "01-opened")
    window.press("Trust this folder")
    window.wait("trusted", 1, 10)
    window.press("Baseline")
    window.wait("baseline_measured", 1, seconds)
    time.sleep(0.5)
    grab(window, out, "02-baseline")
    window.press("Optimise", seconds)
    window.wait("proposal_opened", 1, seconds)
    window.wait("session_ended", 2, seconds)
    grab(window, out, "03-optimised")
    window.ask("open_proposal", number=0)
    time.sleep(1.0)
    grab(window, out, "04-proposal")
    window.press("Open the evidence of this proposal")
    time.sleep(0.5)
    grab(window, out, "05-evidence")
    window.ask("open_proposal", number=0)
    time.sleep(1.0)
    window.press("Accept the whole proposal")
    window.wait("landed", 1, 20)
    time.sleep(0.5)
    grab(window, out, "06-accepted")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--heddle", type=Path, required=True)
    parser.add_argument("--task", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=600.0, help="limit of one long step")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="heddle-shots-", ignore_cleanup_errors=True) as folder:
        workspace = Path(folder) / "work"
        workspace.mkdir()
        shutil.copy(arguments.task, workspace)
        window = Window(arguments.heddle.absolute(), workspace, Path(folder))
        try:
            drive(window, arguments.out.absolute(), arguments.seconds)
            window.close()
        finally:
            if window.process.poll() is None:
                window.process.kill()
    print(f"pictures are in {arguments.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
