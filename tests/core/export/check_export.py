# SPDX-License-Identifier: Apache-2.0
"""Compares an exported file with its task in a process of its own: python -I check_export.py TASK EXPORT."""

from __future__ import annotations

import copy
import importlib.util
import json
import pickle
import sys
import time
import warnings
from types import ModuleType
from typing import Any

import torch
from torch.utils import _pytree as pytree


def load(path: str, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def refuses(kind: type[Exception], words: str, call: Any) -> None:
    try:
        call()
    except kind as error:
        assert words in str(error), f"{words!r} is not in {error}"
    else:
        raise AssertionError(f"no {kind.__name__} about {words!r}")


def close(a: Any, b: Any) -> None:
    left, right = pytree.tree_flatten(a), pytree.tree_flatten(b)
    assert left[1] == right[1], (left[1], right[1])
    for x, y in zip(left[0], right[0], strict=True):
        assert type(x) is torch.Tensor and not x.__dict__
        torch.testing.assert_close(x, y, rtol=2e-6, atol=2e-6)


def check_refusals(model: Any, inputs: list[Any]) -> None:
    x, *rest = inputs
    refuses(TypeError, "torch.float64", lambda: model(x.double(), *rest))
    refuses(TypeError, "must be a tensor", lambda: model(3, *rest))
    refuses(ValueError, "judged for", lambda: model(x[:1], *rest))
    refuses(RuntimeError, "run on the cpu", lambda: model(x.to("meta"), *rest))
    with torch.enable_grad():
        if list(model.parameters()):
            fresh = copy.deepcopy(model)
            refuses(UserWarning, "no gradients", lambda: fresh(x, *rest))
        refuses(
            RuntimeError, "gradient", lambda: model(x.clone().requires_grad_(), *rest)
        )
    if rest:
        refuses(ValueError, "judged with", lambda: model(x, rest[0] + 1))


def main() -> None:
    torch.set_num_threads(2)
    task = load(sys.argv[1], "task")
    export = load(sys.argv[2], "export")
    torch.manual_seed(7)
    reference = task.Model(*task.get_init_inputs())
    torch.manual_seed(7)
    warnings.simplefilter("error")  # making a model says nothing
    model = export.ModelNew(*task.get_init_inputs())
    assert list(model.state_dict()) == list(reference.state_dict())
    for name, value in reference.state_dict().items():
        assert torch.equal(value, model.state_dict()[name]), name
    with torch.no_grad():
        for round_number in range(3):
            inputs = task.get_inputs()
            if round_number == 2:  # not contiguous
                inputs[0] = inputs[0].transpose(0, 1).contiguous().transpose(0, 1)
            kept = inputs[0].clone()
            close(model(*inputs), reference(*inputs))
            assert torch.equal(kept, inputs[0])
            close(model.state_dict(), reference.state_dict())
        other = {
            k: torch.randn_like(v) if v.is_floating_point() else v
            for k, v in reference.state_dict().items()
        }
        reference.load_state_dict(other)
        model.load_state_dict(other)
        close(model(*inputs), reference(*inputs))
        twin = copy.deepcopy(model)
        close(twin(*inputs), reference(*inputs))
        sys.modules["export"] = export
        close(pickle.loads(pickle.dumps(twin))(*inputs), reference(*inputs))
        for parameter in twin.parameters():
            parameter.zero_()
        reference_twin = copy.deepcopy(reference)
        for parameter in reference_twin.parameters():
            parameter.zero_()
        close(twin(*inputs), reference_twin(*inputs))
        check_refusals(model, inputs)
        # What a call costs beside the kernels: the C function replaced by nothing.
        run, export._run = export._run, lambda _pointers: 0
        model(*inputs)
        best = float("inf")
        for _ in range(20):
            start = time.perf_counter()
            for _ in range(200):
                model(*inputs)
            best = min(best, (time.perf_counter() - start) / 200)
        export._run = run
    print(json.dumps({"overhead_us": round(best * 1e6, 2)}))


if __name__ == "__main__":
    main()
