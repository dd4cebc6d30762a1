#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every kind of error has its stable word, and a translated sentence in the window."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tree import Finding, main

ENUM = re.compile(r"enum class Code \{(.*?)\};", re.DOTALL)
USERS = ("core/base/Error.cpp", "widgets/common/ErrorText.cpp")


def codes_of(header: str) -> list[str]:
    found = ENUM.search(header)
    body = re.sub(r"//[^\n]*", "", found.group(1)) if found else ""
    return re.findall(r"\b([A-Z]\w*)\b", body)


def check(root: Path) -> Iterator[Finding]:
    header = root / "core/base/Error.h"
    codes = codes_of(header.read_text(encoding="utf-8"))
    if not codes:
        yield Finding("core/base/Error.h", 1, "no 'enum class Code' was found; this check has nothing to check")
    for user in USERS:
        path = root / user
        if not path.is_file():
            # A checkout without the window (a source package of the core) has no sentences to check.
            if user.startswith("widgets/") and not (root / "widgets/common").exists():
                continue
            yield Finding(user, 1, "this file must handle every Code")
            continue
        text = path.read_text(encoding="utf-8")
        for code in codes:
            if not re.search(rf"\bCode::{code}\b", text):
                yield Finding(user, 1, f"Code::{code} has no {'sentence' if 'widgets' in user else 'word'} here")


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
