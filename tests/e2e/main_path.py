# SPDX-License-Identifier: Apache-2.0
"""The whole way on the command line: a task is read, optimised, reviewed, judged again and exported."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
from heddle import PLANS, PYTHON, SOURCE, TASK, Answer, Home, evidence, noise_reason, propose

SCHEMA = json.loads((SOURCE / "core/schemas/report.schema.json").read_text(encoding="utf-8"))
# A shared machine may be busy during one attempt and quiet in the next.
ATTEMPTS = 2

COMPARE = """
import importlib.util, sys, torch

def load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

task, export = load("task", sys.argv[1]), load("export", sys.argv[2])
torch.manual_seed(7)
model = task.Model(*task.get_init_inputs())
torch.manual_seed(7)
ours = export.ModelNew(*task.get_init_inputs())
ours.load_state_dict(model.state_dict())
inputs = task.get_inputs()
with torch.no_grad():
    torch.testing.assert_close(ours(*inputs), model(*inputs))
print("equal")
"""


@pytest.fixture(scope="module")
def home() -> Iterator[Home]:
    with Home() as made:
        yield made


@pytest.fixture(scope="module")
def attempted(home: Home) -> tuple[Answer | None, str]:
    """The answer of a successful `optimize`, whose folder is `home.folder / "out"`; or why the machine allowed none."""
    task = home.write_task()
    reason = ""
    for attempt in range(ATTEMPTS):
        out = home.folder / f"out{attempt}"
        arguments = (task.name, "--budget-seconds", 60, "--export", out)
        answer = home.cli("optimize", *arguments, seconds=400, names_workspace=False)
        assert answer.code in (0, 3, 4), answer.text
        jsonschema.validate(answer.report, SCHEMA)
        if answer.code == 0 and answer.report["candidate"] is not None:
            out.rename(home.folder / "out")
            return answer, ""
        reason = refusal(home, answer)
        home.stop_workers()  # with what it measured while others were busy
    return None, reason


@pytest.fixture(scope="module")
def optimised(attempted: tuple[Answer | None, str]) -> Answer:
    answer, reason = attempted
    if answer is None:
        pytest.skip(f"the machine was not quiet: {reason}")
    return answer


def refusal(home: Home, answer: Answer) -> str:
    """Why no candidate came out, when that is because of the machine; anything else fails the test."""
    shown = home.cli("sessions", "show", answer.report["session"])
    judged = [event["data"]["report"] for event in shown.report["events"] if event["type"] == "judged"]
    for report in judged:
        failed = [row for row in report["verdict"]["evidence"] if row["status"] == "failed" and row["id"] != "roof"]
        assert not failed, f"the optimiser's candidate failed: {failed}"
    reasons = [reason for report in judged if (reason := noise_reason(report))]
    if reasons:
        return reasons[0]
    slower = [report["speedup"]["deployed"] for report in judged if report["speedup"]["deployed"]]
    if slower:
        return f"nothing was faster than the best baseline: {slower}"
    assert answer.report["reason"] == "at_roof" and answer.code == 0, f"no candidate, and no reason\n{answer.text}"
    return f"the measured roof leaves nothing to gain: {answer.report.get('message')}"


def test_lint_reads_the_task(home: Home) -> None:
    answer = home.cli("lint", home.write_task(name="linted.py"))
    assert answer.code == 0, answer.text
    jsonschema.validate(answer.report, SCHEMA)
    assert not [row for row in answer.report["lint"] if row["severity"] == "error"]


def test_the_report_of_a_success_is_complete(optimised: Answer) -> None:
    report = optimised.report
    assert report["verdict"]["class"] == "clean"
    assert report["stage"] == "confirmed"
    assert report["speedup"]["deployed"]["eager"]["value"] > 0
    assert {row["status"] for row in report["verdict"]["evidence"]} <= {"passed", "not run"}
    assert report["environment"]["heddle"]


def test_the_next_step_names_the_workspace_that_nobody_named(home: Home, optimised: Answer) -> None:
    wanted = f"heddle-cli proposals show {optimised.report['proposal']} --workspace {home.workspace}  "
    assert wanted in optimised.out, optimised.text


def compare_export(home: Home, task: Path, folder: Path) -> None:
    """The one Python file of an export gives what the task gives, in a process that knows nothing of Heddle."""
    (export,) = folder.glob("*.py")
    compared = subprocess.run(
        [PYTHON, "-I", "-c", COMPARE, task, export],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
        cwd=home.folder,
        env=home.environment | {"TORCH_EXTENSIONS_DIR": str(home.folder / "extensions")},
    )
    assert compared.stdout.strip() == "equal", compared.stderr


def test_the_export_of_an_optimisation_gives_the_same_outputs(home: Home, optimised: Answer) -> None:
    compare_export(home, home.workspace / "small.py", home.folder / "out")


def test_the_export_of_a_candidate_gives_the_same_outputs(home: Home) -> None:
    task = PLANS / "bias_gelu/task.py"
    out = home.folder / "exported"
    answer = home.cli("export", PLANS / "bias_gelu/cpu", "--task", task, "-o", out)
    assert answer.code == 0, answer.text
    jsonschema.validate(answer.report, SCHEMA)
    compare_export(home, task, out)
    assert home.cli("export", PLANS / "bias_gelu/cpu", "--task", task, "-o", out).code == 2, "not empty"


def check_review(home: Home, task: Path, proposal: str) -> None:
    listed = home.cli("proposals", "list")
    assert {row["proposal"]: row["state"] for row in listed.report["proposals"]}[proposal] == "open"
    shown = home.cli("proposals", "show", proposal)
    names = {row["file"] for row in shown.report["diff"]}
    assert "plan.json" in names and "+" in shown.report["diff"][0]["diff"]
    verdict = shown.report["report"]["verdict"]
    assert not [row for row in verdict["evidence"] if row["status"] == "failed"]

    accepted = home.cli("proposals", "accept", proposal)
    assert accepted.code == 0, accepted.text
    head = task.with_suffix(".heddle")
    assert {str(path.relative_to(head)) for path in head.rglob("*") if path.is_file()} == names

    judged = home.cli("judge", task, head)
    jsonschema.validate(judged.report, SCHEMA)
    assert not [row for row in judged.report["verdict"]["evidence"] if row["status"] == "failed"]
    if reason := noise_reason(judged.report):
        print(f"the machine was not quiet during the second judgement: {reason}")
    else:
        assert judged.code == 0 and judged.report["verdict"]["class"] == "clean", judged.text

    undone = home.cli("proposals", "undo")
    assert undone.code == 0, undone.text
    assert not [path for path in head.rglob("*") if path.is_file()]
    assert home.cli("proposals", "undo").code == 2


def test_what_the_optimiser_proposed_is_reviewed_accepted_judged_and_undone(
    home: Home, optimised: Answer
) -> None:
    assert optimised.report["verdict"]["class"] == "clean"
    check_review(home, home.workspace / "small.py", optimised.report["proposal"])


def test_any_proposal_is_reviewed_accepted_judged_and_undone(home: Home) -> None:
    task = home.workspace / "gelu.py"
    shutil.copy(PLANS / "bias_gelu/task.py", task)
    check_review(home, task, propose(home, task, PLANS / "bias_gelu/cpu"))


def test_sessions_check_rebuilds_what_is_shown(home: Home) -> None:
    checked = home.cli("sessions", "check")
    assert checked.code == 0, checked.text


def test_sessions_show_every_event_of_the_way(home: Home, optimised: Answer) -> None:
    listed = home.cli("sessions", "list")
    assert optimised.report["session"] in {row["session"] for row in listed.report["sessions"]}
    shown = home.cli("sessions", "show", optimised.report["session"])
    types = [event["type"] for event in shown.report["events"]]
    assert types[0] == "session_started" and "session_ended" in types
    assert {"linted", "graph_captured", "baseline_measured", "plan_written"} <= set(types)
    assert {"judged", "proposal_opened", "exported"} <= set(types)


def copy_candidate(folder: Path, **replaced: str) -> Path:
    """bias_gelu's native candidate with pieces of its kernel replaced."""
    folder.mkdir()
    for name in ("plan.json", "kernel.cpp"):
        text = (PLANS / "bias_gelu/cpu" / name).read_text(encoding="utf-8")
        for old, new in replaced.items():
            text = text.replace(old, new)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_a_kernel_that_does_not_compile_is_reported_at_its_line(home: Home) -> None:
    broken = copy_candidate(home.folder / "broken", parallel_chunks="no_such_function")
    answer = home.cli("judge", PLANS / "bias_gelu/task.py", broken)
    assert answer.code == 3, answer.text
    jsonschema.validate(answer.report, SCHEMA)
    assert answer.report["verdict"]["class"] == "did_not_build"
    errors = [row for row in answer.report["diagnostics"] if row["severity"] == "error"]
    assert errors[0]["file"] == "kernel.cpp"
    line = (broken / "kernel.cpp").read_text().splitlines().index(
        "    heddle::no_such_function(rows, chunk, [=](int64_t begin, int64_t end) {"
    )
    assert errors[0]["line"] == line + 1
    assert re.search(rf"kernel\.cpp:{line + 1}:\d+: error: ", answer.out), answer.out


def test_inputs_prepared_before_the_first_baselines_still_count(home: Home) -> None:
    """Between a lint and the first judgement the worker prepares inputs; measuring baselines must not spoil them."""
    task = home.workspace / "idle.py"
    text = (PLANS / "bias_gelu/task.py").read_text(encoding="utf-8")
    task.write_text(text + "\n# a task of its own\n", encoding="utf-8")
    assert home.cli("lint", task).code == 0
    time.sleep(3)
    answer = home.cli("judge", task, PLANS / "bias_gelu/cpu")
    assert answer.code in (0, 3), answer.text
    assert evidence(answer.report)["correct"]["status"] == "passed", answer.text


def test_a_wrong_candidate_is_never_clean(home: Home) -> None:
    # The bias is dropped.
    wrong = copy_candidate(home.folder / "wrong", **{"from[col] + bias[col]": "from[col] + 0 * bias[col]"})
    answer = home.cli("judge", PLANS / "bias_gelu/task.py", wrong)
    assert answer.code == 3, answer.text
    jsonschema.validate(answer.report, SCHEMA)
    assert answer.report["verdict"]["class"] == "wrong"
    assert evidence(answer.report)["correct"]["status"] == "failed"


BAD_TASKS = {
    "not_python": ("this file holds no Python\n", "not_python.py:1"),
    "no_model": ("import torch\n\ndef get_inputs():\n    return []\n", "Model"),
    "raises": (TASK.replace("return torch.relu", "raise ValueError('too odd')\n        return torch.relu"), "too odd"),
    "no_inputs": (TASK.replace("def get_inputs", "def get_no_inputs"), "get_inputs"),
}


@pytest.mark.parametrize("name", BAD_TASKS)
def test_a_task_that_cannot_be_used_is_refused_with_a_sentence(home: Home, name: str) -> None:
    text, word = BAD_TASKS[name]
    answer = home.cli("lint", home.write_task(text, f"{name}.py"))
    check_refusal(answer, name, word)


def test_a_task_that_is_not_there_is_refused(home: Home) -> None:
    for command in ("lint", "baseline", "optimize"):
        check_refusal(home.cli(command, home.workspace / "nowhere.py"), "nowhere.py", "no such task")


def test_a_folder_without_a_candidate_is_refused(home: Home) -> None:
    nowhere = home.cli("judge", PLANS / "bias_gelu/task.py", home.folder / "nowhere")
    check_refusal(nowhere, "nowhere", "no such candidate")
    (home.folder / "empty").mkdir()
    answer = home.cli("judge", PLANS / "bias_gelu/task.py", home.folder / "empty")
    check_refusal(answer, "empty", "plan.json")


def check_refusal(answer: Answer, where: str, word: str) -> None:
    """Exit code 2, and an error that says what, where and what to do next."""
    assert answer.code == 2, answer.text
    jsonschema.validate(answer.report, SCHEMA)
    error = answer.report["error"]
    assert where in answer.err and word.lower() in answer.err.lower(), answer.text
    assert "next: " in answer.err, answer.text
    assert error["message"] and "Traceback" not in answer.err
