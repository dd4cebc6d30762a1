# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: the built programs in private folders, and a look at what they leave running."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

SOURCE = Path(os.environ.get("HEDDLE_SOURCE_DIR", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("HEDDLE_BINARY_DIR", SOURCE / "build/dev"))
PROGRAMS = BUILD / "bin"
PYTHON = os.environ.get("HEDDLE_PYTHON", sys.executable)
PLANS = SOURCE / "resources/plans"

# A covered task whose calls take less than a millisecond, so that a whole optimisation stays short.
TASK = '''"""Scale, shift and ReLU on a small tensor."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, features: int) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.randn(features))
        self.shift = nn.Parameter(torch.randn(features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x * self.gain + self.shift) * 0.5


def get_inputs():
    return [torch.randn(1024, 1000)]


def get_init_inputs():
    return [1000]
'''


@dataclass
class Answer:
    """How one command ended."""

    code: int
    out: str
    err: str
    report: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return f"exit code {self.code}\n{self.out}\n{self.err}"


class Home:
    """Private XDG folders with a workspace: a worker of its own, nothing shared with the person's Heddle."""

    def __init__(self) -> None:
        # Short, since a socket's path has at most 107 bytes.
        self.folder = Path(tempfile.mkdtemp(prefix="he2e-", dir="/tmp"))
        self.workspace = self.folder / "w"
        self.workspace.mkdir()
        self.environment = dict(os.environ, LC_ALL="C.UTF-8", HEDDLE_PYTHON=PYTHON)
        for name in ("CACHE_HOME", "STATE_HOME", "CONFIG_HOME", "RUNTIME_DIR"):
            folder = self.folder / name.partition("_")[0].lower()
            folder.mkdir(mode=0o700)
            self.environment[f"XDG_{name}"] = str(folder)
        # The sandbox's users must be able to pass, as they can pass /tmp.
        self.folder.chmod(0o711)
        self.temporary = self.folder / "t"
        self.temporary.mkdir()
        self.temporary.chmod(0o1777)
        self.environment["TMPDIR"] = str(self.temporary)
        self._reports = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop_workers()
        shutil.rmtree(self.folder, ignore_errors=True)

    def write_task(self, text: str = TASK, name: str = "small.py") -> Path:
        path = self.workspace / name
        path.write_text(text, encoding="utf-8")
        return path

    def start(self, *arguments: object, environment: dict[str, str] | None = None) -> subprocess.Popen[str]:
        command = [str(PROGRAMS / "heddle-cli"), *map(str, arguments)]
        return subprocess.Popen(
            command,
            env=self.environment | (environment or {}),
            cwd=self.workspace,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def cli(
        self,
        *arguments: object,
        environment: dict[str, str] | None = None,
        seconds: float = 300,
        names_workspace: bool = True,
    ) -> Answer:
        """Run a command with --json and wait for it."""
        self._reports += 1
        path = self.folder / f"report-{self._reports}.json"
        workspace = ("--workspace", self.workspace) if names_workspace else ()
        process = self.start(*arguments, "--json", path, *workspace, environment=environment)
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            raise AssertionError(f"{arguments} did not end within {seconds:g} s\n{out}\n{err}") from None
        report = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        return Answer(process.returncode, out, err, report)

    def processes(self) -> dict[int, str]:
        """Living processes that were started with this home, by pid, with their role."""
        mark = f"XDG_RUNTIME_DIR={self.environment['XDG_RUNTIME_DIR']}"
        own = str(self.folder)
        found = {}
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                command = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
                environment = (entry / "environ").read_bytes().decode(errors="replace").split("\0")
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            except (OSError, IndexError):
                continue
            is_ours = mark in environment or own in " ".join(command + environment)
            if is_ours and state != "Z":
                found[int(entry.name)] = role_of(command)
        return found

    def leftovers(self) -> list[str]:
        """What Heddle has left in the temporary folder and in the folders of workers, by name."""
        folders = (self.temporary, Path(self.environment["XDG_CACHE_HOME"]) / "heddle/worker")
        return [str(path) for folder in folders if folder.exists() for path in folder.iterdir()]

    def stop_workers(self, seconds: float = 20) -> None:
        """Ask the workers to end, and wait until nothing of this home runs any more; then end the rest."""
        end = time.monotonic() + seconds
        for pid, role in self.processes().items():
            if role == "worker":
                send(pid, signal.SIGTERM)
        while self.processes() and time.monotonic() < end:
            time.sleep(0.05)
        for pid in self.processes():
            send(pid, signal.SIGKILL)


def role_of(command: list[str]) -> str:
    """Which of Heddle's processes a command line belongs to."""
    line = " ".join(command)
    program = Path(command[0]).name
    if program == "heddle-worker":
        return "bridge" if "--stdio" in command else "worker"
    if program in ("bwrap", "heddle-launch"):
        return "wall"
    if "heddle-executor" in line:
        return "executor"
    if "launch.py" in line:
        return "oracle" if "oracle" in command else "runner"
    return program


def propose(home: Home, task: Path, candidate: Path) -> str:
    """Judge a candidate and propose it whatever the verdict, which needs no quiet machine. Returns the proposal's id."""
    made = subprocess.run(
        [PROGRAMS / "heddle-proposer", task, candidate],
        env=home.environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()


def send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def evidence(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The rows of the verdict by id."""
    return {row["id"]: row for row in report["verdict"]["evidence"]}


def noise_reason(report: dict[str, Any]) -> str | None:
    """Why the times of this report do not count, or None when they do."""
    rows = evidence(report) if "verdict" in report else {}
    for name in ("machine_quiet", "timing", "baseline_drift"):
        if name in rows and rows[name]["status"] == "not run":
            return f"{name}: {rows[name]['message']}"
    return None
