#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the subjects of the latest commits: `area: imperative text`, at most 110 characters, no full stop."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tree import Finding, main

LATEST = 50
# The text begins in lower case, but for a name such as NVRTC or ErrorText.
SUBJECT = re.compile(r"^[a-z0-9][a-z0-9_/,+. -]*: (?:[^\sA-Z]|[A-Z][A-Za-z]*[A-Z0-9+]\S* ).*[^.\s]$")
EMPTY_WORDS = ("fix", "refactor", "update", "wip", "cleanup", "clean up", "changes", "misc")


def problem(subject: str) -> str | None:
    """What is wrong with a subject, or None."""
    if len(subject) > 110:
        return f"the subject has {len(subject)} characters; at most 110"
    if not SUBJECT.match(subject):
        return "the subject must read `area: imperative text`, in lower case, without a full stop"
    if subject.split(": ", 1)[1].strip().lower() in EMPTY_WORDS:
        return "the subject says nothing about what changed"
    return None


def check(root: Path) -> Iterator[Finding]:
    listed = subprocess.run(["git", "log", f"-{LATEST}", "--no-merges", "--format=%h %s"], cwd=root,
                            capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        return  # an unpacked source archive has no history to check
    for line in listed.stdout.splitlines():
        commit, _, subject = line.partition(" ")
        if found := problem(subject):
            yield Finding(commit, 0, f"{found}: {subject}")


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
