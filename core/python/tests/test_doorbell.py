# SPDX-License-Identifier: Apache-2.0
"""The doorbell's page and loop, against the C++ header and a real oracle."""

from __future__ import annotations

import ctypes
import shutil
import statistics
import subprocess
from pathlib import Path

import pytest
import torch
from conftest import ROOT, Child, Timer, task_text, tensor_of

from heddle_oracle import doorbell as bell

TASK = task_text("x, y|return torch.relu(x) + y, (x * y).sum(-1)", "[torch.randn(64, 33)] * 2")


def test_offsets_equal_those_of_the_header(tmp_path: Path) -> None:
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        pytest.skip("there is no C++ compiler here")
    names = [name for name, *_ in bell.Doorbell._fields_ if not name.startswith("pad")]
    lines = "".join(f'P("{n}", offsetof(HeddleDoorbell, {n}));' for n in names)
    constants = {
        "HEDDLE_OP_PREPARE": bell.OP_PREPARE,
        "HEDDLE_OP_CALL": bell.OP_CALL,
        "HEDDLE_OP_EMPTY": bell.OP_EMPTY,
        "HEDDLE_OP_RELEASE": bell.OP_RELEASE,
        "HEDDLE_OP_EXIT": bell.OP_EXIT,
        "HEDDLE_CALL_GUARDED": bell.CALL_GUARDED,
        "HEDDLE_CALL_STATE_IN_PLACE": bell.CALL_STATE_IN_PLACE,
        "HEDDLE_GUARD_BYTES": bell.GUARD_BYTES,
        "HEDDLE_GUARD_FILL": bell.GUARD_FILL,
        "HEDDLE_MAX_OUTPUTS": bell.MAX_OUTPUTS,
        "HEDDLE_MAX_INPUTS": bell.MAX_INPUTS,
        "HEDDLE_MESSAGE_BYTES": bell.MESSAGE_BYTES,
    }
    lines += "".join(f'P("{n}", {n});' for n in constants)
    source = tmp_path / "offsets.cpp"
    source.write_text(
        '#include "core/runtime/Doorbell.h"\n#include <cstdio>\n'
        'static void P(const char *n, size_t v) { std::printf("%s %zu\\n", n, v); }\n'
        f'int main() {{ {lines} P("size", sizeof(HeddleDoorbell)); }}\n'
    )
    program = tmp_path / "offsets"
    subprocess.run([compiler, "-std=c++20", f"-I{ROOT}", source, "-o", program], check=True)
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    found = {name: int(value) for name, value in (row.split() for row in printed.splitlines())}
    expected = {n: getattr(bell.Doorbell, n).offset for n in names}
    assert found == {**expected, **constants, "size": ctypes.sizeof(bell.Doorbell)}


def test_a_call_publishes_outputs_that_the_timer_can_read(oracle: Child) -> None:
    oracle.open(TASK)
    arena = oracle.arena()
    oracle.call("fill", {"slot": 1, "family": "task", "state_slot": None})
    assert oracle.call("prepare", {"name": "eager"})["ok"]
    timer = Timer(oracle, {"name": "eager"})
    timer.ok(bell.OP_PREPARE, slot=1)
    x, y = arena.inputs(1)
    copies = [tensor_of(data, x) for data in timer.inputs()]
    assert torch.equal(copies[0], x)
    assert torch.equal(copies[1], y)
    timer.ok(bell.OP_CALL, slot=1)
    first, second = timer.outputs()
    assert torch.equal(tensor_of(first, x), torch.relu(x) + y)
    assert torch.allclose(tensor_of(second, x[:, 0]), (x * y).sum(-1))
    timer.ok(bell.OP_RELEASE)
    timer.exit()


def test_guarded_inputs_lie_between_guard_zones(oracle: Child) -> None:
    oracle.open(TASK)
    oracle.arena()
    oracle.call("prepare", {"name": "eager"})
    timer = Timer(oracle, {"name": "eager"})
    timer.ok(bell.OP_PREPARE, flags=bell.CALL_GUARDED)
    for index in range(2):
        span = timer.page.bell.inputs[index]
        zone = bytes([bell.GUARD_FILL]) * bell.GUARD_BYTES
        for address in (span.address - bell.GUARD_BYTES, span.address + span.bytes):
            assert timer.read(bell.Span(address, bell.GUARD_BYTES)) == zone
    timer.ok(bell.OP_CALL, flags=bell.CALL_GUARDED)
    timer.exit()


def test_an_unknown_operation_is_a_status_and_the_loop_goes_on(oracle: Child) -> None:
    oracle.open(TASK)
    oracle.arena()
    oracle.call("prepare", {"name": "eager"})
    timer = Timer(oracle, {"name": "eager"})
    timer.ring(77)
    assert timer.page.bell.status == 1
    assert b"77" in timer.page.bell.message
    timer.ring(bell.OP_PREPARE, slot=9)
    assert timer.page.bell.status == 1
    timer.ok(bell.OP_EMPTY)
    timer.exit()


def test_an_empty_call_costs_far_less_than_a_millisecond(oracle: Child) -> None:
    oracle.open(task_text("x|return x + 1", "[torch.randn(4)]"))
    oracle.arena()
    oracle.call("prepare", {"name": "eager"})
    timer = Timer(oracle, {"name": "eager"})
    timer.ok(bell.OP_PREPARE)
    empty = statistics.median(timer.ok(bell.OP_EMPTY) for _ in range(300))
    trivial = statistics.median(timer.ok(bell.OP_CALL) for _ in range(300))
    print(f"empty {empty * 1e6:.1f} us, trivial call {trivial * 1e6:.1f} us")
    timer.exit()
    assert empty < 1e-3
    assert trivial < 2e-3


def test_updated_state_is_published_and_starts_anew_for_each_prepare(oracle: Child) -> None:
    opened = oracle.open(
        task_text(
            "x|self.total += x.sum(0); return x * self.total",
            "[torch.ones(2, 3)]",
            init='self.register_buffer("total", torch.zeros(3))',
        )
    )
    assert opened["updates"] == ["state:total"]
    oracle.arena()
    oracle.call("fill", {"slot": 0, "family": "task", "state_slot": 0})
    oracle.call("prepare", {"name": "eager"})
    timer = Timer(oracle, {"name": "eager"})
    for _ in range(2):
        timer.ok(bell.OP_PREPARE)
        timer.ok(bell.OP_CALL)
        assert timer.page.bell.outputCount == 2
        assert tensor_of(timer.outputs()[1], torch.zeros(3)).tolist() == [2.0, 2.0, 2.0]
    timer.exit()


def test_unguarded_inputs_keep_their_memory_and_get_fresh_content(oracle: Child) -> None:
    oracle.open(task_text("x|return x + 1", "[torch.randn(8, 16)]"))
    oracle.arena()
    for slot in range(2):
        oracle.call("fill", {"slot": slot, "family": "task", "state_slot": None})
    oracle.call("prepare", {"name": "eager"})
    timer = Timer(oracle, {"name": "eager"})
    addresses = set()
    contents = set()
    for slot in (0, 1, 0):
        timer.ok(bell.OP_PREPARE, slot=slot)
        addresses.add(timer.page.bell.inputs[0].address)
        contents.add(timer.inputs()[0])
        timer.ok(bell.OP_CALL, slot=slot)
        timer.ok(bell.OP_RELEASE)
    timer.exit()
    assert len(addresses) == 1
    assert len(contents) == 2
