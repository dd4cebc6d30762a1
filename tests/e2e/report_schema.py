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


def changed(path: str, value: Any) -> dict[str, Any]:
    """REPORT with the member at "a/b/0" set to a value, or removed where that is `...`."""
    report = copy.deepcopy(REPORT)
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
