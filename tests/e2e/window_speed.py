# SPDX-License-Identifier: Apache-2.0
"""The window answers at once: its first paint, and the processor time of its handlers while a job runs.

The limits here have slack for a busy machine; the figures are in docs/measurements/window.md. With
HEDDLE_WINDOW_FIGURES=FILE they are written there as JSON.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from heddle import PROGRAMS, Home
from window import Window

FIRST_PAINT_MS = 1000.0
HANDLER_MS = 50.0
SLACK = 2.0
STARTS = 5
THEMES = ("Theme: Dark", "Theme: Light")
# Of so many changes the quickest counts: others on the machine make a handler slower, never quicker.
CHANGES = 5
# A busy machine may need many minutes for the whole job.
WATCHED_SECONDS = 60


@pytest.fixture
def home() -> Iterator[Home]:
    with Home() as made:
        made.environment["QT_QPA_PLATFORM"] = os.environ.get("HEDDLE_WINDOW_PLATFORM", "offscreen")
        yield made


def keep(name: str, value: Any) -> None:
    """Leave a figure for a person to write down."""
    target = os.environ.get("HEDDLE_WINDOW_FIGURES")
    if target is None:
        return
    path = Path(target)
    figures = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.write_text(json.dumps(figures | {name: value}, indent=2), encoding="utf-8")


def first_paint(window: Window) -> tuple[float, float]:
    """Milliseconds until the first paint: those that passed, and those that the process worked."""
    deadline = time.monotonic() + 20
    while (timing := window.ask("timing"))["first_paint_ms"] < 0:
        assert time.monotonic() < deadline, "nothing was painted"
        time.sleep(0.02)
    return timing["first_paint_ms"], timing["first_paint_work_ms"]


@pytest.mark.parametrize("opens", ["welcome", "workspace"])
def test_the_first_paint_comes_within_a_second_and_before_any_python(home: Home, opens: str) -> None:
    home.write_task()
    arguments = [home.workspace] if opens == "workspace" else []
    times = []
    for start in range(STARTS):
        window = Window(PROGRAMS / "heddle", arguments, home.folder / f"{start}.sock", home.environment)
        try:
            times.append(first_paint(window))
            roles = set(home.processes().values())
            assert roles == {"heddle"}, f"only the window runs before a folder is trusted: {roles}"
            window.close()
        finally:
            window.process.kill()
    keep(f"first paint, {opens}, ms", sorted(passed for passed, _ in times))
    keep(f"first paint, {opens}, ms of processor time", sorted(work for _, work in times))
    # The disk is warm from the second start on. Where others take the processor, only the work tells.
    assert min(work for _, work in times[1:]) < FIRST_PAINT_MS, times
    assert min(passed for passed, _ in times[1:]) < FIRST_PAINT_MS * SLACK * SLACK, times


def test_no_handler_takes_long_while_jobs_run(home: Home) -> None:
    home.write_task()
    window = Window(PROGRAMS / "heddle", [home.workspace], home.folder / "a.sock", home.environment)
    try:
        window.press("Trust this folder")
        window.wait("trusted", 1, 20)
        window.press("Optimise", 60)
        window.ask("timing", reset=True)
        look_around(window)
        before = window.ask("timing")
        changes = change_themes(window)
        assert window.ask("timing")["busy"], "the job was over before anybody looked around"
        wait_for_end(window, WATCHED_SECONDS)
        timing = window.ask("timing")
        if timing["busy"]:
            # It may end by itself at this very moment, and then there is nothing to cancel.
            with contextlib.suppress(RuntimeError):
                window.press("Cancel running jobs", 1)
            assert wait_for_end(window, 60), "the job did not end when it was cancelled"
        window.close()
    finally:
        window.process.kill()
    longest = sorted(before["longest"] + timing["longest"], key=lambda one: -one["ms"])
    handled = before["handled"] + timing["handled"]
    keep("longest handlers while optimising, ms", longest)
    keep("longest handler of each change of theme, ms", changes)
    keep("events handled", handled)
    assert handled > 100, "the clock did not run"
    assert longest[0]["ms"] < HANDLER_MS * SLACK, longest
    for theme, times in changes.items():
        assert min(times) < HANDLER_MS, f"{theme}: {times}"


def change_themes(window: Window) -> dict[str, list[float]]:
    """The longest handler of each change of theme, in milliseconds of processor time."""
    times: dict[str, list[float]] = {theme: [] for theme in THEMES}
    for _ in range(CHANGES):
        for theme, found in times.items():
            window.ask("timing", reset=True)
            window.press(theme)
            time.sleep(0.3)
            found.append(window.ask("timing")["longest"][0]["ms"])
    return times


def look_around(window: Window) -> None:
    """What a person does while waiting: other pages, the other theme, another size, zoom."""
    pages = ("Go to Log", "Go to Decisions", "Go to Results", "Go to Transcript")
    for name in (*pages, "Zoom in", "Reset zoom", *THEMES):
        window.press(name)
        time.sleep(0.1)
    for width, height in ((1024, 700), (1440, 900)):
        window.ask("resize", width=width, height=height)
        time.sleep(0.2)


def wait_for_end(window: Window, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not window.events("session_ended") or window.ask("timing")["busy"]:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)
    return True
