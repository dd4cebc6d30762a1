# SPDX-License-Identifier: Apache-2.0
"""Inputs, outputs, state and seeds of tasks of every form."""

from __future__ import annotations

import hashlib
import mmap
import os
from collections import OrderedDict, namedtuple

import torch
from conftest import Child, ZygoteProcess, task_text

from heddle_oracle.encode import tensor_bytes
from heddle_oracle.tree import describe_tree, flatten_outputs


def _names(opened: dict[str, object], key: str) -> list[str]:
    entries = opened[key]
    assert isinstance(entries, list)
    return [entry["name"] for entry in entries]


def test_nested_keyword_optional_and_plain_inputs_are_named_by_parameter(oracle: Child) -> None:
    opened = oracle.open(
        task_text(
            "x, pair, table, k=2, scale=None, *rest|"
            "return x * k + pair[0] - pair[1] + table['b']['w'] + (0 if scale is None else scale)",
            "[torch.randn(4), (torch.randn(4), torch.randn(4)), {'b': {'w': torch.randn(4)}}, 3,"
            " 0.5, torch.randn(2), 'text']",
        )
    )
    assert _names(opened, "inputs") == [
        "input:x",
        "input:pair.0",
        "input:pair.1",
        "input:table.b.w",
        "input:rest.0",
    ]
    assert opened["values"] == [
        {"name": "input:k", "value": 3},
        {"name": "input:scale", "value": 0.5},
        {"name": "input:rest.1", "value": "text"},
    ]


def test_get_inputs_may_return_keyword_arguments(oracle: Child) -> None:
    opened = oracle.open(
        task_text(
            "x, *, bias, gain=1.0|return x * gain + bias",
            "{'bias': torch.randn(3), 'x': torch.randn(2, 3), 'gain': 2.0}",
        )
    )
    assert _names(opened, "inputs") == ["input:x", "input:bias"]
    arena = oracle.arena()
    oracle.call("fill", {"slot": 0})
    assert oracle.call("expect", {"slot": 0})["precision"] == "fp64"
    x, bias = arena.inputs(0)
    assert oracle.compare([x * 2 + bias])["ok"]


def test_outputs_are_flattened_from_tuples_lists_and_dicts(oracle: Child) -> None:
    opened = oracle.open(
        task_text("x|return {'a': (x, None), 'b': [x.sum(), x > 0]}", "[torch.randn(4)]")
    )
    assert [o["path"] for o in opened["outputs"]] == ["a.0", "b.0", "b.1"]
    assert [o["dtype"] for o in opened["outputs"]] == ["float32", "float32", "bool"]
    assert opened["output_tree"] == {
        "t": "dict",
        "v": [
            ["a", {"t": "tuple", "v": ["tensor", None]}],
            ["b", {"t": "list", "v": ["tensor", "tensor"]}],
        ],
    }


def test_the_structure_of_a_result_is_told_by_the_kind_of_its_containers() -> None:
    pair = namedtuple("pair", ["left", "right"])
    x = torch.ones(3)
    leaf = "tensor"
    for result, expected in (
        (x, leaf),
        ([x], {"t": "list", "v": [leaf]}),
        ((x, None), {"t": "tuple", "v": [leaf, None]}),
        ({"b": x, 0: x}, {"t": "dict", "v": [["b", leaf], [0, leaf]]}),
        (OrderedDict(a=x), {"t": "ordered_dict", "v": [["a", leaf]]}),
        (pair(x, x), {"t": "named_tuple", "name": "pair", "v": [leaf, leaf]}),
        (x.max(dim=0), {"t": "return_type", "name": "max", "v": [leaf, leaf]}),
        ({(1, 2): x}, {"t": "other", "name": "builtins.dict"}),
    ):
        described = describe_tree(result)
        if isinstance(described, dict) and "keys" in described:
            assert described.pop("keys") == [path for path, _ in flatten_outputs(result)]
        assert described == expected


def test_seeds_are_secret_and_fresh(oracle_zygote: ZygoteProcess) -> None:
    source = task_text("x|return x * 2", "[torch.randn(64)]")
    seen = set()
    for _ in range(2):
        child = oracle_zygote.fork()
        child.open(source, seed=7)
        arena = child.arena()
        for _ in range(2):
            checksum = child.call("fill", {"slot": 0})["checksum"]
            assert checksum == [hashlib.sha256(tensor_bytes(arena.input(0, 0))).hexdigest()]
            seen.add(checksum[0])
        oracle_zygote.children.remove(child)
        child.kill()
    assert len(seen) == 4
    torch.manual_seed(7)
    guess = hashlib.sha256(tensor_bytes(torch.randn(64))).hexdigest()
    assert guess not in seen


def test_a_sealed_secret_replays_the_same_inputs(oracle_zygote: ZygoteProcess) -> None:
    sums = []
    for _ in range(2):
        child = oracle_zygote.fork()
        child.open(task_text("x|return x * 2", "[torch.randn(64)]"), seed=1, secret="ab" * 32)
        child.arena()
        sums.append(child.call("fill", {"slot": 0})["checksum"])
        oracle_zygote.children.remove(child)
        child.kill()
    assert sums[0] == sums[1]


def test_nobody_else_can_write_the_arena(oracle: Child) -> None:
    oracle.open(task_text("x|return x * 2", "[torch.randn(64)]"))
    oracle.arena()
    for action in (
        lambda: mmap.mmap(oracle.arena_fd, 256, mmap.MAP_SHARED, mmap.PROT_WRITE),
        lambda: os.pwrite(oracle.arena_fd, b"x", 0),
        lambda: os.ftruncate(oracle.arena_fd, 16),
    ):
        try:
            action()
        except OSError:
            continue
        raise AssertionError("the arena is not sealed")


def test_mode_eval_is_part_of_the_digest(oracle_zygote: ZygoteProcess) -> None:
    source = task_text("x|return x * (2 if self.training else 3)", "[torch.ones(2)]")
    digests = []
    for mode in ("as-constructed", "eval"):
        child = oracle_zygote.fork()
        digests.append(child.open(source, mode=mode)["task"]["digest"])
        oracle_zygote.children.remove(child)
        child.kill()
    assert digests[0] != digests[1]


def test_state_is_randomised_where_constants_would_hide_a_skipped_step(oracle: Child) -> None:
    oracle.open(task_text("x|return self.n(x)", "[torch.rand(8, 5)]", "self.n = nn.BatchNorm1d(5)"))
    arena = oracle.arena()
    oracle.call("fill", {"slot": 0, "state_slot": 0, "state": "randomised"})
    weight, bias, mean, variance, count = arena.states(0)
    assert weight.unique().numel() == 5
    assert bias.abs().min() > 0
    assert mean.unique().numel() == 5
    assert variance.min() > 0
    assert variance.unique().numel() == 5
    assert int(count) == 0
    oracle.call("fill", {"slot": 0, "state_slot": 0, "state": "constructed"})
    assert arena.state(0, 0).tolist() == [1.0] * 5


def test_precision_flags_that_forward_changes_are_put_back(oracle: Child) -> None:
    source = task_text(
        "x|torch.set_float32_matmul_precision('medium'); torch.enable_grad(); return x * 2",
        "[torch.randn(4)]",
    )
    opened = oracle.open(source + "\ntorch.set_float32_matmul_precision('high')\n")
    assert opened["flags"]["float32_matmul_precision"] == "high"
    oracle.arena()
    oracle.call("fill", {"slot": 0})
    assert oracle.call("expect", {"slot": 0})["precision"] == "fp64"
