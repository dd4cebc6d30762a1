#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what every file must have: licence line, length, README, clean text, connects with a context, tr() in place."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tree import Finding, line_at, main, text_of, tracked_files, without_comments_and_strings

MAX_LINES = 800
MAX_README_LINES = 60
MAX_BYTES = 500_000

CODE = (".cpp", ".h", ".c", ".cc", ".cu", ".cuh", ".py", ".sh", ".cmake", ".toml", ".yaml", ".yml")
NAMED_CODE = ("CMakeLists.txt", "dev", "run")
# Inputs of tests are given as they are: a broken task file must stay broken.
DATA_FOLDERS = ("/data/", "/golden/", "/goldens/", "/fixtures/", "/corpus/")
GPL = ("app/", "widgets/")

# Spelled in two parts so that this file passes its own check.
UNFINISHED = re.compile(
    r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK|TB" r"D)\b"
    r"|\b(?:place" r"holder|st" r"ubs?|not (?:yet )?imple" r"mented|lorem ip" r"sum)\b")
# Words of other people's interfaces: torch.fx calls an input node so, Qt a line edit's hint.
ALLOWED_WORDS = re.compile(r"""["'`]place""" r"""holder["'`]|place""" r"""holder(?:Text|=)""")
WORKPLACE = re.compile(r"/wo" r"rk/(?:main|shared)|/ro" r"ot/\.|/tmp/b" r"-[a-z]\b")

CONNECT = re.compile(r"\b(?:QObject::)?connect\s*\(|\bQTimer::singleShot\s*\(")
TR = re.compile(r"(?<![\w.:>])tr\s*\(")
TR_CONTEXT = re.compile(r"\bQ_OBJECT\b|\bQ_DECLARE_TR_FUNCTIONS\b|\bQ_GADGET\b")


def is_data(name: str) -> bool:
    return any(folder in "/" + name for folder in DATA_FOLDERS)


def is_code(name: str) -> bool:
    return name.endswith(CODE) or name.rsplit("/", 1)[-1] in NAMED_CODE


def arguments_of(text: str, opening: int) -> list[str] | None:
    """The top-level arguments of the call whose '(' is at `opening`; None where it does not close."""
    depth, start, found = 0, opening + 1, []
    for i in range(opening, len(text)):
        c = text[i]
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
            if depth == 0:
                found.append(text[start:i].strip())
                return found
        elif c == "," and depth == 1:
            found.append(text[start:i].strip())
            start = i + 1
    return None


def check_text(name: str, text: str) -> Iterator[Finding]:
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if line != line.rstrip():
            yield Finding(name, number, "space at the end of the line")
        if "\t" in line and not name.endswith((".tsv", ".ts")):
            yield Finding(name, number, "a tab; indent by four spaces")
        if WORKPLACE.search(line):
            yield Finding(name, number, "a path of one machine; nothing in the tree may depend on it")
        if UNFINISHED.search(ALLOWED_WORDS.sub("", line)):
            yield Finding(name, number, "a word of unfinished work; finish it, or describe what is absent")
    if text and not text.endswith("\n"):
        yield Finding(name, len(lines), "no newline at the end of the file")
    if len(lines) - 1 > MAX_LINES and is_code(name):
        yield Finding(name, MAX_LINES, f"{len(lines) - 1} lines; the limit is {MAX_LINES}")


def check_licence(name: str, text: str) -> Iterator[Finding]:
    licence = "GPL-3.0-or-later" if name.startswith(GPL) else "Apache-2.0"
    head = text.split("\n", 2)
    first = head[1] if head[0].startswith("#!") and len(head) > 1 else head[0]
    if f"SPDX-License-Identifier: {licence}" not in first:
        yield Finding(name, 1, f"the first line must say SPDX-License-Identifier: {licence}")


def check_connects(name: str, clean: str) -> Iterator[Finding]:
    for found in CONNECT.finditer(clean):
        arguments = arguments_of(clean, found.end() - 1)
        if arguments is None or len(arguments) < 2:
            continue
        line = line_at(clean, found.start())
        is_timer = "singleShot" in found.group()
        lambda_at = next((i for i, a in enumerate(arguments) if a.startswith("[")), None)
        if lambda_at is None:
            continue
        if lambda_at == (1 if is_timer else 2):
            yield Finding(name, line, "a lambda is connected without a context object; it would outlive what it uses")
        if arguments[lambda_at].startswith("[&"):
            yield Finding(name, line, "a connected lambda captures by reference; capture by value")


def has_context(root: Path, name: str, text: str, clean: str) -> bool:
    """The file's own header declares a context, or that of a class whose members the file defines."""
    own = {name.rsplit(".", 1)[0] + ".h"}
    own |= {h for h in re.findall(r'#include "((?:app|widgets)/[^"]+\.h)"', text)
            if re.search(rf"\b{re.escape(Path(h).stem)}::", clean)}
    headers = [root / header for header in own if (root / header).is_file()]
    return any(TR_CONTEXT.search(header.read_text(encoding="utf-8")) for header in headers)


def check_translation(root: Path, name: str, text: str, clean: str) -> Iterator[Finding]:
    found = TR.search(clean)
    if found and not TR_CONTEXT.search(clean) and not has_context(root, name, text, clean):
        yield Finding(name, line_at(clean, found.start()),
                      "tr() outside a Q_OBJECT class has no translation context; use a class with Q_DECLARE_TR_FUNCTIONS")


def check_readmes(root: Path, names: list[str]) -> Iterator[Finding]:
    with_code = {n.rsplit("/", 1)[0] for n in names if is_code(n) and "/" in n and not is_data(n)}
    for folder in sorted(with_code):
        top = folder.split("/", 1)[0]
        # A folder of tests mirrors a folder that has its own README; a Python package's, a plan's is above it.
        if top.startswith((".", "docs")) or "/python/" in folder:
            continue
        if top in ("tests", "resources") and folder.count("/") > 1:
            continue
        # A program of one file inside a folder that has its README is described there.
        sources = [n for n in names if n.rpartition("/")[0] == folder and is_code(n) and not n.endswith("CMakeLists.txt")]
        if folder.count("/") > 1 and len(sources) <= 1:
            continue
        if f"{folder}/README.md" not in names:
            yield Finding(folder, 1, "this folder has no README.md (10 to 40 lines: purpose, types, includes, tests, traps)")
    for name in names:
        if name.endswith("/README.md"):
            count = (root / name).read_text(encoding="utf-8").count("\n")
            if count > MAX_README_LINES:
                yield Finding(name, MAX_README_LINES, f"{count} lines; a folder's README has at most {MAX_README_LINES}")


def check(root: Path) -> Iterator[Finding]:
    names = tracked_files(root)
    yield from check_readmes(root, names)
    for name in names:
        path = root / name
        if path.stat().st_size > MAX_BYTES and not name.endswith(".png"):
            yield Finding(name, 1, f"larger than {MAX_BYTES} bytes")
        text = None if is_data(name) or name.startswith("LICENSES/") or name == "LICENSE" else text_of(root, name)
        if text is None:
            continue
        yield from check_text(name, text)
        if is_code(name):
            yield from check_licence(name, text)
        if name.endswith((".cpp", ".h")):
            clean = without_comments_and_strings(text)
            yield from check_connects(name, clean)
            if name.startswith(GPL):
                yield from check_translation(root, name, text, clean)


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
