#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks every #include against docs/architecture/layers.toml."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tree import Finding, main, text_of, tracked_files, without_comments_and_strings

TABLE = "docs/architecture/layers.toml"
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)
SOURCES = (".h", ".cpp", ".cc", ".c")


def folder_of(name: str, folders: dict[str, Any]) -> str | None:
    """The longest listed folder that holds the file."""
    parts = name.split("/")[:-1]
    for length in range(len(parts), 0, -1):
        candidate = "/".join(parts[:length])
        if candidate in folders:
            return candidate
    return None


def matches(name: str, patterns: list[str]) -> bool:
    """A pattern is a folder, or a folder followed by /* for all below it."""
    for pattern in patterns:
        base = pattern.removesuffix("/*")
        if name == base or (pattern.endswith("/*") and name.startswith(base + "/")):
            return True
    return False


def cycles(folders: dict[str, Any]) -> Iterator[list[str]]:
    """Every cycle reachable in the table itself, wildcards left out."""
    done: set[str] = set()

    def visit(folder: str, path: list[str]) -> Iterator[list[str]]:
        if folder in path:
            yield path[path.index(folder):] + [folder]
            return
        if folder in done:
            return
        for target in folders.get(folder, {}).get("may_include", []):
            yield from visit(target, path + [folder])
        done.add(folder)

    for folder in folders:
        yield from visit(folder, [])


def check(root: Path) -> Iterator[Finding]:
    table = tomllib.loads((root / TABLE).read_text(encoding="utf-8"))
    folders: dict[str, Any] = table["folders"]
    externals: dict[str, Any] = table["externals"]
    for cycle in cycles(folders):
        yield Finding(TABLE, 1, "the table has a cycle: " + " → ".join(cycle))
    for name in tracked_files(root):
        if not name.endswith(SOURCES) or not name.startswith(("app/", "widgets/", "core/", "tests/")):
            continue
        folder = folder_of(name, folders)
        if folder is None:
            yield Finding(name, 1, f"its folder is not in {TABLE}; add it there with what it may include")
            continue
        text = text_of(root, name) or ""
        clean = without_comments_and_strings(text)
        for found in INCLUDE.finditer(text):
            if "#" not in clean[found.start():found.end()]:
                continue  # a line of a kernel that this file writes
            line = text.count("\n", 0, found.start()) + 1
            yield from check_include(name, folder, found.group(1) or "", found.group(2) or "", line, folders, externals)


def check_include(name: str, folder: str, quoted: str, angled: str, line: int,
                  folders: dict[str, Any], externals: dict[str, Any]) -> Iterator[Finding]:
    include = quoted or angled
    if include.startswith(("app/", "widgets/", "core/", "tests/")):
        target = folder_of(include, folders)
        if target is None:
            yield Finding(name, line, f"includes {include}, whose folder is not in {TABLE}")
        elif target != folder and not matches(target, folders[folder].get("may_include", [])):
            yield Finding(name, line, f"{folder} may not include {target} ({include}); see {TABLE}")
        return
    if quoted and "/" not in quoted and quoted.endswith(".h") and not name.startswith("tests/"):
        yield Finding(name, line, f'"{quoted}" is included without its folder; write the path from the root')
    for library, rule in externals.items():
        if re.match(rule["header"], include) and not matches(folder, rule["allowed"]):
            yield Finding(name, line, f"{folder} may not include {library} (<{include}>); see {TABLE}")


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
