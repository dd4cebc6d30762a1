# SPDX-License-Identifier: Apache-2.0
"""The reference in double precision: what a candidate's error is measured against."""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from heddle_oracle import flags
from heddle_oracle.errors import OracleError, is_out_of_memory
from heddle_oracle.state import copy_state
from heddle_oracle.task import Task, close
from heddle_oracle.tree import flatten_outputs

_NARROW = (torch.float32, torch.float16, torch.bfloat16)
MEMORY_VARIABLE = "HEDDLE_ORACLE_MEMORY_BYTES"


class DoubleMode(TorchDispatchMode):
    """Keeps a run in float64: an explicit narrower dtype (`.float()`, `dtype=`, a factory's)
    becomes float64, and a narrow tensor that the model kept as a plain attribute is widened
    when read.

    Also remembers where indices came from (argmax, topk, sort, max with a dimension), because a
    discrete output is compared by the values that it points at.
    """

    def __init__(self) -> None:
        super().__init__()
        self._origins: dict[int, tuple[torch.Tensor, torch.Tensor, int, bool]] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        mutable = func._schema.is_mutable
        bit_cast = func is torch.ops.aten.view.dtype

        def widen(value: Any) -> Any:
            if isinstance(value, torch.Tensor):
                return value.double() if value.dtype in _NARROW and not mutable else value
            if isinstance(value, torch.dtype) and value in _NARROW and not bit_cast:
                return torch.float64
            return value

        result = func(*tree_map(widen, args), **tree_map(widen, kwargs))
        self._remember(func, args, kwargs, result)
        return result

    def _remember(self, func: Any, args: Any, kwargs: dict[str, Any], result: Any) -> None:
        name = func._schema.name
        if name not in _INDEX_OPS or not args:
            return
        position = _INDEX_OPS[name]
        if position is not None and not isinstance(result, (tuple, list)):
            return  # max and min without a dimension give values only
        index = result if position is None else result[position]
        bound = dict(zip((a.name for a in func._schema.arguments), args, strict=False))
        bound.update(kwargs)
        source = bound["self"]
        dim = bound.get("dim", None if position is None else -1)
        keeps = bool(bound.get("keepdim", False)) or name in ("aten::topk", "aten::sort")
        if dim is None:  # argmax over everything: a position in the flattened tensor
            if index.dim():
                return
            source, dim = source.reshape(-1), 0
        self._origins[id(index)] = (index, source, dim, keeps)

    def origin(self, output: torch.Tensor) -> IndexOrigin | None:
        """Where an integer output's indices point, if an operator above made it."""
        found = self._origins.get(id(output))
        if found is None:
            return None
        _, source, dim, keeps = found
        return IndexOrigin(source.double(), dim % max(source.dim(), 1), keeps)


#: operator → which of its results holds indices (None: the only one)
_INDEX_OPS: dict[str, int | None] = {
    "aten::argmax": None,
    "aten::argmin": None,
    "aten::max": 1,
    "aten::min": 1,
    "aten::topk": 1,
    "aten::sort": 1,
}


@dataclass
class IndexOrigin:
    """An index output points along `dim` of `source` (float64)."""

    source: torch.Tensor
    dim: int
    keeps_dim: bool

    def gather(self, indices: torch.Tensor) -> torch.Tensor | None:
        """The values pointed at; None if an index is out of range or used twice in a row."""
        wide = indices if self.keeps_dim else indices.unsqueeze(self.dim)
        wide = wide.long()
        size = self.source.shape[self.dim]
        if wide.numel() and (int(wide.min()) < 0 or int(wide.max()) >= size):
            return None
        if wide.shape[self.dim] > 1:
            ordered = wide.sort(dim=self.dim).values
            if bool((ordered.diff(dim=self.dim) == 0).any()):
                return None
        return self.source.gather(self.dim, wide).reshape(indices.shape)


@dataclass
class Expected:
    """What a set's outputs and updates are. Floating ones are float64 unless precision is fp32."""

    tensors: list[torch.Tensor]  # outputs, then updates
    origins: list[IndexOrigin | None]
    precision: str  # "fp64", "fp64_sliced" or "fp32"
    reason: str  # why not fp64, or empty


class Oracle64:
    """Runs the reference in float64; owns a widened copy of the model."""

    def __init__(self, task: Task, call_bytes: int) -> None:
        self._task = task
        self._call_bytes = call_bytes
        self._model: torch.nn.Module | None = None

    def expect(
        self,
        inputs: Sequence[torch.Tensor],
        state: Sequence[torch.Tensor],
        eager: Sequence[torch.Tensor],
    ) -> Expected:
        """Expected outputs for inputs and state in the task's own dtypes.

        `eager` are the outputs and updates of the plain run: what is used where float64 is
        impossible, and what a sliced run is checked against.
        """
        cap = memory_cap()
        need = 3 * self._call_bytes
        reason = ""
        try:
            if need <= cap:
                tensors, origins = self._run(inputs, state)
                return Expected(tensors, origins, "fp64", "")
            reason = f"a float64 run needs about {need} bytes, the cap is {cap}"
            sliced = self._sliced(inputs, state, eager, cap, need)
            if sliced is not None:
                return Expected(sliced, [None] * len(sliced), "fp64_sliced", reason)
        except (OracleError, RuntimeError, MemoryError, TypeError, ValueError) as error:
            kind = "out of memory" if is_out_of_memory(error) else "failed"
            reason = f"the float64 run {kind}: {error}"
        return Expected(list(eager), [None] * len(eager), "fp32", reason)

    def _widened(self) -> torch.nn.Module:
        if self._model is None:
            model = copy.deepcopy(self._task.model).double()
            for module in model.modules():
                for name, value in vars(module).items():
                    if not name.startswith("_"):
                        vars(module)[name] = tree_map(_widen_plain, value)
            self._model = model
        return self._model

    def _double_run(
        self, inputs: Sequence[torch.Tensor], state: Sequence[torch.Tensor]
    ) -> tuple[list[torch.Tensor], list[IndexOrigin | None], list[torch.Tensor]]:
        """Outputs, their origins, and the widened model's own state tensors after the run."""
        task = self._task
        model = self._widened()
        copy_state([*model.parameters(), *model.buffers()], state)
        args, kwargs = task.build_call([_widen(t.clone()) for t in inputs])
        default = torch.get_default_dtype()
        mode = DoubleMode()
        try:
            torch.set_default_dtype(torch.float64)
            with torch.no_grad(), mode:
                result = model(*args, **kwargs)
            outputs = [tensor for _, tensor in flatten_outputs(result)]
            origins = [None if t.is_floating_point() else mode.origin(t) for t in outputs]
        finally:
            torch.set_default_dtype(default)
            flags.restore(task.flags)
        # Listed after the run: forward may have bound other tensors to the names.
        return outputs, origins, [*model.parameters(), *model.buffers()]

    def _run(
        self, inputs: Sequence[torch.Tensor], state: Sequence[torch.Tensor]
    ) -> tuple[list[torch.Tensor], list[IndexOrigin | None]]:
        task = self._task
        outputs, origins, own = self._double_run(inputs, state)
        if [list(t.shape) for t in outputs] != [s["shape"] for s in task.output_specs]:
            raise RuntimeError("the outputs have other shapes in float64")
        updates = [own[index].detach().clone() for index in task.update_indices]
        tensors = [t.contiguous().clone() for t in outputs] + updates
        return tensors, origins + [None] * len(updates)

    def _sliced(
        self,
        inputs: Sequence[torch.Tensor],
        state: Sequence[torch.Tensor],
        eager: Sequence[torch.Tensor],
        cap: int,
        need: int,
    ) -> list[torch.Tensor] | None:
        """Slices along dimension 0, if the model treats its batch independently: the plain run of a
        slice must equal the slice of the plain run. None if it does not, or nothing can be cut."""
        batch = inputs[0].shape[0] if inputs and inputs[0].dim() else 0
        if batch < 2 or self._task.update_indices:
            return None
        if any(t.dim() == 0 or t.shape[0] != batch for t in eager):
            return None
        cut = [t.dim() > 0 and t.shape[0] == batch for t in inputs]
        rows = max(1, min(batch // 2, batch * cap // max(need, 1)))

        def part(begin: int, end: int) -> list[torch.Tensor]:
            return [t[begin:end] if c else t for t, c in zip(inputs, cut, strict=True)]

        probe, _ = self._task.run(part(0, rows), state)
        if not all(close(p, e[:rows]) for p, e in zip(probe, eager, strict=True)):
            return None
        pieces: list[list[torch.Tensor]] = []
        for begin in range(0, batch, rows):
            outputs, _, _ = self._double_run(part(begin, min(begin + rows, batch)), state)
            pieces.append(outputs)
        return [torch.cat(column) for column in zip(*pieces, strict=True)]


def _widen(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.double() if tensor.dtype in _NARROW else tensor


def _widen_plain(value: Any) -> Any:
    return _widen(value) if type(value) is torch.Tensor else value


def memory_cap() -> int:
    """Bytes that one float64 run may use: the environment's word, else 40 % of what is free."""
    text = os.environ.get(MEMORY_VARIABLE, "")
    if text.isdigit():
        return int(text)
    with open("/proc/meminfo", encoding="ascii") as file:
        for line in file:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024 * 2 // 5
    return 4 << 30
