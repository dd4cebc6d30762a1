# SPDX-License-Identifier: Apache-2.0
"""The window as a script drives it: by accessible names, through the automation socket."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

# A figure with its unit, as widgets/common/Format writes it.
FIGURE = re.compile(r"(\d+(?:\.\d+)?)\s*(ns|µs|ms|s|×|%)(?![\w])")


def described(do: str, arguments: Mapping[str, Any]) -> str:
    """A command as a person would write it: `press name='Lint'`."""
    return " ".join([do, *(f"{name}={value!r}" for name, value in arguments.items())])


def refusal(error: Any) -> str:
    """An error of the window as one sentence; members that it lacks are left out."""
    if not isinstance(error, Mapping):
        return f"it failed without saying why: {error!r}"
    message = str(error.get("message") or "it failed without saying why")
    where = f" ({error['where']})" if error.get("where") else ""
    following = f"; next: {error['next']}" if error.get("next") else ""
    return message + where + following


class Window:
    """The running program at the other end of its automation socket."""

    def __init__(
        self, program: Path, arguments: Sequence[object], path: Path, environment: Mapping[str, str]
    ) -> None:
        self.path = path
        command = [str(program), "--automation", str(path), *map(str, arguments)]
        self.process = subprocess.Popen(command, env=environment)
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
        """The answer to one command. RuntimeError when the window refuses, ConnectionError when it is gone."""
        self.socket.sendall((json.dumps({"id": 1, "do": do, **arguments}) + "\n").encode())
        line = self.reader.readline()
        if not line:
            raise ConnectionError(f"{described(do, arguments)}: the window closed the connection without an answer")
        answer = json.loads(line)
        if not answer.get("ok"):
            raise RuntimeError(f"{described(do, arguments)}: {refusal(answer.get('error'))}")
        return answer.get("result")

    def texts(self) -> list[str]:
        return [text.replace("\u00a0", " ") for text in self.ask("texts")]

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
        """Wait for that many events of a kind; a session that failed or proposed nothing ends the run with why."""
        deadline = time.monotonic() + seconds
        while len(self.events(kind)) < count:
            for ended in self.events("session_ended"):
                if ended["data"]["reason"] == "failed":
                    raise SystemExit(f"a session failed: {ended['data']['message']}")
                if kind == "proposal_opened" and ended["data"]["reason"] in {"no_candidate", "at_roof"}:
                    raise SystemExit(f"the optimiser made no proposal: {ended['data']['reason']}")
            if time.monotonic() > deadline:
                raise SystemExit(f"no {kind} within {seconds:g} s")
            time.sleep(0.2)

    def wait_for_text(self, words: str, seconds: float = 20.0) -> str:
        """The first text on screen that holds these words."""
        deadline = time.monotonic() + seconds
        while True:
            shown = self.texts()
            for text in shown:
                if words in text:
                    return text
            if time.monotonic() > deadline:
                raise AssertionError(f"{words!r} is not on screen within {seconds:g} s:\n" + "\n".join(shown))
            time.sleep(0.1)

    def close(self) -> None:
        self.ask("quit")
        self.process.wait(timeout=20)
