# SPDX-License-Identifier: Apache-2.0
"""Runs an exported ModelNew beside the task's Model in a clean process without Heddle.

Usage: python -I check_export.py FOLDER, with task.py and model_new.py in it. Prints one object:
{"ok", "outputs", "worst"}: `worst` is the largest error over the output's largest magnitude.
"""

from __future__ import annotations

import copy
import importlib.util
import json
import os
import sys
from typing import Any

import torch
from torch.utils import _pytree as pytree


def load(path: str, name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def main() -> None:
    folder = sys.argv[1]
    os.environ["TORCH_EXTENSIONS_DIR"] = os.path.join(folder, "extensions")
    sys.path.insert(0, folder)
    task = load(os.path.join(folder, "task.py"), "task")
    exported = load(os.path.join(folder, "model_new.py"), "model_new")
    torch.manual_seed(7)
    init = list(task.get_init_inputs())
    reference = task.Model(*copy.deepcopy(init))
    candidate = exported.ModelNew(*copy.deepcopy(init))
    candidate.load_state_dict(reference.state_dict())
    inputs = list(task.get_inputs())
    with torch.no_grad():
        expected = pytree.tree_leaves(reference(*copy.deepcopy(inputs)))
        got = pytree.tree_leaves(candidate(*copy.deepcopy(inputs)))
    worst = 0.0
    ok = len(expected) == len(got)
    for want, have in zip(expected, got, strict=False):
        if not isinstance(want, torch.Tensor):
            continue
        ok = ok and want.shape == have.shape and want.dtype == have.dtype
        if not ok or want.numel() == 0:
            continue
        if not want.is_floating_point():
            ok = ok and bool(torch.equal(want, have))
            continue
        scale = max(float(want.double().abs().nan_to_num(posinf=0.0, neginf=0.0).max()), 1e-30)
        same_nonfinite = torch.equal(torch.isfinite(want), torch.isfinite(have))
        error = (want.double() - have.double()).abs().nan_to_num(nan=0.0, posinf=0.0, neginf=0.0)
        worst = max(worst, float(error.max()) / scale)
        tolerance = 1e-4 if want.dtype in (torch.float32, torch.float64) else 1e-2
        ok = ok and same_nonfinite and worst <= tolerance
    print(json.dumps({"ok": ok, "outputs": len(got), "worst": worst}))


if __name__ == "__main__":
    main()
