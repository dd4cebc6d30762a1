#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Drive the installed `heddle` along the main path by accessible names and take a picture at each step.

Every measured figure on screen must be in this run's events, or the script fails: a picture never shows a
number that was not measured. Needs a display (`xvfb-run`) or QT_QPA_PLATFORM=offscreen.

    tests/e2e/screenshots.py --heddle PREFIX/bin/heddle --task resources/tasks/NAME.py --out docs/screenshots
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from window import FIGURE, Window

SCALE = {"ns": 1e-6, "µs": 1e-3, "ms": 1.0, "s": 1e3}


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
    window.press("Export", 30)
    window.wait_for_text("not written yet", 120)
    time.sleep(0.5)
    grab(window, out, "07-export")
    window.press("Write these files")
    window.wait("exported", 1, 20)
    window.wait_for_text("model_new.py is written to ")
    window.press("Go to Decisions")
    time.sleep(0.5)
    grab(window, out, "08-decisions")


def private_folders(home: Path) -> dict[str, str]:
    """XDG folders of this run alone."""
    folders = {}
    for name in ("CONFIG_HOME", "STATE_HOME", "CACHE_HOME", "RUNTIME_DIR"):
        folder = home / name.partition("_")[0].lower()
        folder.mkdir(mode=0o700)
        folders[f"XDG_{name}"] = str(folder)
    return folders


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
        environment = dict(os.environ, LC_ALL="C.UTF-8", **private_folders(Path(folder)))
        window = Window(arguments.heddle.absolute(), [workspace], Path(folder) / "automation.sock", environment)
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
