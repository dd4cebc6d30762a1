# SPDX-License-Identifier: Apache-2.0
"""`heddle-cli compile`: what an author sees of a candidate without a GPU, a driver, a task or a worker."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from heddle import PLANS, SOURCE, Answer, Home

SCHEMA = json.loads((SOURCE / "core/schemas/report.schema.json").read_text(encoding="utf-8"))
KERNELS = {
    "bias_gelu": ["bias_gelu"],
    "row_softmax": ["row_softmax"],
    "repeat_scan": ["clear", "count_call", "scan_step"],
}
NOWHERE = {"HEDDLE_NVRTC": "/nowhere/libnvrtc.so"}


@pytest.fixture(scope="module")
def home() -> Iterator[Home]:
    with Home() as made:
        yield made
        assert made.leftovers() == [], "temporary files were left"
        assert made.processes() == {}, "compiling starts no worker"


def compiled(home: Home, candidate: Path, *arguments: object, **environment: str) -> Answer:
    answer = home.cli("compile", candidate, *arguments, names_workspace=False, environment=environment)
    assert answer.report, answer.text
    jsonschema.validate(answer.report, SCHEMA)
    return answer


@pytest.fixture(scope="module")
def nvrtc(home: Home) -> str:
    """The version of the NVRTC that is here; skips where there is none."""
    answer = compiled(home, PLANS / "bias_gelu/cuda", "--target", "cuda:sm_90")
    if answer.code == 1 and "NVRTC" in answer.report["error"]["message"]:
        pytest.skip(answer.report["error"]["message"] + ": " + answer.report["error"]["next"])
    assert answer.code == 0, answer.text
    return str(answer.report["compilation"]["compiler"]["version"])


def copy_of(home: Home, plan: str, name: str) -> Path:
    folder = home.folder / name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(PLANS / plan, folder)
    return folder


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90", "sm_100"])
@pytest.mark.parametrize("plan", sorted(KERNELS))
def test_each_plan_compiles_and_every_figure_is_there(home: Home, nvrtc: str, plan: str, architecture: str) -> None:
    answer = compiled(home, PLANS / plan / "cuda", "--target", f"cuda:{architecture}")
    assert answer.code == 0, answer.text
    report = answer.report
    assert report["target"]["architecture"] == architecture
    assert report["diagnostics"] == []
    compilation = report["compilation"]
    assert compilation["ok"] and compilation["binary_bytes"] > 1000
    assert compilation["compiler"]["name"] == "NVRTC" and compilation["compiler"]["version"] == nvrtc
    assert [kernel["name"] for kernel in compilation["kernels"]] == KERNELS[plan]
    for kernel in compilation["kernels"]:
        unknown = [name for name, value in kernel.items() if value is None]
        assert unknown == [], (kernel, answer.text)
        assert 0 < kernel["registers"] <= 64 and kernel["spill_store_bytes"] == 0
        (launch,) = kernel["launches"]
        assert launch["message"] == "" and launch["occupancy"]["blocks"] > 0
        assert 0 < launch["occupancy"]["share"] <= 1
        assert kernel["name"] in answer.out
    assert architecture in answer.out and "occupancy" in answer.out
    again = compiled(home, PLANS / plan / "cuda", "--target", f"cuda:{architecture}")
    assert again.report["compilation"]["cached"] and "from the cache" in again.out
    assert again.report["compilation"]["kernels"] == compilation["kernels"]


def test_a_tunable_is_chosen_and_changes_the_occupancy(home: Home, nvrtc: str) -> None:
    def launch(*arguments: object) -> dict[str, Any]:
        answer = compiled(home, PLANS / "row_softmax/cuda", "--target", "cuda:sm_90", *arguments)
        assert answer.code == 0, answer.text
        (kernel,) = answer.report["compilation"]["kernels"]
        return dict(kernel["launches"][0], tunables=answer.report["compilation"]["tunables"])

    assert launch()["threads"] == 128
    small = launch("--set", "BLOCK=64")
    assert small["threads"] == 64 and small["tunables"] == {"BLOCK": 64}
    assert small["occupancy"]["limiters"] == ["threads", "blocks"] and small["occupancy"]["share"] == 1.0
    for value, said in (("BLOCK=65", "not a choice"), ("CHUNK=1", "it has BLOCK, cols, rows"), ("BLOCK=x", "NAME=INTEGER")):
        answer = compiled(home, PLANS / "row_softmax/cuda", "--target", "cuda:sm_90", "--set", value)
        assert answer.code == 2 and said in answer.err, answer.text


def test_a_launch_that_depends_on_shapes_asks_for_them(home: Home, nvrtc: str) -> None:
    folder = copy_of(home, "row_softmax/cuda", "shaped")
    plan = json.loads((folder / "plan.json").read_text())
    plan["steps"][0]["shared"] = "max(cols, 32) * 4"
    (folder / "plan.json").write_text(json.dumps(plan))
    answer = compiled(home, folder, "--target", "cuda:sm_90")
    assert answer.code == 0, answer.text
    (kernel,) = answer.report["compilation"]["kernels"]
    assert kernel["launches"][0]["occupancy"] is None
    assert "give --set cols=…" in answer.out and "?" in answer.out
    answer = compiled(home, folder, "--target", "cuda:sm_90", "--set", "cols=20000")
    (kernel,) = answer.report["compilation"]["kernels"]
    assert kernel["launches"][0]["shared_dynamic_bytes"] == 80000
    assert kernel["launches"][0]["occupancy"]["limiters"] == ["shared memory"]


def test_what_does_not_compile_is_told_at_its_place_and_is_exit_code_three(home: Home, nvrtc: str) -> None:
    folder = copy_of(home, "bias_gelu/cuda", "broken")
    kernel = folder / "kernel.cu"
    kernel.write_text(kernel.read_text().replace("float y =", "float unused = 0, y = missing +"))
    answer = compiled(home, folder, "--target", "cuda:sm_90")
    assert answer.code == 3, answer.text
    line = next(i for i, text in enumerate(kernel.read_text().splitlines(), 1) if "missing" in text)
    column = kernel.read_text().splitlines()[line - 1].index("missing") + 1
    assert f'kernel.cu:{line}:{column}: error: identifier "missing" is undefined' in answer.out, answer.text
    first = answer.report["diagnostics"][0]
    assert (first["file"], first["line"], first["column"]) == ("kernel.cu", line, column)
    (folder / "plan.json").write_text('{"heddle": 1,\n "target": }')
    answer = compiled(home, folder, "--target", "cuda:sm_90")
    assert answer.code == 3 and "plan.json:2:12: error:" in answer.out, answer.text


def test_a_file_of_the_person_is_not_printed(home: Home, nvrtc: str) -> None:
    folder = copy_of(home, "bias_gelu/cuda", "curious")
    (folder / "kernel.cu").write_text('#include "/etc/passwd"\n')
    answer = compiled(home, folder, "--target", "cuda:sm_90")
    assert answer.code == 3, answer.text
    assert "root:" not in answer.text + json.dumps(answer.report)
    assert "kernel.cu:1" in answer.out


def test_an_unknown_architecture_or_target_is_bad_input_with_what_there_is(home: Home, nvrtc: str) -> None:
    plan = PLANS / "bias_gelu/cuda"
    for target, said in (
        ("cuda:sm_35", "sm_90"),
        ("cuda:0", "write sm_ and the compute capability"),
        ("cuda:hopper", "write sm_ and the compute capability"),
        ("gpu", "such as cuda:sm_90"),
        ("ssh://box/cpu", "on this machine alone"),
        ("cpu", "--target cuda:sm_90"),
    ):
        answer = compiled(home, plan, "--target", target)
        assert answer.code == 2 and said in answer.err, answer.text
    answer = compiled(home, PLANS / "bias_gelu/cpu", "--target", "cuda:sm_90")
    assert answer.code == 2 and "--target cpu" in answer.err, answer.text
    answer = compiled(home, PLANS / "bias_gelu/task.py", "--target", "cuda:sm_90")
    assert answer.code == 2 and "judge it instead" in answer.err, answer.text


def test_the_target_may_stand_before_the_command_and_is_refused_elsewhere(home: Home, nvrtc: str) -> None:
    answer = home.cli("--target", "cuda:sm_90", "compile", PLANS / "bias_gelu/cuda", names_workspace=False)
    assert answer.code == 0, answer.text
    task = home.workspace / "gelu.py"
    shutil.copy(PLANS / "bias_gelu/task.py", task)
    answer = home.cli("lint", task, "--target", "cuda:sm_90")
    assert answer.code == 2, answer.text
    assert "cuda:sm_90 is only compiled for" in answer.err and "command compile" in answer.err


def test_ptx_and_machine_code_are_shown_with_their_lines(home: Home, nvrtc: str) -> None:
    answer = compiled(home, PLANS / "repeat_scan/cuda", "--target", "cuda:sm_90", "--show", "ptx", "--show", "sass")
    assert ".entry scan_step" in answer.out, answer.text
    assert ".entry scan_step" in answer.report["compilation"]["ptx"]["kernel.cu"]
    if answer.code == 1:
        assert "nvdisasm" in answer.err and "next:" in answer.err
        pytest.skip(answer.report["compilation"]["sass_error"]["message"])
    sass = answer.report["compilation"]["sass"]
    assert sorted(sass) == KERNELS["repeat_scan"]
    lines = (PLANS / "repeat_scan/cuda/kernel.cu").read_text().splitlines()
    hit = {lines[row["line"] - 1] for row in sass["scan_step"] if row.get("file") == "kernel.cu"}
    assert any("tanhf" in text for text in hit), hit
    assert "SASS of scan_step" in answer.out and "EXIT" in answer.out and "kernel.cu:" in answer.out


def test_without_a_disassembler_the_rest_is_shown(home: Home, nvrtc: str) -> None:
    answer = compiled(
        home, PLANS / "bias_gelu/cuda", "--target", "cuda:sm_90", "--show", "sass", HEDDLE_NVDISASM="/nowhere/nvdisasm"
    )
    assert answer.code == 1, answer.text
    assert "HEDDLE_NVDISASM names no working nvdisasm" in answer.err and "next:" in answer.err
    assert answer.report["compilation"]["ok"] and "sass" not in answer.report["compilation"]
    assert "bias_gelu" in answer.out and "occupancy" in answer.out


def test_the_counters_of_the_chip_are_shown_with_their_passes(home: Home, nvrtc: str) -> None:
    answer = compiled(home, PLANS / "bias_gelu/cuda", "--target", "cuda:sm_90", "--show", "metrics")
    if answer.code == 1:
        pytest.skip(answer.report["compilation"]["metrics_error"]["message"])
    metrics = answer.report["compilation"]["metrics"]
    assert metrics["chip"] == "GH100"
    passes = {row["name"]: row["passes"] for row in metrics["sets"]}
    assert passes["bytes"] == 1 and passes["roofline"] == 2, passes
    assert "GH100" in answer.out and "full roofline" in answer.out
    missing = compiled(
        home, PLANS / "bias_gelu/cuda", "--target", "cuda:sm_90", "--show", "metrics", HEDDLE_CUPTI="/nowhere/libcupti.so"
    )
    assert missing.code == 1 and "HEDDLE_CUPTI" in missing.err, missing.text
    assert missing.report["compilation"]["ok"]


def test_without_nvrtc_one_sentence_says_how_to_get_it(home: Home) -> None:
    answer = compiled(home, PLANS / "bias_gelu/cuda", "--target", "cuda:sm_90", **NOWHERE)
    assert answer.code == 1, answer.text
    assert "HEDDLE_NVRTC names no working NVRTC" in answer.err and "next:" in answer.err
    # A cpu plan needs none of it.
    answer = compiled(home, PLANS / "bias_gelu/cpu", **NOWHERE)
    assert answer.code == 0, answer.text
    # Nor does the check-up of a machine without CUDA fail for it.
    answer = home.cli("doctor", environment=NOWHERE | {"HEDDLE_NVDISASM": "/nowhere/nvdisasm"})
    rows = {row["id"]: row for row in answer.report["rows"]}
    for name in ("nvrtc", "nvdisasm"):
        assert rows[name]["ok"] and rows[name]["found"] == "" and rows[name]["missing"] and rows[name]["next"], rows
    assert "– nvrtc" in answer.out and "only CUDA candidates need it" in answer.out
    home.stop_workers()


def test_the_check_up_names_nvrtc_and_nvdisasm(home: Home, nvrtc: str) -> None:
    answer = home.cli("doctor")
    rows = {row["id"]: row for row in answer.report["rows"]}
    assert rows["nvrtc"]["found"].startswith(nvrtc) and "sm_90" not in rows["nvrtc"]["missing"], rows["nvrtc"]
    assert "nvdisasm" in rows
    home.stop_workers()


def test_a_cpu_plan_compiles_with_the_host_compiler(home: Home) -> None:
    answer = compiled(home, PLANS / "row_softmax/cpu", "--target", "cpu")
    assert answer.code == 0, answer.text
    compilation = answer.report["compilation"]
    assert compilation["ok"] and compilation["kernels"] == [] and compilation["binary_bytes"] > 1000
    assert compilation["compiler"]["path"].startswith("/")
    folder = copy_of(home, "row_softmax/cpu", "broken_cpu")
    source = folder / "kernel.cpp"
    source.write_text(source.read_text() + "\nint broken = missing;\n")
    answer = compiled(home, folder)
    assert answer.code == 3, answer.text
    line = len(source.read_text().splitlines())
    assert f"kernel.cpp:{line}:14: error: " in answer.out and "missing" in answer.out, answer.text
    answer = compiled(home, PLANS / "row_softmax/cpu", "--show", "ptx")
    assert answer.code == 2 and "GPU" in answer.err, answer.text


def test_a_toolkit_alone_is_enough_and_python_is_not_needed(home: Home, nvrtc: str) -> None:
    if not Path("/usr/local/cuda/lib64/libnvrtc.so").exists():
        pytest.skip("no toolkit in /usr/local/cuda")
    answer = compiled(
        home, PLANS / "bias_gelu/cuda", "--target", "cuda:sm_90", HEDDLE_PYTHON="/nowhere/python", HOME=str(home.folder)
    )
    assert answer.code == 0, answer.text
    assert os.path.realpath("/usr/local/cuda") in answer.report["compilation"]["compiler"]["path"]
