# SPDX-License-Identifier: Apache-2.0
"""The captured graph: explicit updates, no in-place operators, honest refusals."""

from __future__ import annotations

import operator
from typing import Any

import pytest
import torch
from conftest import task_text

from heddle_oracle.capture import _by_fx, capture
from heddle_oracle.errors import OracleError
from heddle_oracle.loader import Sources
from heddle_oracle.task import Task

MODELS = {
    "in place": ("x|y = x * 2; y.add_(1); y.relu_(); return y", "[torch.randn(4, 5)]", "pass"),
    "view": ("x|return x.view(5, 4).t() + x", "[torch.randn(4, 5)]", "pass"),
    "batch norm": ("x|return self.n(x)", "[torch.randn(8, 5)]", "self.n = nn.BatchNorm1d(5)"),
    "buffer": (
        "x|self.b.mul_(0.9).add_(x.mean(0)); return x - self.b",
        "[torch.randn(8, 5)]",
        "self.register_buffer('b', torch.ones(5))",
    ),
    "assigned buffer": (
        "x|self.b = self.b + x.sum(); return x * self.b",
        "[torch.randn(8, 5)]",
        "self.register_buffer('b', torch.ones(()))",
    ),
    "constant": ("x|return x + torch.tensor([1.0, 2.0, 3.0])", "[torch.randn(8, 3)]", "pass"),
    "infinity": ("x|return x.masked_fill(x > 0, float('-inf'))", "[torch.randn(8, 3)]", "pass"),
    "integer": ("x, k|return x.sum(k) * k", "[torch.randn(8, 3), 1]", "pass"),
    "split": ("x|a, b = x.chunk(2, 1); return b, a * 2", "[torch.randn(8, 4)]", "pass"),
    "max": ("x|return x.max(1)", "[torch.randn(8, 4)]", "pass"),
    "dict": ("x|return {'b': x + 1, 'a': x * 2}", "[torch.randn(8, 4)]", "pass"),
    "tied": (
        "x|return self.b(self.a(x))",
        "[torch.randn(8, 4)]",
        "self.a = nn.Linear(4, 4); self.b = nn.Linear(4, 4); self.b.weight = self.a.weight",
    ),
    "nested": (
        "p, k=None, *, q|return p[0] * p[1]['w'] + q",
        "{'p': [torch.randn(3), {'w': torch.randn(3)}], 'q': torch.randn(3)}",
        "pass",
    ),
    "dtype": ("x|return x.to(torch.float64).sum(dtype=torch.float32)", "[torch.randn(4)]", "pass"),
    "dropout eval": ("x|return F.dropout(x, 0.5, False)", "[torch.randn(4)]", "pass"),
    "loop": (
        "x|\n        for _ in range(5): x = x * 1.5\n        return x",
        "[torch.ones(4)]",
        "pass",
    ),
    "attention": (
        "q|return F.scaled_dot_product_attention(q, q, q)",
        "[torch.randn(1, 2, 8, 4)]",
        "pass",
    ),
}


def _task(forward: str, inputs: str, init: str) -> Task:
    return Task(Sources("/t/t.py", task_text(forward, inputs, init), {}), "as-constructed", 0)


def run_graph(graph: dict[str, Any], task: Task) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """An interpreter of graph.md, written from the document alone."""
    values: dict[str, Any] = {}
    inputs = dict(zip([s["name"] for s in task.input_specs], task.sample_inputs(), strict=True))
    state = dict(zip([s["name"] for s in task.state_specs], task.constructed, strict=True))
    values.update({e["node"]: inputs[e["name"]] for e in graph["inputs"]})
    values.update({e["node"]: state[e["name"]] for e in graph["state"]})
    for entry in graph["constants"]:
        data = torch.tensor(entry["data"], dtype=getattr(torch, entry["dtype"]))
        values[entry["node"]] = data.reshape(entry["shape"])

    def argument(arg: Any) -> Any:
        if isinstance(arg, list):
            return [argument(a) for a in arg]
        if isinstance(arg, dict):
            if "ref" in arg:
                value = values[arg["ref"]]
                return value[arg["index"]] if "index" in arg else value
            if "dtype" in arg:
                return getattr(torch, arg["dtype"])
            return float("nan") if "nan" in arg else arg["inf"] * float("inf")
        return arg

    for node in graph["nodes"]:
        namespace, name, overload = node["op"].split(".")
        target = operator.attrgetter(f"{namespace}.{name}.{overload}")(torch.ops)
        assert not target._schema.is_mutable, node["op"]
        out = target(
            *[argument(a) for a in node["args"]],
            **{k: argument(v) for k, v in node["kwargs"].items() if k not in ("layout", "device")},
        )
        values[node["name"]] = out
        described = node["out"] if isinstance(node["out"], list) else [node["out"]]
        made = out if isinstance(out, (list, tuple)) else [out]
        for spec, tensor in zip(described, made, strict=True):
            assert spec == {
                "dtype": str(tensor.dtype).removeprefix("torch."),
                "shape": list(tensor.shape),
            }
    outputs = [
        values[o] if isinstance(o, str) else values[o["getitem"][0]][o["getitem"][1]]
        for o in graph["outputs"]
    ]
    by_name = {}
    for update in graph["updates"]:
        value = values[update["node"]]
        by_name[update["state"]] = value[update["index"]] if "index" in update else value
    return outputs, [by_name[name] for name in task.updates]


@pytest.mark.parametrize("way", ["export", "fx"])
@pytest.mark.parametrize("name", MODELS)
def test_running_the_graph_gives_the_models_outputs_and_updates(name: str, way: str) -> None:
    task = _task(*MODELS[name])
    if way == "fx" and task.rebinds:
        with pytest.raises(OracleError, match="assigns a new tensor"):
            _by_fx(task)
        return
    graph = capture(task) if way == "export" else _by_fx(task)
    if way == "export":
        assert graph["source"] == "export"
    outputs, updates = run_graph(graph, task)
    expected, updated = task.run(task.sample_inputs())
    assert len(outputs) == len(expected)
    for got, want in zip([*outputs, *updates], [*expected, *updated], strict=True):
        assert torch.allclose(got, want, atol=1e-6), name
    assert sum(graph["operators"].values()) == len(graph["nodes"])


def test_a_value_dependent_branch_is_not_covered_with_the_reason() -> None:
    task = _task("x|return x * 2 if x.sum() > 0 else x", "[torch.randn(4)]", "pass")
    with pytest.raises(OracleError) as caught:
        capture(task)
    assert caught.value.code == "not_covered"
    assert caught.value.where == "/t/t.py:11"
    assert "export:" in caught.value.message


def test_a_value_dependent_shape_is_not_covered() -> None:
    with pytest.raises(OracleError) as caught:
        capture(_task("x|return x[x > 0]", "[torch.arange(4.0) - 1.5]", "pass"))
    assert caught.value.code == "not_covered"


def test_a_large_constant_is_not_covered() -> None:
    task = _task("x|return x + self.c", "[torch.randn(5000)]", "self.c = torch.randn(5000)")
    with pytest.raises(OracleError) as caught:
        capture(task)
    assert "5000 elements" in caught.value.message


def test_capture_gives_up_at_its_time_limit() -> None:
    text = "x|\n        import time\n        time.sleep(0.6)\n        return x * 2"
    task = _task(text, "[torch.randn(4)]", "pass")
    with pytest.raises(OracleError) as caught:
        capture(task, limit_seconds=0.3)
    assert "longer than 0.3 s" in caught.value.message


def test_capture_leaves_the_state_as_it_was() -> None:
    task = _task(*MODELS["buffer"])
    capture(task)
    assert all(torch.equal(a, b) for a, b in zip(task.state_tensors, task.constructed, strict=True))
