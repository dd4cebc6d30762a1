#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every path that a Markdown file cites exists, and that every decision is numbered and listed once."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tree import Finding, main, tracked_files

TOPS = ("app", "cmake", "core", "docs", "packaging", "resources", "skills", "tests", "translations", "widgets", ".ci",
        "LICENSES")
CITED = re.compile(r"`((?:" + "|".join(re.escape(top) for top in TOPS) + r")/[\w./-]*[\w/])`")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
SECTIONS = ("## Context", "## Decision", "## Alternatives", "## Consequences", "## Accepted risks")


def check(root: Path) -> Iterator[Finding]:
    names = tracked_files(root)
    for name in names:
        if not name.endswith(".md"):
            continue
        text = (root / name).read_text(encoding="utf-8")
        prose = FENCE.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)
        for found in CITED.finditer(prose):
            if not (root / found.group(1)).exists():
                yield Finding(name, prose.count("\n", 0, found.start()) + 1, f"cites {found.group(1)}, which does not exist")
        for found in LINK.finditer(prose):
            target = found.group(1)
            if "://" in target or target.startswith("mailto:"):
                continue
            if not (root / name).parent.joinpath(target).exists():
                yield Finding(name, prose.count("\n", 0, found.start()) + 1, f"links to {target}, which does not exist")
    yield from check_decisions(root, names)


def check_decisions(root: Path, names: list[str]) -> Iterator[Finding]:
    decisions = [n for n in names if re.match(r"docs/decisions/\d{4}-[a-z0-9-]+\.md$", n)]
    for position, name in enumerate(decisions, 1):
        if not name.startswith(f"docs/decisions/{position:04d}-"):
            yield Finding(name, 1, f"decisions are numbered without gaps; this one should be {position:04d}")
        text = (root / name).read_text(encoding="utf-8")
        for section in SECTIONS:
            if section + "\n" not in text:
                yield Finding(name, 1, f"a decision needs the section '{section}'")


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
