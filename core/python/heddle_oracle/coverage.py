# SPDX-License-Identifier: Apache-2.0
"""How much of a Python candidate's call is PyTorch's own work, operator by operator."""

from __future__ import annotations

import statistics
import time
from typing import Any

import torch

from heddle_oracle.subject import ModuleSubject

CALLS = 5
# Operators of PyTorch's own that move no data: allocating and viewing is every candidate's right.
FREE = frozenset(
    f"aten::{name}"
    for name in (
        "empty",
        "empty_like",
        "empty_strided",
        "new_empty",
        "resize_",
        "view",
        "_unsafe_view",
        "reshape",
        "as_strided",
        "detach",
        "alias",
        "select",
        "slice",
        "transpose",
        "t",
        "permute",
        "expand",
        "squeeze",
        "unsqueeze",
    )
)


def coverage(subject: ModuleSubject, slot: int, state_slot: int) -> dict[str, Any]:
    """{own, library, framework}: shares of one call's wall time, summing to 1.

    `framework` is the self time of aten operators under the profiler over the profiled wall time;
    the rest counts as the candidate's own. Reported by the candidate's process: evidence, no proof.
    """
    subject.prepare(slot, state_slot, 0)
    shares = []
    for _ in range(CALLS + 1):
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as record:
            start = time.perf_counter()
            subject.call()
            wall = time.perf_counter() - start
        aten = sum(
            float(event.self_cpu_time_total) * 1e-6
            for event in record.key_averages()
            if str(event.key).startswith("aten::") and str(event.key) not in FREE
        )
        shares.append(min(1.0, aten / wall) if wall > 0.0 else 0.0)
    subject.release()
    framework = statistics.median(shares[1:])
    return {"own": 1.0 - framework, "library": 0.0, "framework": framework}
