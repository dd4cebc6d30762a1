# SPDX-License-Identifier: Apache-2.0
"""Counting what each operator of a run reads, writes and computes."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

#: Floating-point operations per element of the larger side, for operators that are neither a
#: matrix product nor a convolution (FlopCounterMode counts those). A transcendental function counts
#: as one, since its instructions are the library's affair; a norm or softmax as its passes.
_PASSES = {
    "aten::_softmax": 4,
    "aten::_log_softmax": 4,
    "aten::logsumexp": 4,
    "aten::native_layer_norm": 6,
    "aten::native_group_norm": 6,
    "aten::native_batch_norm": 6,
    "aten::var": 4,
    "aten::std": 4,
    "aten::var_mean": 4,
}
_NO_ARITHMETIC = (
    "aten::empty",
    "aten::copy_",
    "aten::_to_copy",
    "aten::clone",
    "aten::fill_",
    "aten::zero_",
    "aten::cat",
    "aten::stack",
)


class TrafficMode(TorchDispatchMode):
    """Adds up, for each operator that computes (views are free): bytes read and written, FLOPs of
    element-wise and reducing operators."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes = 0
        self.allocated_bytes = 0
        self.element_flops = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        name = func._schema.name
        given = [t for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)]
        made = [t for t in tree_leaves(result) if isinstance(t, torch.Tensor)]
        storages = {t.untyped_storage().data_ptr() for t in given}
        fresh = [t for t in made if t.untyped_storage().data_ptr() not in storages]
        self.allocated_bytes += sum(tensor_bytes(t) for t in fresh)
        if not fresh and not func._schema.is_mutable:
            return result  # a view
        if name.startswith("aten::empty"):
            return result
        self.bytes += sum(tensor_bytes(t) for t in given) + sum(tensor_bytes(t) for t in made)
        if not name.startswith(_NO_ARITHMETIC):
            elements = max((t.numel() for t in (*given, *made)), default=0)
            self.element_flops += elements * _PASSES.get(name, 1)
        return result


def tensor_bytes(tensor: torch.Tensor) -> int:
    return tensor.numel() * tensor.element_size()


class LivenessMode(TorchDispatchMode):
    """Records which storages each operator reads and writes, to find results that nobody uses.

    Keeps every tensor of the run alive, so that an address names one storage only.
    """

    def __init__(self) -> None:
        super().__init__()
        self._steps: list[tuple[str, set[int], set[int]]] = []
        self._kept: list[torch.Tensor] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        given = [t for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)]
        made = [t for t in tree_leaves(result) if isinstance(t, torch.Tensor)]
        self._kept += [*given, *made]
        read, written = _storages(given), _storages(made)
        if not func._schema.is_mutable and written <= read:
            return result  # a view
        if func._schema.is_mutable or func._schema.name == "aten::native_batch_norm":
            written = written | read  # which of them does not matter: keep all that it may write
        self._steps.append((func._schema.name, read, written))
        return result

    def dead(self, results: list[torch.Tensor]) -> list[str]:
        """Names of operators whose results reach none of these tensors, in the order they ran."""
        live = _storages(results)
        unused = []
        for name, read, written in reversed(self._steps):
            if written & live:
                live |= read
            else:
                unused.append(name)
        return unused[::-1]


def _storages(tensors: list[torch.Tensor]) -> set[int]:
    return {t.untyped_storage().data_ptr() for t in tensors}
