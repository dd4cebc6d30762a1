# SPDX-License-Identifier: Apache-2.0
"""The command line as scripts and newcomers meet it: pipes, wrong options, broken files, another compiler."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from heddle import PLANS, Answer, Home, evidence

RAISES = '''"""Raises while it runs."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        raise ValueError("on purpose")


def get_inputs():
    return [torch.randn(4, 4)]


def get_init_inputs():
    return []
'''


@pytest.fixture(scope="module")
def home() -> Iterator[Home]:
    with Home() as made:
        shutil.copy(PLANS / "bias_gelu/task.py", made.workspace / "gelu.py")
        yield made


def piped(home: Home, *arguments: object, environment: dict[str, str] | None = None) -> Answer:
    """Run a command as it is written, with pipes for all three streams."""
    process = home.start(*arguments, environment=environment)
    out, err = process.communicate(timeout=300)
    return Answer(process.returncode, out, err)


def test_a_target_that_nothing_runs_on_is_refused_and_what_is_suggested_is_accepted(home: Home) -> None:
    for target in ("gpu", "cuda", "cuda:0", "ssh://box/cuda:1"):
        answer = piped(home, "lint", home.workspace / "gelu.py", "--target", target)
        assert answer.code == 2, answer.text
        assert "it must be cpu or ssh://HOST/cpu" in answer.err and "cuda:N" not in answer.err, answer.text
    answer = piped(home, "lint", home.workspace / "gelu.py", "--target", "cpu")
    assert answer.code == 0, answer.text


def test_without_a_terminal_progress_is_whole_lines_on_stderr_and_quiet_silences_them(home: Home) -> None:
    answer = piped(home, "baseline", home.workspace / "gelu.py")
    assert answer.code == 0, answer.text
    lines = answer.err.splitlines()
    assert "heddle-cli: opening the task" in lines, answer.text
    assert all(line.startswith("heddle-cli: ") for line in lines), answer.text
    assert "\r" not in answer.err and "\x1b" not in answer.err
    quiet = piped(home, "baseline", home.workspace / "gelu.py", "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", ""), quiet.text


def test_a_report_on_standard_output_has_it_alone(home: Home) -> None:
    task = home.workspace / "gelu.py"
    for words in (("lint", task), ("doctor",), ("sessions", "list"), ("lint", home.workspace / "absent.py")):
        answer = piped(home, *words, "--json", "-")
        assert json.loads(answer.out)["schema"] == 1, answer.text


def test_a_broken_settings_file_is_named_with_line_and_column(home: Home) -> None:
    settings = home.workspace / ".heddle/settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text('{\n  "seed": 1,\n  "theme": dark\n}\n', encoding="utf-8")
    try:
        answer = piped(home, "sessions", "list")
        assert f"{settings}:3:12: this is not valid JSON" in answer.err and "next:" in answer.err, answer.text
    finally:
        settings.unlink()


def test_the_table_of_tasks_goes_on_after_a_task_that_errs_and_the_exit_code_tells(home: Home) -> None:
    tasks = home.workspace / "tasks"
    tasks.mkdir()
    (tasks / "a_broken.py").write_text("this is no Python\n", encoding="utf-8")
    (tasks / "b_raises.py").write_text(RAISES, encoding="utf-8")
    answer = home.cli("bench", "tasks", tasks)
    assert answer.code == 1, answer.text
    rows = answer.report["tasks"]
    assert [row["task"] for row in rows] == ["a_broken", "b_raises"], answer.text
    assert all(row["reason"] == "error" and row["error"]["message"] for row in rows)
    assert answer.report["failures"] == 2 and answer.report["geomean_vs_compile"] is None
    for text in ("a_broken", "b_raises", "on purpose", "2 of 2 tasks ended with an error"):
        assert text in answer.out, answer.text


# Of a GCC's own folder: what a C++ file to a shared object takes.
WANTED = ("cc1plus", "collect2", "lto-", "liblto", "libgcc", "crt", "libstdc++")


def copy_of_gcc(folder: Path) -> Path:
    """The parts of the system's g++ as an installation of its own; its driver."""
    said = subprocess.run(
        ["/usr/bin/g++", "-print-prog-name=cc1plus"], capture_output=True, text=True, check=True
    )
    parts = Path(said.stdout.strip()).parent
    if not (parts / "cc1plus").exists():
        pytest.skip("the system's g++ is no GCC below /usr")
    copy = folder / parts.relative_to("/usr")
    copy.mkdir(parents=True)
    for path in parts.iterdir():
        if path.is_dir() and path.name == "include":
            shutil.copytree(path, copy / path.name)
        elif path.is_file() and path.name.startswith(WANTED):
            shutil.copy(path, copy / path.name)
    (folder / "bin").mkdir()
    shutil.copy(Path("/usr/bin/g++").resolve(), folder / "bin/g++-mine")
    (folder / "bin/g++").symlink_to("g++-mine")
    return folder / "bin/g++"


def test_a_compiler_outside_usr_compiles_candidates(home: Home) -> None:
    compiler = copy_of_gcc(home.folder / "toolchain")
    words = ("judge", home.workspace / "gelu.py", PLANS / "bias_gelu/cpu")
    answer = home.cli(*words, environment={"CXX": str(compiler)})
    assert evidence(answer.report)["correct"]["status"] == "passed", answer.text
