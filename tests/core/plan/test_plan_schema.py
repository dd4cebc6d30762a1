# SPDX-License-Identifier: Apache-2.0
"""core/schemas/plan.schema.json against the vectors and against broken plans; the golden expressions in Python."""

from __future__ import annotations

import copy
import json
import re
import sys
from pathlib import Path
from typing import Any

try:
    import jsonschema
    import pytest
except ImportError as missing:
    print(
        f"skipped: this Python has no {missing.name}; name one that has by HEDDLE_PYTHON"
    )
    sys.exit(77)

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = json.loads((ROOT / "core/schemas/plan.schema.json").read_text())
VECTORS = sorted((ROOT / "resources/plans").glob("*/*/plan.json"))
GOLDEN = json.loads((Path(__file__).parent / "expressions.json").read_text())


def is_valid(plan: Any) -> bool:
    return bool(jsonschema.Draft202012Validator(SCHEMA).is_valid(plan))


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_all_six_vectors_are_valid() -> None:
    assert len(VECTORS) == 6
    for path in VECTORS:
        jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(path.read_text()))


BROKEN: list[tuple[str, list[Any], Any]] = [
    ("another version", ["heddle"], 2),
    ("an unknown target", ["target"], "tpu"),
    ("a member that is not there", ["extra"], 1),
    ("a symbol that is a list", ["symbols", "rows"], []),
    ("a symbol with a function's name", ["symbols", "min"], "1"),
    ("a symbol with a character of no expression", ["symbols", "rows"], "a & b"),
    ("a tunable in small letters", ["tunables", "chunk"], {"default": 1}),
    ("a tunable without default", ["tunables", "CHUNK"], {"choices": [1]}),
    ("a tunable with a fraction", ["tunables", "CHUNK", "default"], 1.5),
    (
        "a buffer outside tmp",
        ["buffers"],
        [{"name": "h", "dtype": "float32", "shape": []}],
    ),
    (
        "a buffer of an unknown dtype",
        ["buffers"],
        [{"name": "tmp:h", "dtype": "float8", "shape": []}],
    ),
    ("an updated input", ["updates"], ["input:x"]),
    ("no step", ["steps"], []),
    ("no output", ["outputs"], []),
    ("an output without dtype", ["outputs", 0], {"shape": []}),
    ("a step that is neither", ["steps", 0], {"when": "1"}),
    ("a reserved kernel", ["steps", 0, "kernel"], "heddle_run"),
    ("a source outside", ["steps", 0, "source"], "/etc/kernel.cpp"),
    ("a source of the other target", ["steps", 0, "source"], "kernel.cu"),
    ("a launch shape on the cpu", ["steps", 0, "grid"], ["1"]),
    ("an argument of two types", ["steps", 0, "args", 0], {"i64": 1, "i32": 1}),
    ("an argument of an unknown type", ["steps", 0, "args", 0], {"i16": 1}),
    ("an offset without pointer", ["steps", 0, "args", 0], {"i64": 1, "offset": 1}),
    ("a pointer to nothing", ["steps", 0, "args", 0], {"ptr": "const:x"}),
    ("a repeat without index", ["steps", 2, "repeat"], {"count": 1, "steps": []}),
    (
        "a launch shape inside a repeat on the cpu",
        ["steps", 2, "repeat", "steps", 0, "block"],
        [1],
    ),
]


@pytest.mark.parametrize("case", BROKEN, ids=[row[0] for row in BROKEN])
def test_a_broken_plan_is_refused(case: tuple[str, list[Any], Any]) -> None:
    _, path, value = case
    plan = json.loads((ROOT / "resources/plans/repeat_scan/cpu/plan.json").read_text())
    assert is_valid(plan)
    node = plan
    for key in path[:-1]:
        node = node.setdefault(key, {}) if isinstance(node, dict) else node[key]
    node[path[-1]] = value
    assert not is_valid(plan)


def test_a_cuda_step_needs_its_launch_shape_also_inside_a_repeat() -> None:
    plan = json.loads((ROOT / "resources/plans/repeat_scan/cuda/plan.json").read_text())
    assert is_valid(plan)
    for remove in (["steps", 0, "grid"], ["steps", 2, "repeat", "steps", 0, "block"]):
        broken = copy.deepcopy(plan)
        node: Any = broken
        for key in remove[:-1]:
            node = node[key]
        del node[remove[-1]]
        assert not is_valid(broken)


def python_value(text: str) -> int:
    """A plan expression by Python's own arithmetic, which floors as the plan's does."""
    names = GOLDEN["names"]
    text = re.sub(
        r"(input|state):[A-Za-z0-9_.]+(\[\d+\])?",
        lambda m: str(names[m.group(0)]),
        text,
    )
    text = text.replace("/", "//")
    scope = {
        **{k: v for k, v in names.items() if ":" not in k},
        "ceil_div": lambda a, b: -(-a // b),
        "min": min,
        "max": max,
        "__builtins__": {},
    }
    return int(eval(text.strip(), scope))


def test_python_agrees_with_every_golden_value() -> None:
    assert len(GOLDEN["values"]) >= 40
    for text, value in GOLDEN["values"]:
        assert python_value(text) == value, text


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-p", "no:cacheprovider"]))
