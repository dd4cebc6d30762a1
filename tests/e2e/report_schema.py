# SPDX-License-Identifier: Apache-2.0
"""The report's schema says no: each rule that a reader relies on refuses a report that breaks it."""

from __future__ import annotations

import copy
import json
from typing import Any

import jsonschema
import pytest
from heddle import SOURCE

SCHEMA = json.loads((SOURCE / "core/schemas/report.schema.json").read_text(encoding="utf-8"))

TIMED = {"median_ms": 1.5, "ci_ms": [1.4, 1.6], "runs": 40}
RATIO = {"value": 2.0, "ci": [1.9, 2.1]}
REPORT: dict[str, Any] = {
    "schema": 1,
    "command": "judge",
    "task": {"name": "t", "path": "t.py", "digest": "d"},
    "target": {"name": "cpu"},
    "environment": {"heddle": "0"},
    "session": "s-1",
    "lint": [{"id": "constant_output", "severity": "warning", "message": "always the same"}],
    "baselines": {"eager": TIMED, "strongest": {"name": "compile", **TIMED}},
    "stage": "confirmed",
    "candidate": {"digest": "c", "format": "native", "policy": "builtin", **TIMED},
    "verdict": {
        "class": "clean",
        "evidence": [{"id": "correct", "status": "passed", "message": "within tolerance", "data": {}}],
    },
    "diagnostics": [{"severity": "warning", "message": "unused"}],
    "speedup": {"runner": {"eager": RATIO}, "deployed": {"eager": RATIO}},
    "reward": 3,
    "roof": {"ms": 1.0, "share": 0.7, "bound": "memory"},
    "coverage": {"own": 1.0, "library": 0.0, "framework": 0.0},
    "seconds": {"judge": 1.0},
}


LAUNCH: dict[str, Any] = {
    "steps": [0],
    "block": [128, 1, 1],
    "threads": 128,
    "cluster": [1, 1, 1],
    "shared_dynamic_bytes": 0,
    "occupancy": {"blocks": 8, "warps": 32, "share": 0.5, "limiters": ["registers"]},
    "message": "",
}
KERNEL: dict[str, Any] = {
    "name": "k",
    "source": "k.cu",
    "registers": 20,
    "shared_static_bytes": 0,
    "constant_bytes": 552,
    "stack_bytes": 0,
    "spill_store_bytes": None,
    "spill_load_bytes": None,
    "barriers": 1,
    "code_bytes": 1280,
    "max_threads": 1024,
    "assembly_seconds": 0.01,
    "launches": [LAUNCH],
}
COMPILED: dict[str, Any] = {
    "schema": 1,
    "command": "compile",
    "target": {"name": "cuda:sm_90a", "architecture": "sm_90a", "capability": "9.0"},
    "environment": {"heddle": "0"},
    "candidate": {"digest": "c", "format": "native", "policy": "person", "path": "p"},
    "diagnostics": [],
    "compilation": {
        "ok": True,
        "cached": False,
        "compiler": {"name": "NVRTC", "version": "13.0", "path": "/l.so"},
        "tunables": {"BLOCK": 128},
        "binary_bytes": 18792,
        "kernels": [KERNEL],
        "sass": {"k": [{"offset": None, "text": ".L:"}, {"offset": 0, "text": "EXIT", "file": "k.cu", "line": 3}]},
        "metrics": {
            "chip": "GH100",
            "library": "/c.so",
            "version": "13.0",
            "sets": [{"name": "bytes", "purpose": "p", "metrics": ["a"], "missing": [], "passes": None}],
        },
    },
    "seconds": {"compile": 0.1},
}


def changed(path: str, value: Any, whole: dict[str, Any] = REPORT) -> dict[str, Any]:
    """REPORT with the member at "a/b/0" set to a value, or removed where that is `...`."""
    report = copy.deepcopy(whole)
    *parents, last = [int(part) if part.isdigit() else part for part in path.split("/")]
    member: Any = report
    for part in parents:
        member = member[part]
    if value is ...:
        del member[last]
    else:
        member[last] = value
    return report


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_a_whole_report_holds() -> None:
    jsonschema.validate(REPORT, SCHEMA)


@pytest.mark.parametrize("value", [-1, 1, 2, 3, None])
def test_each_milestone_reward_holds(value: int | None) -> None:
    jsonschema.validate(changed("reward", value), SCHEMA)


def test_a_failed_command_holds_with_its_error_alone() -> None:
    report = {"schema": 1, "command": "lint", "environment": {}, "error": {"code": "not_found", "message": "no"}}
    jsonschema.validate(report, SCHEMA)


def test_a_comparison_holds_with_a_ratio_or_with_the_reason_for_none() -> None:
    jsonschema.validate(REPORT | {"against": {"candidate": "o", "speedup": RATIO}}, SCHEMA)
    jsonschema.validate(REPORT | {"against": {"candidate": "o", "speedup": None, "message": "busy"}}, SCHEMA)
    for against in ({"candidate": "o", "speedup": None}, {"candidate": "o", "message": "busy"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(REPORT | {"against": against}, SCHEMA)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("schema", 2),
        ("command", ...),
        ("environment", ...),
        ("task/digest", ...),
        ("target/name", ...),
        ("lint/0/severity", "fatal"),
        ("baselines/eager", ...),
        ("baselines/eager/ci_ms", [1.4]),
        ("baselines/eager/ci_ms", [1.4, 1.5, 1.6]),
        ("baselines/eager/median_ms", "1.5 ms"),
        ("baselines/strongest/name", ...),
        ("stage", "final"),
        ("candidate/format", "wheel"),
        ("candidate/policy", ...),
        ("verdict/class", "fine"),
        ("verdict/evidence", ...),
        ("verdict/evidence/0/status", "skipped"),
        ("verdict/evidence/0/message", ""),
        ("verdict/evidence/0/data", ...),
        ("diagnostics/0/message", ...),
        ("speedup", ...),
        ("speedup/deployed", ...),
        ("speedup/runner/eager", 2.0),
        ("speedup/runner/eager/ci", ...),
        ("reward", 4),
        ("reward", ...),
        ("roof/bound", "network"),
        ("roof", ...),
        ("coverage/own", "all"),
        ("coverage", ...),
        ("seconds/judge", "long"),
        ("seconds", ...),
    ],
)
def test_a_report_that_breaks_a_rule_is_refused(path: str, value: Any) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(changed(path, value), SCHEMA)


def test_a_compilation_holds_and_unknown_is_null() -> None:
    jsonschema.validate(COMPILED, SCHEMA)
    refused = {"ok": False, "kernels": []}
    jsonschema.validate(changed("compilation", refused, COMPILED), SCHEMA)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("target", ...),
        ("candidate", ...),
        ("target/architecture", "sm_90x"),
        ("compilation/ok", ...),
        ("compilation/cached", ...),
        ("compilation/compiler", ...),
        ("compilation/kernels/0/registers", ...),
        ("compilation/kernels/0/registers", -1),
        ("compilation/kernels/0/registers", "20"),
        ("compilation/kernels/0/launches/0/block", [128]),
        ("compilation/kernels/0/launches/0/occupancy", None),
        ("compilation/kernels/0/launches/0/occupancy/share", 1.5),
        ("compilation/kernels/0/launches/0/occupancy/limiters", ["luck"]),
        ("compilation/sass/k/1/line", 0),
        ("compilation/metrics/sets/0/passes", "two"),
        ("diagnostics", ...),
    ],
)
def test_a_compilation_that_breaks_a_rule_is_refused(path: str, value: Any) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(changed(path, value, COMPILED), SCHEMA)
