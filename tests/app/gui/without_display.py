# SPDX-License-Identifier: Apache-2.0
"""The window's program where there is nothing to show a window on: a terminal over ssh, a container."""

from __future__ import annotations

import os
import subprocess

from heddle import PROGRAMS

SHOWN_ON = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in SHOWN_ON}
    return subprocess.run(
        [PROGRAMS / "heddle", *arguments], env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def test_the_options_are_told_without_a_display() -> None:
    told = run("--help")
    assert told.returncode == 0, told.stderr
    assert "--new-workspace" in told.stdout
    assert told.stderr == ""


def test_the_version_is_told_without_a_display() -> None:
    told = run("--version")
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith("heddle ")


def test_a_window_without_a_display_is_refused_in_a_sentence_that_says_what_works() -> None:
    refused = run()
    assert refused.returncode == 1, refused.stderr
    assert "no display" in refused.stderr
    assert "heddle-cli" in refused.stderr
