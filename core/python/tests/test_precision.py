# SPDX-License-Identifier: Apache-2.0
"""The float64 reference stays float64, and says when it could not."""

from __future__ import annotations

import pytest
import torch
from conftest import task_text

from heddle_oracle.loader import Sources
from heddle_oracle.precision import Oracle64
from heddle_oracle.task import Task

NARROWING = {
    "float": "x.float() / 3",
    "to": "x.to(torch.float32) / 3",
    "half": "(x.half() / 3).float()",
    "type": "x.type(torch.float32) / 3",
    "factory": "x / torch.full((1,), 3.0, dtype=torch.float32)",
    "default factory": "x / torch.full((1,), 3.0)",
    "softmax dtype": "torch.softmax(x, -1, dtype=torch.float32) / 3",
    "sum dtype": "x.sum(-1, dtype=torch.float32) / 3",
    "attribute": "x * self.plain",
    "list": "x * self.several[0]",
    "autocast": "self.cast(x)",
}
INIT = (
    "self.plain = torch.tensor(1 / 3); self.several = [torch.tensor(1 / 3)]\n"
    "    def cast(self, x):\n"
    "        with torch.autocast('cpu', dtype=torch.bfloat16):\n"
    "            return x @ x.T / 3"
)


def _expect(text: str) -> tuple[torch.Tensor, torch.Tensor, str]:
    task = Task(Sources("/t/t.py", text, {}), "as-constructed", 0)
    inputs = task.sample_inputs()
    eager, _ = task.run(inputs)
    expected = Oracle64(task, 0).expect(inputs, task.constructed, eager)
    return expected.tensors[0], inputs[0], expected.precision


@pytest.mark.parametrize("kind", NARROWING)
def test_a_cast_inside_forward_stays_double(kind: str) -> None:
    text = task_text(f"x|return {NARROWING[kind]}", "[torch.randn(6, 6)]", INIT)
    got, x, precision = _expect(text)
    assert precision == "fp64"
    wide = x.double()
    exact = {
        "softmax dtype": torch.softmax(wide, -1) / 3,
        "sum dtype": wide.sum(-1) / 3,
        "attribute": wide * float(torch.tensor(1 / 3)),
        "list": wide * float(torch.tensor(1 / 3)),
        "autocast": wide @ wide.T / 3,
    }.get(kind, wide / 3)
    assert got.dtype == torch.float64
    assert torch.allclose(got, exact, rtol=1e-14, atol=0)


def test_a_reinterpretation_of_bits_falls_back_to_single_precision_and_says_so() -> None:
    text = task_text("x|return x.view(torch.int32).float()", "[torch.randn(6, 6)]")
    assert _expect(text)[2] == "fp32"


def test_the_default_dtype_is_put_back() -> None:
    _expect(task_text("x|return x + torch.ones(6)", "[torch.randn(6, 6)]"))
    assert torch.get_default_dtype() == torch.float32


@pytest.mark.parametrize(
    ("forward", "precision"),
    [("return torch.relu(x) @ self.w", "fp64_sliced"), ("return x - x.mean(0)", "fp32")],
)
def test_over_the_memory_cap_it_slices_the_batch_or_says_single(
    monkeypatch: pytest.MonkeyPatch, forward: str, precision: str
) -> None:
    monkeypatch.setenv("HEDDLE_ORACLE_MEMORY_BYTES", "20000")
    init = "self.w = nn.Parameter(torch.randn(40, 30))"
    text = task_text(f"x|{forward}", "[torch.randn(64, 40)]", init)
    task = Task(Sources("/t/t.py", text, {}), "as-constructed", 0)
    (x,), (w,) = task.sample_inputs(), task.constructed
    eager, _ = task.run([x])
    oracle = Oracle64(task, task.traffic.allocated_bytes)
    expected = oracle.expect([x], [w], eager)
    assert expected.precision == precision
    assert "cap" in expected.reason
    if precision == "fp64_sliced":
        exact = torch.relu(x.double()) @ w.double()
        assert torch.allclose(expected.tensors[0], exact, rtol=1e-13)
    else:
        assert torch.equal(expected.tensors[0], eager[0])
