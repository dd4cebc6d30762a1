# SPDX-License-Identifier: Apache-2.0
"""What every check shares: the files of the tree, findings, and the way a check is run."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Finding:
    """One violation: where it is, what the rule is, and what to do."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


def tracked_files(root: Path) -> list[str]:
    """Relative paths that git tracks or would track, sorted; every file below `root` where git is not used."""
    if not (root / ".git").exists():
        return sorted(p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file())
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root, check=True, capture_output=True,
    ).stdout.decode("utf-8", "surrogateescape")
    return sorted({name for name in listed.split("\0") if name and (root / name).is_file()})


def text_of(root: Path, name: str) -> str | None:
    """The text of a file, or None where it is not UTF-8 text."""
    data = (root / name).read_bytes()
    if b"\0" in data[:8192]:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def without_comments_and_strings(source: str) -> str:
    """C++ text with comments and literals blanked, newlines and length kept, so that positions stay true."""
    out: list[str] = []
    i, n = 0, len(source)

    def blank(text: str) -> None:
        out.append("".join(c if c == "\n" else " " for c in text))

    while i < n:
        if source.startswith("//", i):
            end = source.find("\n", i)
            end = n if end < 0 else end
        elif source.startswith("/*", i):
            end = source.find("*/", i + 2)
            end = n if end < 0 else end + 2
        elif source.startswith('R"', i) and (i == 0 or not (source[i - 1].isalnum() or source[i - 1] == "_")):
            opening = source.find("(", i)
            closing = ")" + source[i + 2:opening] + '"'
            end = source.find(closing, opening)
            end = n if end < 0 else end + len(closing)
        elif source[i] == '"' or (source[i] == "'" and not (i and source[i - 1].isalnum())):
            quote, end = source[i], i + 1
            while end < n and source[end] != quote and source[end] != "\n":
                end += 2 if source[end] == "\\" else 1
            end = min(end + 1, n)
        else:
            out.append(source[i])
            i += 1
            continue
        blank(source[i:end])
        i = end
    return "".join(out)


def line_at(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def main(description: str, check: Callable[[Path], Iterable[Finding]]) -> int:
    """Runs one check over a tree (this repository by default), prints its findings; exit code 1 if there are any."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--root", type=Path, default=ROOT, help="the tree to check")
    findings = sorted(set(check(parser.parse_args().root.resolve())), key=lambda f: (f.path, f.line, f.message))
    for finding in findings:
        print(finding)
    if findings:
        print(f"{Path(sys.argv[0]).name}: {len(findings)} findings")
    return 1 if findings else 0
