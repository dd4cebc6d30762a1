# SPDX-License-Identifier: Apache-2.0
"""How much of a Python candidate's call is PyTorch's own work, operator by operator."""

from __future__ import annotations

import os
import re
import sys
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


#: `namespace::operator`, as the profiler names what goes through PyTorch's dispatcher
_OPERATOR = re.compile(r"(\w+)::[\w.]+")


#: of all operators there are before a candidate's code runs: this module is loaded by the zygote
_NAMESPACES = frozenset(name.partition("::")[0] for name in torch._C._dispatch_get_all_op_names())


def kind_of(event: str, folder: str) -> str:
    """Whose work a profiler's event is: "framework" for an operator of PyTorch (aten, mkldnn, prims
    and so on), "library" for one of another package that lies outside `folder`, else "own"."""
    found = _OPERATOR.fullmatch(event)
    if found is None or event in FREE:
        return "own"
    if found[1] in _NAMESPACES:
        return "framework"
    origin = getattr(sys.modules.get(found[1]), "__file__", None)
    return "library" if origin and not os.path.realpath(origin).startswith(folder) else "own"


def coverage(subject: ModuleSubject, slot: int, state_slot: int, folder: str) -> dict[str, Any]:
    """{own, library, framework}: shares of one call's wall time, summing to 1.

    Operators count by their self time, those of all threads together and at most the wall time; the
    rest is the candidate's own. `folder` holds its files, with a slash at its end. Reported by the
    candidate's process: evidence, no proof.
    """
    subject.prepare(slot, state_slot, 0)
    everywhere = torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
    shares: list[tuple[float, float]] = []
    for _ in range(CALLS + 1):
        with torch.profiler.profile(
            activities=[torch.profiler.ProfilerActivity.CPU], experimental_config=everywhere
        ) as record:
            start = time.perf_counter()
            subject.call()
            wall = time.perf_counter() - start
        spent = {"framework": 0.0, "library": 0.0, "own": 0.0}
        for event in record.key_averages():
            kind = kind_of(str(event.key), folder)
            spent[kind] += float(event.self_cpu_time_total) * 1e-6
        whole = max(wall, spent["framework"] + spent["library"], 1e-12)
        shares.append((spent["framework"] / whole, spent["library"] / whole))
    subject.release()
    # The call that stands in the middle by what is not its own; the first warms the profiler up.
    framework, library = sorted(shares[1:], key=sum)[CALLS // 2]
    return {"own": 1.0 - framework - library, "library": library, "framework": framework}
