# SPDX-License-Identifier: Apache-2.0
"""What a command says and returns when only a part of what it does went well, and what a verdict is about."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
from heddle import PLANS, SOURCE, Answer, Home, evidence, noise_reason, propose

SCHEMA = json.loads((SOURCE / "core/schemas/report.schema.json").read_text(encoding="utf-8"))
CANDIDATE = PLANS / "bias_gelu/cpu"


@pytest.fixture
def home() -> Iterator[Home]:
    with Home() as made:
        shutil.copy(PLANS / "bias_gelu/task.py", made.workspace / "gelu.py")
        yield made


def renamed(home: Home) -> Path:
    """The candidate with its kernel under another name: a part of it does not build."""
    folder = home.folder / "renamed"
    shutil.copytree(CANDIDATE, folder)
    for name in ("plan.json", "kernel.cpp"):
        path = folder / name
        path.write_text(path.read_text(encoding="utf-8").replace("bias_gelu", "gelu_bias"), encoding="utf-8")
    return folder


def running(home: Home) -> list[str]:
    sessions = home.cli("sessions", "list").report["sessions"]
    return [row["session"] for row in sessions if row["state"] == "running"]


def landed(answer: Answer, task: Path) -> None:
    """Said first, whatever came after: where it is and how to take it back."""
    assert f"landed in {task.with_suffix('.heddle')}" in answer.out, answer.text
    assert "undo with" in answer.out, answer.text
    assert answer.report["decision"] and answer.report["revision"], answer.text


def test_a_verdict_on_another_text_of_the_task_is_shown_as_such_and_what_lands_is_judged(home: Home) -> None:
    task = home.workspace / "gelu.py"
    proposal = propose(home, task, CANDIDATE)
    assert "report" in home.cli("proposals", "show", proposal).report
    task.write_text(task.read_text(encoding="utf-8") + "\n# another text\n", encoding="utf-8")
    for answer in (home.cli("proposals", "show", proposal), home.cli("proposals", "list")):
        assert "for another version of the task" in answer.out, answer.text
        assert "vs compile" not in answer.out and "report" not in answer.report, answer.text
    accepted = home.cli("proposals", "accept", proposal)
    landed(accepted, task)
    assert accepted.report["judged"] is False
    verdict = accepted.report["report"]["verdict"]["class"]
    assert accepted.code == (0 if verdict == "clean" else 3), accepted.text
    shown = home.cli("proposals", "show", proposal)
    assert "for another version" not in shown.out and "report" in shown.report, shown.text
    assert not running(home)


def test_a_part_that_landed_says_so_first_and_returns_its_verdict(home: Home) -> None:
    task = home.workspace / "gelu.py"
    assert home.cli("proposals", "accept", propose(home, task, CANDIDATE)).code == 0
    proposal = propose(home, task, renamed(home))
    part = home.cli("proposals", "accept", proposal, "--hunks", "kernel.cpp")
    landed(part, task)
    assert "did not build" in part.out and part.code == 3, part.text
    assert home.cli("proposals", "undo").code == 0

    # The judgement can't even begin: it has landed all the same.
    nowhere = home.folder / "no/python"
    broken = home.cli("proposals", "accept", proposal, "--hunks", "plan.json", "--python", nowhere)
    landed(broken, task)
    assert "it has landed, but could not be judged" in broken.err and broken.code == 3, broken.text
    assert broken.report["judge_error"]["message"], broken.text
    assert home.cli("proposals", "undo").code == 0

    # Known not to build from before, so it is not judged again.
    known = home.cli("proposals", "accept", proposal, "--hunks", "kernel.cpp", "--python", nowhere)
    landed(known, task)
    assert known.report["judged"] is True and known.code == 3 and not known.err, known.text
    assert not running(home)


def test_a_failed_export_ends_its_session(home: Home) -> None:
    task = home.workspace / "gelu.py"
    for words in (("0" * 64, "-o", home.folder / "out"), (CANDIDATE, "-o", "/proc/heddle/out")):
        answer = home.cli("export", *words, "--task", task)
        assert answer.code != 0 and answer.report["error"], answer.text
    states = [row["state"] for row in home.cli("sessions", "list").report["sessions"]]
    assert states == ["failed", "failed"]


def test_an_optimisation_keeps_to_the_tolerance_and_a_failed_export_does_not_hide_its_proposal(
    home: Home,
) -> None:
    answer = home.cli(
        *("optimize", home.write_task(), "--tolerance", "0.25", "--budget-seconds", "20"),
        *("--export", "/proc/heddle/out"),
    )
    jsonschema.validate(answer.report, SCHEMA)
    events = home.cli("sessions", "show", answer.report["session"]).report["events"]
    judged = [event["data"]["report"] for event in events if event["type"] == "judged"]
    assert judged and all(report["flags"]["tolerance"] == 0.25 for report in judged), answer.text
    assert not running(home)
    if answer.report["candidate"] is None:
        assert any(noise_reason(report) for report in judged), answer.text
        pytest.skip("the machine was not quiet, so nothing was proposed")
    assert answer.report["proposal"] and answer.report["proposal"] in answer.out, answer.text
    assert ", tolerance 0.25)" in answer.out, answer.text
    assert answer.report["export"]["error"]["message"], answer.text
    assert "the proposal is open, but was not exported" in answer.err and answer.code == 1, answer.text


def test_a_comparison_has_a_ratio_only_where_times_count_and_never_costs_the_verdict(home: Home) -> None:
    words = ("judge", home.workspace / "gelu.py")
    same = home.cli(*words, CANDIDATE, "--against", CANDIDATE)
    jsonschema.validate(same.report, SCHEMA)
    assert evidence(same.report)["correct"]["status"] == "passed", same.text
    if evidence(same.report)["timing"]["status"] == "passed":
        against = same.report["against"]
        assert against["speedup"] or against["message"], same.text
    else:
        assert same.report["against"]["speedup"] is None and "no ratio: " in same.out, same.text
    broken = renamed(home)
    (broken / "kernel.cpp").write_text("this does not compile\n", encoding="utf-8")
    for candidate, other in ((broken, CANDIDATE), (CANDIDATE, broken)):
        answer = home.cli(*words, candidate, "--against", other)
        jsonschema.validate(answer.report, SCHEMA)
        assert (answer.report["verdict"]["class"] == "did_not_build") == (candidate == broken), answer.text
        assert answer.report["against"]["speedup"] is None and answer.report["against"]["message"]
        assert "no ratio: " in answer.out, answer.text


def test_a_restore_names_its_task_as_every_command_does(home: Home) -> None:
    task = home.workspace / "gelu.py"
    revision = home.cli("proposals", "accept", propose(home, task, CANDIDATE)).report["revision"]
    assert home.cli("proposals", "undo").code == 0
    typo = home.cli("proposals", "restore", "typo.py", revision)
    assert typo.code == 2 and "there is no such task file" in typo.err, typo.text
    assert not (home.workspace / "typo.heddle").exists()
    for name in ("gelu.py", task, home.workspace / "../w/gelu.py"):
        assert home.cli("proposals", "restore", name, revision).code == 0
        assert {path.name for path in task.with_suffix(".heddle").iterdir()} == {"plan.json", "kernel.cpp"}
        assert home.cli("proposals", "undo").code == 0
        assert not list(task.with_suffix(".heddle").iterdir())
    assert home.cli("sessions", "check").code == 0
