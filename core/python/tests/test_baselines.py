# SPDX-License-Identifier: Apache-2.0
"""Baselines run on the doorbell with the state they are given; figures of the profile are exact."""

from __future__ import annotations

import pytest
import torch
from conftest import Child, RemoteError, Timer, task_text, tensor_of

from heddle_oracle import doorbell as bell
from heddle_oracle.baselines import failure
from heddle_oracle.profile import fastest_call

BLOCK = task_text(
    "x|return torch.relu(self.n(self.l(x)))",
    "[torch.randn(32, 8)]",
    "self.l = nn.Linear(8, 16); self.n = nn.BatchNorm1d(16)",
)


def test_the_compiled_baseline_uses_the_state_slot_and_updates_it(oracle: Child) -> None:
    oracle.open(BLOCK)
    arena = oracle.arena(1, 2)
    for slot in (0, 1):
        filled = {"slot": 0, "state_slot": slot, "state": "randomised", "family": "task"}
        oracle.call("fill", filled)
    for slot in (0, 1):
        oracle.call("expect", {"slot": 0, "state_slot": slot})
    prepared = oracle.call("prepare", {"name": "compile"})
    assert prepared["ok"], prepared
    timer = Timer(oracle, {"name": "compile"})
    made = {}
    shapes = [torch.empty(32, 16), torch.empty(16), torch.empty(16), torch.empty((), dtype=int)]
    for slot in (0, 1):
        timer.ok(bell.OP_PREPARE, state_slot=slot)
        timer.ok(bell.OP_CALL, state_slot=slot)
        made[slot] = [tensor_of(d, s) for d, s in zip(timer.outputs(), shapes, strict=True)]
    timer.exit()
    assert not torch.equal(made[0][0], made[1][0])
    for slot in (0, 1):
        assert oracle.compare(made[slot], state_slot=slot)["ok"]
    assert arena.state(0, 0).shape == (16, 8)
    assert oracle.call("prepare", {"name": "compile"})["seconds"] == prepared["seconds"]


def test_freezing_needs_eval_and_unknown_names_are_refused(oracle: Child) -> None:
    oracle.open(BLOCK)
    refused = oracle.call("prepare", {"name": "freezing"})
    assert not refused["ok"]
    assert "eval" in refused["reason"]
    with pytest.raises(RemoteError) as caught:
        oracle.call("prepare", {"name": "fastest"})
    assert caught.value.code == "invalid_input"
    with pytest.raises(RemoteError) as caught:
        oracle.arena()
        oracle.call("serve", {"name": "compile"})
    assert caught.value.code == "conflict"


def test_figures_of_a_product_and_an_addition_are_exact(oracle: Child) -> None:
    oracle.open(task_text("x, y|return x @ y + 1", "[torch.randn(64, 32), torch.randn(32, 16)]"))
    report = oracle.call("profile")
    out = 64 * 16
    assert report["flops"] >= 2 * 64 * 32 * 16 + out
    assert report["bytes_min"] == 4 * (64 * 32 + 32 * 16 + out)
    assert report["bytes_eager"] == report["bytes_min"] + 4 * 2 * out
    names = [row["name"] for row in report["operators"]]
    assert {"aten::mm", "aten::add"} <= set(names)
    assert sum(row["share"] for row in report["operators"]) == pytest.approx(1.0)
    product = report["operators"][names.index("aten::mm")]
    assert product["count"] == 1
    assert product["shapes"] == [[64, 32], [32, 16]]


def test_operators_are_those_of_one_call_and_a_disturbed_one_does_not_count() -> None:
    calls = [[{"self_ms": 40.0}], [{"self_ms": 1.0}, {"self_ms": 1.5}], [{"self_ms": 2.0}]]
    assert fastest_call(calls) == calls[2]


def test_the_profile_gives_each_call_the_inputs_as_they_were(oracle: Child) -> None:
    # Without that the second call would find the input that the first one emptied, and raise.
    oracle.open(
        task_text(
            "x|assert x.sum() > 0; y = x * 2.0; x.zero_(); return y",
            "[torch.rand(64)]",
        )
    )
    assert "aten::mul" in [row["name"] for row in oracle.call("profile")["operators"]]


def test_a_compiler_that_failed_is_quoted() -> None:
    said = "C++ compile error\n\nCommand:\ng++ x.cpp\n\nOutput:\nIn x.cpp\nx.cpp:3: error: none\n"
    assert failure(RuntimeError(said)) == "RuntimeError: C++ compile error: x.cpp:3: error: none"
    said = "C++ compile error\n\nOutput:\nCannot create a file\n"
    assert failure(RuntimeError(said)) == "RuntimeError: C++ compile error: Cannot create a file"
    assert failure(ValueError("")) == "ValueError: "
