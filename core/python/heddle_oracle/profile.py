# SPDX-License-Identifier: Apache-2.0
"""Where the time of an eager call goes, operator by operator."""

from __future__ import annotations

import time
from collections import defaultdict
from typing import Any

import torch

from heddle_oracle import counters
from heddle_oracle.subject import settle_allocator
from heddle_oracle.task import Task

FEWEST_CALLS = 3
MOST_CALLS = 12
SECONDS = 2.0


def profile(task: Task) -> dict[str, Any]:
    """{operators, flops, bytes_min, bytes_eager}; operators by self time of one call, in ms.

    It is the fastest of some calls after one that warms up: in it neither did another program
    disturb, nor had glibc given the memory of the results back to the system, so that an operator
    paid for fresh pages (which takes longer than many an operator). Needs an otherwise idle
    machine."""
    given = task.sample_inputs()
    settle_allocator()  # as in every process that is timed
    inputs = [tensor.clone() for tensor in given]
    calls: list[list[dict[str, Any]]] = []
    try:
        task.forward(inputs)
        end = time.monotonic() + SECONDS
        while len(calls) < FEWEST_CALLS or (len(calls) < MOST_CALLS and time.monotonic() < end):
            for tensor, value in zip(inputs, given, strict=True):
                tensor.copy_(value)  # forward may have written to it
            calls.append(_operators(task, inputs))
    finally:
        task.restore_state()
    figures = counters.count(task)
    return {
        "operators": fastest_call(calls),
        "flops": figures["flops"],
        "bytes_min": figures["bytes_min"],
        "bytes_eager": figures["bytes_eager"],
    }


def _operators(task: Task, call: list[torch.Tensor]) -> list[dict[str, Any]]:
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, record_shapes=True) as record:
        task.forward(call)
    return _by_time(record.key_averages(group_by_input_shape=True))


def fastest_call(calls: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The operators of the call whose whole time is the shortest."""
    return min(calls, key=lambda rows: sum(row["self_ms"] for row in rows))


def _by_time(averages: Any) -> list[dict[str, Any]]:
    times: dict[str, float] = defaultdict(float)
    counts: dict[str, int] = defaultdict(int)
    shapes: dict[str, list[Any]] = {}
    largest: dict[str, float] = defaultdict(float)
    for event in averages:
        name = str(event.key)
        if not name.startswith("aten::"):
            continue
        own = float(event.self_cpu_time_total) / 1000.0
        times[name] += own
        counts[name] += int(event.count)
        if own >= largest[name]:
            largest[name] = own
            shapes[name] = [shape for shape in event.input_shapes if shape]
    total = sum(times.values())
    ordered = sorted(times, key=lambda name: -times[name])
    return [
        {
            "name": name,
            "count": counts[name],
            "self_ms": times[name],
            "share": times[name] / total if total > 0 else 0.0,
            "shapes": shapes[name],
        }
        for name in ordered
    ]
