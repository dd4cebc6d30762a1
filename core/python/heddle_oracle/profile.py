# SPDX-License-Identifier: Apache-2.0
"""Where the time of an eager call goes, operator by operator."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import torch

from heddle_oracle import counters
from heddle_oracle.task import Task

CALLS = 3


def profile(task: Task) -> dict[str, Any]:
    """{operators, flops, bytes_min, bytes_eager}; operators by self time in milliseconds for one
    call, averaged over CALLS after one that warms up. Needs an otherwise idle machine."""
    inputs = [[t.clone() for t in task.sample_inputs()] for _ in range(CALLS + 1)]
    activities = [torch.profiler.ProfilerActivity.CPU]
    try:
        task.forward(inputs.pop())
        with torch.profiler.profile(activities=activities, record_shapes=True) as record:
            for call in inputs:
                task.forward(call)
    finally:
        task.restore_state()
    figures = counters.count(task)
    return {
        "operators": _by_time(record.key_averages(group_by_input_shape=True)),
        "flops": figures["flops"],
        "bytes_min": figures["bytes_min"],
        "bytes_eager": figures["bytes_eager"],
    }


def _by_time(averages: Any) -> list[dict[str, Any]]:
    times: dict[str, float] = defaultdict(float)
    counts: dict[str, int] = defaultdict(int)
    shapes: dict[str, list[Any]] = {}
    largest: dict[str, float] = defaultdict(float)
    for event in averages:
        name = str(event.key)
        if not name.startswith("aten::"):
            continue
        own = float(event.self_cpu_time_total) / 1000.0 / CALLS
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
            "count": max(1, round(counts[name] / CALLS)),
            "self_ms": times[name],
            "share": times[name] / total if total > 0 else 0.0,
            "shapes": shapes[name],
        }
        for name in ordered
    ]
