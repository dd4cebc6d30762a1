# SPDX-License-Identifier: Apache-2.0
"""Runs an exported ModelNew beside the task's Model in a clean process without Heddle.

Usage: python -I check_export.py FOLDER [MODE], with model_new.py in it, and in task/ task.py and
what that imports. MODE eval puts the task's Model into eval mode, as it was judged. Prints one
object {"ok", "outputs", "worst", "reason"?}: `worst` is the largest error over the output's largest
magnitude.
"""

from __future__ import annotations

import copy
import importlib.util
import json
import os
import sys
from typing import Any

import torch


class DifferenceError(Exception):
    """Where the two results differ, in words."""


def load(path: str, name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def load_task(folder: str) -> Any:
    """The task with its siblings, which nobody finds any more afterwards."""
    before = set(sys.modules)
    sys.path.insert(0, folder)
    try:
        return load(os.path.join(folder, "task.py"), "task")
    finally:
        sys.path.remove(folder)
        for name in set(sys.modules) - before - {"task"}:
            origin = getattr(sys.modules[name], "__file__", None) or ""
            if os.path.dirname(origin) == folder:
                del sys.modules[name]


def make(maker: Any, arguments: Any) -> Any:
    values = copy.deepcopy(arguments)
    return maker(**values) if isinstance(values, dict) else maker(*values)


def compare(want: Any, have: Any, place: str = "the result") -> tuple[int, float]:
    """How many tensors were compared, and the worst error.

    DifferenceError where kind, structure or values differ.
    """
    # A class of the task's file has a twin in the exported file: same name, same fields.
    if type(want).__name__ != type(have).__name__:
        raise DifferenceError(f"{place} is a {type(have).__name__}, not a {type(want).__name__}")
    if isinstance(want, torch.Tensor):
        return 1, compare_tensors(want, have, place)
    if isinstance(want, dict):
        if list(want) != list(have):
            raise DifferenceError(f"{place} has the keys {list(have)}, not {list(want)}")
        pairs = [(want[key], have[key], f"{place}[{key!r}]") for key in want]
    elif isinstance(want, (list, tuple)):
        if len(want) != len(have):
            raise DifferenceError(f"{place} holds {len(have)} values, not {len(want)}")
        pairs = [(w, h, f"{place}[{i}]") for i, (w, h) in enumerate(zip(want, have, strict=True))]
    elif want != have:
        raise DifferenceError(f"{place} is {have!r}, not {want!r}")
    else:
        pairs = []
    parts = [compare(*pair) for pair in pairs]
    return sum(count for count, _ in parts), max((worst for _, worst in parts), default=0.0)


def compare_tensors(want: torch.Tensor, have: torch.Tensor, place: str) -> float:
    if want.shape != have.shape or want.dtype != have.dtype:
        raise DifferenceError(
            f"{place} is {have.dtype} {list(have.shape)}, not {want.dtype} {list(want.shape)}"
        )
    if want.numel() == 0:
        return 0.0
    if not want.is_floating_point():
        if not torch.equal(want, have):
            raise DifferenceError(f"{place} has other values")
        return 0.0
    scale = max(float(want.double().abs().nan_to_num(posinf=0.0, neginf=0.0).max()), 1e-30)
    error = (want.double() - have.double()).abs().nan_to_num(nan=0.0, posinf=0.0, neginf=0.0)
    worst = float(error.max()) / scale
    tolerance = 1e-4 if want.dtype in (torch.float32, torch.float64) else 1e-2
    if worst > tolerance or not torch.equal(torch.isfinite(want), torch.isfinite(have)):
        raise DifferenceError(f"{place} is off by {worst:.3g} of its scale")
    return worst


def main() -> None:
    folder = os.path.realpath(sys.argv[1])
    mode = sys.argv[2] if len(sys.argv) > 2 else "as-constructed"
    os.environ["TORCH_EXTENSIONS_DIR"] = os.path.join(folder, "extensions")
    task = load_task(os.path.join(folder, "task"))
    exported = load(os.path.join(folder, "model_new.py"), "model_new")
    torch.manual_seed(7)
    init = task.get_init_inputs() if hasattr(task, "get_init_inputs") else []
    reference = make(task.Model, init)
    candidate = make(exported.ModelNew, init)
    if mode == "eval":
        reference.eval()
    candidate.load_state_dict(reference.state_dict())
    inputs = task.get_inputs()
    answer: dict[str, Any] = {"ok": True}
    with torch.no_grad():
        try:
            count, worst = compare(make(reference, inputs), make(candidate, inputs))
            # What forward keeps in buffers is an output, too.
            kept = [dict(module.state_dict()) for module in (reference, candidate)]
            answer |= {"outputs": count, "worst": max(worst, compare(*kept, "state_dict")[1])}
        except DifferenceError as difference:
            answer = {"ok": False, "outputs": 0, "worst": None, "reason": str(difference)}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
