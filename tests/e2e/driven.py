# SPDX-License-Identifier: Apache-2.0
"""The window as an operation that can be killed: starts `heddle` without a display and drives it from a thread."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import window
from heddle import PROGRAMS, Home

# Starved machines are slow, but nothing of ours needs longer to come up or to go.
PATIENCE = 60.0


class Window(window.Window):
    """The built program in a home's folders; it has a pid before it answers, so that its start can be hit, too."""

    def __init__(self, home: Home, path: Path) -> None:
        self.path = home.folder / "automation.sock"
        self.path.unlink(missing_ok=True)
        self.process = subprocess.Popen(
            [PROGRAMS / "heddle", "--automation", self.path, path],
            env=home.environment | {"QT_QPA_PLATFORM": "offscreen"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def connect(self) -> None:
        self.socket = self._connect(time.monotonic() + PATIENCE)
        self.reader = self.socket.makefile("r", encoding="utf-8")

    def retry(self, do: str, **arguments: Any) -> None:
        """Asks until it is possible."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                self.ask(do, **arguments)
                return
            except RuntimeError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)

    def newest(self) -> int:
        """Number of the newest event that the window shows."""
        return max((event["id"] for event in self.ask("events")), default=0)

    def wait_for(self, kinds: set[str], after: int, seconds: float) -> dict[str, Any]:
        """The first event of these kinds that comes after that number."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for event in self.ask("events", after=after):
                if event["type"] in kinds:
                    return dict(event)
            time.sleep(0.1)
        raise AssertionError(f"none of {sorted(kinds)} within {seconds:g} s")


class Driven:
    """A window that does one thing and quits; looks like the Popen of a command to whoever kills it."""

    def __init__(self, home: Home, path: Path, steps: Callable[[Window], None]) -> None:
        self._window = Window(home, path)
        self._steps = steps
        self._error: BaseException | None = None  # written by the thread before it ends
        self._thread = threading.Thread(target=self._drive, daemon=True)
        self._thread.start()

    @property
    def pid(self) -> int:
        return self._window.process.pid

    def _drive(self) -> None:
        try:
            self._window.connect()
            self._steps(self._window)
            self._window.close()
        except (OSError, RuntimeError, LookupError, ValueError, AssertionError, SystemExit) as error:
            self._error = error

    def poll(self) -> int | None:
        return self._window.process.poll()

    def communicate(self, timeout: float | None) -> tuple[str, str]:
        self._window.process.wait(timeout)
        return "", ""

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def problem(self, was_ended: bool) -> str | None:
        """What went wrong in the window, which its own end by a signal excuses."""
        self._thread.join(2 * PATIENCE)
        assert not self._thread.is_alive(), "the driver of the window hangs"
        if was_ended:
            return None
        if self._error is None:
            code = self._window.process.returncode
            return None if code == 0 else f"it ended with {code}"
        return f"{type(self._error).__name__}: {self._error}"
