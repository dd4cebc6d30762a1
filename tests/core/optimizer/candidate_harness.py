# SPDX-License-Identifier: Apache-2.0
"""Captures a task, has the optimiser write a candidate, compiles and calls it.

Not the judge: no sandbox, no export. It checks the optimiser's candidates in one process.
"""

from __future__ import annotations

import contextlib
import copy
import ctypes
import json
import os
import pathlib
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import torch

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "core" / "python"))

from heddle_oracle.capture import capture  # noqa: E402
from heddle_oracle.errors import OracleError  # noqa: E402
from heddle_oracle.loader import Sources  # noqa: E402
from heddle_oracle.precision import DoubleMode  # noqa: E402
from heddle_oracle.task import Task  # noqa: E402

DTYPES = {
    "float32": torch.float32, "float64": torch.float64, "float16": torch.float16,
    "bfloat16": torch.bfloat16, "int64": torch.int64, "int32": torch.int32, "int16": torch.int16,
    "int8": torch.int8, "uint8": torch.uint8, "bool": torch.bool,
}  # fmt: skip
TOLERANCES = {
    torch.float32: 1e-5, torch.float64: 1e-11, torch.float16: 2e-3, torch.bfloat16: 1.6e-2,
}  # fmt: skip


@dataclass
class NotCovered:
    """Why there is no candidate."""

    message: str


def open_task(source: str, path: str = "/task.py", seed: int = 1) -> Task:
    """A task from the text of its file."""
    return Task(Sources(path, source, {}), "as-constructed", seed)


def graph_of(task: Task) -> dict[str, Any] | NotCovered:
    """The captured graph, or the reason why there is none."""
    try:
        return capture(task)
    except OracleError as error:
        return NotCovered(error.message)


class Candidate:
    """A compiled candidate that is called with tensors by name."""

    def __init__(self, folder: pathlib.Path, fusion: str, values: dict[str, int] | None = None):
        self.folder = folder
        self.fusion = fusion
        self.source = (folder / "kernel.cpp").read_text()
        self.plan = json.loads((folder / "plan.json").read_text())
        self.values = {name: t["default"] for name, t in self.plan["tunables"].items()}
        self.values.update(values or {})
        tag = "_".join(f"{k}{v}" for k, v in sorted(self.values.items()))
        library = folder / f"kernel_{tag}.so"
        command = ["g++", "-std=c++20", "-O3", "-march=native", "-fopenmp", "-fPIC", "-shared",
                   "-fno-math-errno", "-fno-trapping-math", "-Wall", "-Wno-unknown-pragmas",
                   "-I", str(ROOT / "resources" / "include"), str(folder / "kernel.cpp"),
                   "-o", str(library)]  # fmt: skip
        command += [f"-D{name}={value}" for name, value in self.values.items()]
        if not library.exists():
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise RuntimeError("the candidate does not compile:\n" + done.stderr)
        self.library = ctypes.CDLL(str(library))

    def call(self, buffers: dict[str, torch.Tensor]) -> list[torch.Tensor]:
        """Runs the steps; `buffers` has the inputs and the state (which updates change)."""
        known = dict(buffers)
        for entry in self.plan["buffers"]:
            shape = [int(size) for size in entry["shape"]]
            known[entry["name"]] = torch.empty(shape, dtype=DTYPES[entry["dtype"]])
        outputs = []
        for number, entry in enumerate(self.plan["outputs"]):
            shape = [int(size) for size in entry["shape"]]
            outputs.append(torch.empty(shape, dtype=DTYPES[entry["dtype"]]))
            known[f"out:{number}"] = outputs[-1]
        for step in self.plan["steps"]:
            pointers = [ctypes.c_void_p(known[a["ptr"]].data_ptr()) for a in step["args"]]
            self.library[step["kernel"]](*pointers)
        return outputs


def optimise(graph: dict[str, Any], folder: pathlib.Path, mode: str = "") -> Candidate | NotCovered:
    """Runs heddle-optimize-graph (its path in HEDDLE_OPTIMIZE_GRAPH) and compiles what it wrote."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "graph.json").write_text(json.dumps(graph))
    program = os.environ["HEDDLE_OPTIMIZE_GRAPH"]
    command = [program, str(folder / "graph.json"), str(folder / "candidate")]
    done = subprocess.run(
        command + ([mode] if mode else []), capture_output=True, text=True, check=False
    )
    if done.returncode == 4:
        return NotCovered(done.stderr.strip())
    if done.returncode:
        raise RuntimeError(f"heddle-optimize-graph ended with {done.returncode}: {done.stderr}")
    return Candidate(folder / "candidate", done.stdout)


def buffers_of(task: Task, inputs: list[torch.Tensor]) -> dict[str, torch.Tensor]:
    """Inputs and a copy of the state, by the names that plans use; contiguous."""
    known = {
        spec["name"]: tensor.contiguous()
        for spec, tensor in zip(task.input_specs, inputs, strict=True)
    }
    for spec, tensor in zip(task.state_specs, task.constructed, strict=True):
        known[spec["name"]] = tensor.detach().clone().contiguous()
    return known


@dataclass
class Reference:
    """Outputs, then updated state; for each output that holds indices, where they point."""

    tensors: list[torch.Tensor]
    origins: list[Any]


def run_reference(task: Task, inputs: list[torch.Tensor], *, exact: bool) -> Reference:
    """The model as eager computes it, or in float64 throughout."""
    model = copy.deepcopy(task.model)
    if exact:
        model = model.double()
        inputs = [x.double() if x.is_floating_point() else x for x in inputs]
    args, kwargs = task.build_call([x.clone() for x in inputs])
    mode = DoubleMode()
    with torch.no_grad(), mode if exact else contextlib.nullcontext():
        result = model(*args, **kwargs)
    leaves = [x for x in torch.utils._pytree.tree_leaves(result) if isinstance(x, torch.Tensor)]
    named = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    tensors = leaves + [named[name.removeprefix("state:")] for name in task.updates]
    return Reference(tensors, [mode.origin(x) for x in tensors])


def check(task: Task, candidate: Candidate, inputs: list[torch.Tensor]) -> str | None:
    """Calls the candidate; what is wrong with its results, or nothing."""
    buffers = buffers_of(task, inputs)
    got = candidate.call(buffers)
    got += [buffers[name] for name in task.updates]
    eager = run_reference(task, inputs, exact=False).tensors
    exact = run_reference(task, inputs, exact=True)
    if len(got) != len(eager):
        return f"{len(got)} results instead of {len(eager)}"
    for number, (mine, theirs) in enumerate(zip(got, eager, strict=True)):
        if mine.dtype != theirs.dtype or mine.shape != theirs.shape:
            return f"result {number} is {mine.dtype} {list(mine.shape)}, eager's {theirs.dtype}"
        origin = exact.origins[number]
        if origin is not None:  # indices compare by the values that they point at: ties pass
            mine, theirs = origin.gather(mine).float(), origin.gather(theirs).float()
        found = fault(mine, theirs, theirs if origin is not None else exact.tensors[number])
        if found:
            return f"result {number}: {found}"
    return None


def fault(mine: torch.Tensor, theirs: torch.Tensor, exact: torch.Tensor) -> str | None:
    """What is wrong with a result, by the judge's two rules: error and RMS error."""
    if not theirs.dtype.is_floating_point:
        return f"{int((mine != theirs).sum())} differ" if not torch.equal(mine, theirs) else None
    wide, own, reference = mine.double(), theirs.double(), exact.double()
    finite = torch.isfinite(reference) & torch.isfinite(own)
    if not torch.equal(torch.isnan(wide)[~finite], torch.isnan(own)[~finite]):
        return "NaN in other places"
    if not bool(torch.isfinite(wide[finite]).all()):
        return "not finite where the reference is"
    if int(finite.sum()) == 0:
        return None
    error = (wide - reference)[finite].abs()
    their_error = (own - reference)[finite].abs()
    scale = reference[finite].abs()
    scale = scale.clamp(min=float(scale.square().mean().sqrt()))
    rank = max(1, int(0.999 * their_error.numel()))
    percentile = their_error.flatten().kthvalue(rank).values
    limit = torch.maximum(TOLERANCES[mine.dtype] * scale, 4.0 * percentile)
    limit = torch.maximum(limit, 4.0 * their_error)  # docs/decisions/0016
    if bool((error > limit).any()):
        return f"wrong by {float(error.max()):.3g}, eager by {float(percentile):.3g}"
    if error.numel() < 16:  # over a handful of elements eager's error is luck
        return None
    rms, their_rms = error.square().mean().sqrt(), their_error.square().mean().sqrt()
    # Eager's float64 is the reference itself: there the tolerance alone decides.
    floor = 2e-8 if mine.dtype == torch.float32 else 1e-12
    if bool(rms > 4.0 * their_rms + floor * scale.mean()):
        return f"RMS error {float(rms):.3g}, eager's {float(their_rms):.3g}"
    return None
