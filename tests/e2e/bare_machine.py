# SPDX-License-Identifier: Apache-2.0
"""The installed window on a machine without PyTorch, compiler and provider: no figure anywhere, and what to do."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from heddle import BUILD, Home
from window import FIGURE, Window

COMPILERS = ("g++", "c++", "gcc", "cc", "clang++", "clang", "nvcc")
SECRETS = re.compile("KEY|TOKEN|SECRET|PASSWORD", re.IGNORECASE)
DOCKS = ("Tasks", "Proposals", "Plan", "Transcript", "Results", "Problems", "Decisions", "Log")


def bare_environment(home: Home, programs: Path) -> dict[str, str]:
    """Nothing of this machine's: an own PATH, no interpreter named, no key of a provider, no proxy."""
    kept = {name: value for name, value in home.environment.items() if name.startswith("XDG_")}
    return kept | {
        "HOME": str(home.folder),
        "PATH": str(programs),
        "HEDDLE_PYTHON": "",
        "LC_ALL": "C.UTF-8",
        "QT_QPA_PLATFORM": "offscreen",
    }


def check_is_bare(environment: dict[str, str]) -> None:
    """What the machine must lack is not there, or the test would show nothing."""
    programs = environment["PATH"]
    assert not [name for name in COMPILERS if shutil.which(name, path=programs)]
    assert not [name for name in environment if SECRETS.search(name)]
    python = shutil.which("python3", path=programs)
    if python is None:
        return
    tried = subprocess.run([python, "-c", "import torch"], env=environment, capture_output=True, check=False)
    if tried.returncode == 0:
        pytest.skip("the Python of the system has PyTorch")


@pytest.fixture(scope="module")
def installed() -> Iterator[Path]:
    """The program as `cmake --install` leaves it, in a prefix of its own."""
    cmake = os.environ.get("HEDDLE_CMAKE") or shutil.which("cmake")
    assert cmake is not None, "cmake is not on the PATH; HEDDLE_CMAKE may name it"
    with tempfile.TemporaryDirectory(prefix="heddle-prefix-") as folder:
        made = subprocess.run(
            [cmake, "--install", BUILD, "--prefix", folder], capture_output=True, text=True, check=False
        )
        assert made.returncode == 0, f"cmake --install failed; is everything built?\n{made.stderr}"
        yield Path(folder) / "bin/heddle"


def start(program: Path, arguments: list[Path], home: Home, environment: dict[str, str]) -> Window:
    """The installed window, which must get along without the build it came from."""
    window = Window(program, arguments, home.folder / "a.sock", environment)
    process = Path("/proc", str(window.process.pid))
    assert (process / "exe").resolve() == program.resolve()
    assert str(BUILD) not in (process / "maps").read_text(encoding="utf-8")
    return window


@pytest.fixture(params=["no Python", "Python without PyTorch"])
def machine(request: pytest.FixtureRequest) -> Iterator[tuple[Home, dict[str, str]]]:
    with Home() as home:
        programs = home.folder / "bin"
        programs.mkdir()
        if request.param != "no Python":
            python = shutil.which("python3", path="/usr/bin:/bin")
            if python is None:
                pytest.skip("this machine has no Python of the system")
            (programs / "python3").symlink_to(os.path.realpath(python))
        environment = bare_environment(home, programs)
        check_is_bare(environment)
        yield home, environment


def check_page(window: Window, page: str) -> None:
    for text in window.texts():
        found = FIGURE.search(text)
        assert found is None, f"{page}: {found[0]!r} in {text!r} was measured by nobody"


def walk(window: Window) -> None:
    """Every page of an open workspace."""
    for dock in DOCKS:
        window.press(f"Go to {dock}")
        check_page(window, dock)
    window.press("Check-up of this machine")
    check_page(window, "Check-up")


def test_the_welcome_page_says_what_is_missing_and_shows_no_figure(
    installed: Path, machine: tuple[Home, dict[str, str]]
) -> None:
    home, environment = machine
    window = start(installed, [], home, environment)
    try:
        check_page(window, "Welcome")
        window.press("Check this machine")
        window.wait_for_text("Missing: ", 60)
        check_page(window, "Welcome after the check-up")
        shown = "\n".join(window.texts())
        assert "HEDDLE_PYTHON" in shown, shown
        assert re.search(r"install (the package )?g\+\+", shown), shown
        window.close()
    finally:
        window.process.kill()


def test_no_page_of_a_workspace_shows_a_figure_and_a_failure_says_what_to_do(
    installed: Path, machine: tuple[Home, dict[str, str]]
) -> None:
    home, environment = machine
    home.write_task()
    window = start(installed, [home.workspace], home, environment)
    try:
        window.wait_for_text("class Model", 20)
        walk(window)
        window.press("Trust this folder")
        window.wait_for_text("Machine: missing", 60)
        window.wait_for_text("This machine lacks something", 5)
        walk(window)
        for action in ("Lint", "Baseline", "Optimise"):
            before = len(window.events("session_ended"))
            window.press(action, 30)
            window.wait_for_text("HEDDLE_PYTHON", 60)
            wait_for_end(window, before + 1)
            check_page(window, action)
        walk(window)
        ended = window.events("session_ended")
        assert {event["data"]["reason"] for event in ended} == {"failed"}
        measured = {"baseline_measured", "judged", "benchmarked", "compiled"}
        assert not measured & {event["type"] for event in window.ask("events")}
        window.close()
    finally:
        window.process.kill()


def wait_for_end(window: Window, count: int) -> None:
    deadline = time.monotonic() + 60
    while len(window.events("session_ended")) < count:
        assert time.monotonic() < deadline, "the session did not end"
        time.sleep(0.1)
