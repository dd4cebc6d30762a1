# SPDX-License-Identifier: Apache-2.0
"""A machine without any rung of the sandbox ladder: refused, and with --unsandboxed judged but never clean."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from heddle import PLANS, PROGRAMS, Answer, Home, evidence

WITHOUT = PROGRAMS / "without-rungs"


@pytest.fixture(scope="module")
def home() -> Iterator[Home]:
    probe = subprocess.run([WITHOUT, "true"], capture_output=True, text=True, check=False)
    if probe.returncode == 77:
        pytest.skip(probe.stderr)
    with Home() as made:
        shutil.copy(PLANS / "bias_gelu/task.py", made.workspace / "gelu.py")
        yield made


def cli(home: Home, *arguments: object) -> Answer:
    """The command line, and the worker that it starts, where no rung holds."""
    report = home.folder / "unsandboxed.json"
    report.unlink(missing_ok=True)
    command = [WITHOUT, PROGRAMS / "heddle-cli", *arguments, "--json", report, "--workspace", home.workspace]
    done = subprocess.run(
        list(map(str, command)), env=home.environment, cwd=home.workspace, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=900, check=False,
    )  # fmt: skip
    content: dict[str, Any] = json.loads(report.read_text(encoding="utf-8")) if report.exists() else {}
    return Answer(done.returncode, done.stdout, done.stderr, content)


def judge(home: Home, *more: object) -> Answer:
    return cli(home, "judge", home.workspace / "gelu.py", PLANS / "bias_gelu/cpu", *more)


@pytest.mark.parametrize("command", ["lint", "baseline", "optimize", "judge"])
def test_every_command_that_runs_code_is_refused_and_says_what_is_missing(home: Home, command: str) -> None:
    task = home.workspace / "gelu.py"
    answer = judge(home) if command == "judge" else cli(home, command, task)
    assert answer.code == 1, answer.text
    for part in ("no sandbox holds", "bubblewrap", "Landlock", "--unsandboxed"):
        assert part in answer.err, answer.text
    assert "verdict" not in answer.report


def test_a_workspace_may_not_ask_for_it(home: Home) -> None:
    settings = home.workspace / ".heddle/settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text('{"unsandboxed": true}', encoding="utf-8")
    try:
        answer = judge(home)
        assert answer.code == 1 and "no sandbox holds" in answer.err, answer.text
        assert "unsandboxed" in answer.err, "that the file's wish was refused is said"
    finally:
        settings.unlink()


def check_untrusted(answer: Answer) -> None:
    """It ran, its values were checked, and nothing of the report lets it pass for sandboxed."""
    rows = evidence(answer.report)
    assert rows["correct"]["status"] == "passed", answer.text
    assert rows["sandbox"]["status"] == "not run", answer.text
    assert "--unsandboxed" in rows["sandbox"]["message"]
    assert rows["sandbox"]["data"]["rung"] == "none"
    assert answer.report["verdict"]["class"] == "not_judged"
    assert answer.report["reward"] is None and answer.report["speedup"]["deployed"] is None
    assert answer.report["environment"]["sandbox"]["rung"] == "none"
    assert answer.report["environment"]["sandbox"]["unsandboxed"] is True
    assert answer.code == 3 and "without a sandbox" in answer.out, answer.text


def test_with_the_flag_it_runs_and_the_verdict_says_that_it_was_not_confined(home: Home) -> None:
    check_untrusted(judge(home, "--unsandboxed"))
    check_untrusted(judge(home, "--unsandboxed", "--confirm"))


def test_the_persons_own_settings_may_ask_for_it(home: Home) -> None:
    settings = Path(home.environment["XDG_CONFIG_HOME"]) / "heddle/settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text('{"unsandboxed": true}', encoding="utf-8")
    try:
        check_untrusted(judge(home))
    finally:
        settings.unlink()


def test_a_wrong_candidate_is_wrong_with_or_without_a_sandbox(home: Home) -> None:
    wrong = home.folder / "wrong"
    shutil.copytree(PLANS / "bias_gelu/cpu", wrong)
    kernel = wrong / "kernel.cpp"
    kernel.write_text(kernel.read_text(encoding="utf-8").replace("+ bias[col]", ""), encoding="utf-8")
    answer = cli(home, "judge", home.workspace / "gelu.py", wrong, "--unsandboxed")
    assert evidence(answer.report)["correct"]["status"] == "failed", answer.text
    assert answer.report["verdict"]["class"] not in ("clean", "not_judged"), answer.text
    assert answer.report["reward"] == -1


def test_no_proposal_comes_of_it(home: Home) -> None:
    small = home.write_task()
    answer = cli(home, "optimize", small, "--unsandboxed", "--budget-seconds", 20)
    assert answer.code != 0, answer.text
    listed = cli(home, "proposals", "list")
    assert not listed.report["proposals"], listed.text


def test_where_a_rung_holds_the_flag_takes_no_wall_away(home: Home) -> None:
    home.stop_workers()  # those of the tests above live where no rung holds
    answer = home.cli("judge", home.workspace / "gelu.py", PLANS / "bias_gelu/cpu", "--unsandboxed")
    rows = evidence(answer.report)
    assert rows["sandbox"]["status"] == "passed", answer.text
    assert answer.report["environment"]["sandbox"]["rung"] in ("bubblewrap", "landlock")
    assert "unsandboxed" not in answer.report["environment"]["sandbox"]
