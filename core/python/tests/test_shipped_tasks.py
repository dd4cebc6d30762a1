# SPDX-License-Identifier: Apache-2.0
"""Every task that comes with Heddle opens, is captured, has no defect, passes its own judgement."""

from __future__ import annotations

import pytest
import torch
from conftest import TASKS, Child, shipped
from test_capture import run_graph

from heddle_oracle.families import FAMILIES
from heddle_oracle.loader import Sources
from heddle_oracle.task import Task

#: the operators of each captured graph: what the optimiser is given
OPERATORS = {
    "batch_norm_relu.py": {
        "aten._native_batch_norm_legit_functional.default": 1,
        "aten.add.Tensor": 1,
        "aten.relu.default": 1,
    },
    "channel_pool_gate.py": {
        "aten.add.Tensor": 1,
        "aten.amax.default": 1,
        "aten.mean.dim": 1,
        "aten.mul.Tensor": 3,
        "aten.sigmoid.default": 1,
    },
    "conv_block.py": {
        "aten._native_batch_norm_legit_functional.default": 1,
        "aten.add.Tensor": 1,
        "aten.conv2d.default": 1,
        "aten.relu.default": 1,
    },
    "gated_blend.py": {
        "aten.add.Tensor": 2,
        "aten.mul.Tensor": 2,
        "aten.rsub.Scalar": 1,
        "aten.sigmoid.default": 1,
    },
    "gated_recurrence.py": {
        "aten.add.Tensor": 65,
        "aten.mul.Tensor": 128,
        "aten.rsub.Scalar": 64,
        "aten.select.int": 193,
        "aten.sigmoid.default": 1,
        "aten.stack.default": 1,
        "aten.zeros_like.default": 1,
    },
    "group_norm_silu.py": {"aten.group_norm.default": 1, "aten.silu.default": 1},
    "instance_norm_leaky.py": {
        "aten.add.Tensor": 1,
        "aten.instance_norm.default": 1,
        "aten.leaky_relu.default": 1,
    },
    "l2_normalize_scale.py": {
        "aten.clamp.default": 1,
        "aten.div.Tensor": 1,
        "aten.linalg_vector_norm.default": 1,
        "aten.mul.Tensor": 1,
    },
    "layer_norm_tokens.py": {"aten.layer_norm.default": 1},
    "log_softmax_entropy.py": {
        "aten.add.Tensor": 1,
        "aten.exp.default": 1,
        "aten.log_softmax.int": 1,
        "aten.mul.Tensor": 1,
        "aten.neg.default": 1,
        "aten.sum.dim_IntList": 1,
    },
    "logsumexp_margin.py": {
        "aten.amax.default": 1,
        "aten.div.Tensor": 1,
        "aten.logsumexp.default": 1,
        "aten.sub.Tensor": 1,
    },
    "masked_leaky_mix.py": {
        "aten.leaky_relu.default": 1,
        "aten.pow.Tensor_Scalar": 1,
        "aten.sub.Tensor": 1,
        "aten.tanh.default": 1,
        "aten.where.self": 1,
    },
    "masked_scaled_softmax.py": {
        "aten.masked_fill.Scalar": 1,
        "aten.mul.Tensor": 1,
        "aten.softmax.int": 1,
    },
    "mlp_block.py": {"aten.add.Tensor": 1, "aten.gelu.default": 1, "aten.linear.default": 2},
    "residual_norm_block.py": {
        "aten.add.Tensor": 2,
        "aten.gelu.default": 1,
        "aten.layer_norm.default": 1,
        "aten.mul.Tensor": 1,
    },
    "rms_norm_gain.py": {
        "aten.add.Tensor": 1,
        "aten.mean.dim": 1,
        "aten.mul.Tensor": 2,
        "aten.pow.Tensor_Scalar": 1,
        "aten.rsqrt.default": 1,
    },
    "row_statistics.py": {
        "aten.abs.default": 1,
        "aten.amax.default": 1,
        "aten.sum.dim_IntList": 1,
        "aten.var.dim": 1,
    },
    "scale_shift_gelu.py": {"aten.add.Tensor": 1, "aten.gelu.default": 1, "aten.mul.Tensor": 1},
    "swish_clamp_outer.py": {
        "aten.add.Tensor": 2,
        "aten.clamp.default": 1,
        "aten.mul.Tensor": 2,
        "aten.sigmoid.default": 1,
    },
}


def test_every_shipped_task_is_in_the_table() -> None:
    assert shipped() == sorted(OPERATORS)
    assert len(OPERATORS) >= 12


@pytest.mark.parametrize("name", shipped())
def test_a_shipped_task_passes_its_own_judgement(oracle: Child, name: str) -> None:
    path = TASKS / name
    opened = oracle.open(path.read_text(), str(path))
    assert not opened["stochastic"]
    report = oracle.call("lint")
    assert [f for f in report["findings"] if f["severity"] != "info"] == []
    graph = oracle.call("graph")
    assert graph["source"] == "export"
    assert graph["operators"] == OPERATORS[name]
    arena = oracle.arena(1, 1)
    task = Task(Sources(str(path), path.read_text(), {}), "as-constructed", 0)
    other = FAMILIES[1 + shipped().index(name) % (len(FAMILIES) - 1)]
    families = ("task",) if name in SLOW else ("task", other)
    for family in families:
        filled = {"slot": 0, "state_slot": 0, "family": family, "state": "randomised"}
        assert not oracle.call("fill", filled)["dropped"]
        expected = oracle.call("expect", {"slot": 0, "state_slot": 0})
        assert expected["precision"] == "fp64"
        assert not expected["dropped"], family
        outputs, updates = task.run(arena.inputs(0), arena.states(0))
        verdict = oracle.compare([*outputs, *updates], state_slot=0)
        assert verdict["ok"], (family, verdict)
        assert all(o["precision_ok"] for o in verdict["outputs"])
        zeros = [torch.zeros_like(t) for t in outputs]
        assert not oracle.compare([*zeros, *updates], state_slot=0)["ok"]
    got, _ = run_graph(graph, task)
    wanted, _ = task.run(task.sample_inputs())
    for one, two in zip(got, wanted, strict=True):
        assert torch.allclose(one, two, rtol=1e-4, atol=1e-5)


#: a float64 convolution or product takes most of a second: one family is enough here
SLOW = ("conv_block.py", "mlp_block.py", "gated_recurrence.py")
