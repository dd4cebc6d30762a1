# SPDX-License-Identifier: Apache-2.0
"""Planted defects are found, and sound tasks are not accused."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import Child, task_text

DEFECTS = {
    "constant_output": ("x|return x.mean(1, keepdim=True) * 0", "[torch.randn(8, 9)]"),
    "near_zero_output": (
        "x|return (x - x.mean(1, keepdim=True)).mean(1)",
        "[torch.randn(64, 4096)]",
    ),
    "predictable_output": ("x|return x.mean()", "[torch.rand(2000, 2000)]"),
    "output_below_tolerance": ("x|return torch.softmax(x, -1) * 0.1", "[torch.rand(4, 16384)]"),
    "blind_input": ("x, y|return x + 0 * y", "[torch.randn(8, 9), torch.randn(8, 9)]"),
    "stochastic": ("x|return F.dropout(x, 0.5, True)", "[torch.randn(80, 9)]"),
    "identity_output": ("x|return torch.relu(x) + 0.0", "[torch.rand(8, 9)]"),
    "nonnegative_input": ("x|return torch.relu(x)", "[torch.rand(8, 9)]"),
    "integer_input": ("x|return x * 2.5", "[torch.randint(0, 5, (8, 9))]"),
    "structured_input": ("x|return x @ x", "[torch.tril(torch.randn(9, 9))]"),
    "probability_input": ("x|return x.log()", "[torch.softmax(torch.randn(8, 9), -1)]"),
    "constant_input": ("x, m|return x * m", "[torch.randn(8, 9), torch.arange(9.0)]"),
    "input_changed": ("x|return x.mul_(2) + 1", "[torch.randn(8, 9)]"),
    "dead_operator": ("x|y = torch.exp(x); return x * 2", "[torch.randn(8, 9)]"),
    "redundant_operator": ("x|return torch.relu(torch.sigmoid(x))", "[torch.randn(8, 9)]"),
    "nonfinite_output": ("x|return torch.log(x)", "[torch.randn(8, 9)]"),
}


@pytest.mark.parametrize("identifier", DEFECTS)
def test_a_planted_defect_is_found(oracle: Child, identifier: str) -> None:
    forward, inputs = DEFECTS[identifier]
    oracle.open(task_text(forward, inputs))
    assert identifier in _ids(oracle.call("lint"))


def test_state_that_forward_does_not_read_is_named(oracle: Child) -> None:
    oracle.open(task_text("x|return x * 2", "[torch.randn(8, 9)]", "self.l = nn.Linear(9, 9)"))
    report = oracle.call("lint")
    messages = [f["message"] for f in report["findings"] if f["id"] == "unused_state"]
    assert [m.split()[-1] for m in messages] == ["state:l.weight", "state:l.bias"]


def test_a_sound_task_has_no_finding(oracle: Child) -> None:
    oracle.open(
        task_text(
            "x, y|return F.gelu(self.n(x + y))",
            "[torch.randn(32, 9), torch.randn(32, 9)]",
            "self.n = nn.LayerNorm(9)",
        )
    )
    report = oracle.call("lint")
    assert report["findings"] == []
    assert report["properties"]["constant_output"] is False
    assert report["properties"]["blind_inputs"] == []


def _ids(report: dict[str, Any]) -> set[str]:
    return {finding["id"] for finding in report["findings"]}
