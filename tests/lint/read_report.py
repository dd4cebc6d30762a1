#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads ctest's JUnit report for `./dev test`: one line for each test, "passed|failed|skipped TAB name and reason".

A line "part TAB …" names a case that a passing program left out, with the reason that it printed.
"""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as tree
from collections.abc import Iterator

# ctest also writes <skipped> for a test whose program is missing: only what a test asked for itself is a skip.
ASKED = re.compile(r"^(SKIP_RETURN_CODE|SKIP_REGULAR_EXPRESSION|Disabled)")
GOOGLE = re.compile(r"^\[  SKIPPED \] (\S+) \(\d+ ms\)$")
PYTEST = re.compile(r"^SKIPPED \[\d+\] (.*)$")
QT = re.compile(r"^SKIP\s*: (.*)$")


def parts(output: str) -> Iterator[str]:
    """The cases that a program's output says it left out. GoogleTest prints the reason before the name."""
    lines = output.splitlines()
    for number, line in enumerate(lines):
        if match := GOOGLE.match(line):
            reason = lines[number - 2 : number] if number >= 2 else []
            words = [text for text in reason if text.strip() and not text.startswith("[")]
            yield f"{match[1]}: {words[-1].strip() if words else 'no reason given'}"
        elif match := PYTEST.match(line) or QT.match(line):
            yield match[1]


def rows(path: str) -> Iterator[tuple[str, str]]:
    for case in tree.parse(path).getroot().iter("testcase"):
        name = case.get("name") or "a test without a name"
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.get("status") == "fail":
            yield "failed", name
        elif skipped is not None or case.get("status") in ("notrun", "disabled"):
            message = (skipped.get("message") if skipped is not None else None) or case.get("status") or ""
            if ASKED.match(message) or case.get("status") == "disabled":
                said = (case.findtext("system-out") or "").strip().splitlines()
                yield "skipped", f"{name}: {said[-1] if said else message}"
            else:
                yield "failed", f"{name}: {message or 'it did not run'}"
        else:
            yield "passed", name
        for text in parts(case.findtext("system-out") or ""):
            yield "part", f"{name}: {text}"


def main() -> None:
    for kind, text in rows(sys.argv[1]):
        print(kind, " ".join(text.split()), sep="\t")


if __name__ == "__main__":
    main()
