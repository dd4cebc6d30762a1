# SPDX-License-Identifier: Apache-2.0
"""A PyTorch module as a subject of the doorbell: the same code for a baseline and a candidate."""

from __future__ import annotations

import contextlib
import ctypes
import secrets
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from heddle_oracle.arena import ArenaView
from heddle_oracle.doorbell import (
    CALL_GUARDED,
    CALL_STATE_IN_PLACE,
    GUARD_BYTES,
    GUARD_FILL,
    Spans,
)
from heddle_oracle.encode import DTYPES, decode

_data_ptr = torch.Tensor.data_ptr
_malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
_mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
_CALL_ALIGNMENT = 64


# glibc's DEFAULT_MMAP_THRESHOLD_MAX on 64-bit machines, less room for the headers of a block.
_LARGEST_DYNAMIC_BLOCK = (32 << 20) - (64 << 10)


def settle_allocator() -> None:
    """Puts glibc's moving thresholds where one freed large tensor puts them in any process.

    Freeing a mapped block raises M_MMAP_THRESHOLD to its size, at most 32 MiB, and M_TRIM_THRESHOLD
    to twice that (mallopt(3)). Two processes with the same code but another past would otherwise
    pay for fresh pages differently.
    """
    block = torch.empty(_LARGEST_DYNAMIC_BLOCK, dtype=torch.uint8)
    del block


def give_back_pages() -> None:
    """Returns the free memory of this process's heap to the system (malloc_trim(3))."""
    if _malloc_trim is not None:
        _malloc_trim(0)


_M_PERTURB = -6
# glibc fills what it hands out with the complement of this value's low byte: 0xFF, a NaN in every
# floating type. A higher bit is set because 0 would switch the filling off.
_FILL_WITH_ONES = 0x100
# Blocks up to this many bytes, with malloc's own padding, may come from caches that it doesn't
# fill: those are used up first, by more blocks than its caches and bins of one size hold.
_LARGEST_CACHED_BLOCK = 2048
_CACHED_BLOCKS = 32
# Larger blocks are mapped one by one, whatever their size (DEFAULT_MMAP_THRESHOLD_MAX).
_MAPPED_BLOCK = 33 << 20


@contextlib.contextmanager
def poisoned_memory(sizes: Sequence[int]) -> Iterator[bool]:
    """While it lasts, memory from malloc, PyTorch's included, comes filled with 0xFF (mallopt(3),
    M_PERTURB), PyTorch's blocks of these sizes in particular. Yields whether malloc can do that at
    all. What another allocator keeps for itself (NumPy's of small blocks) stays as it was."""
    if _mallopt is None or _mallopt(_M_PERTURB, _FILL_WITH_ONES) != 1:
        yield False
        return
    try:
        small = [size for size in sizes if size <= _LARGEST_CACHED_BLOCK]
        held = [torch.empty(n, dtype=torch.uint8) for n in small for _ in range(_CACHED_BLOCKS)]
        yield True
        del held
    finally:
        _mallopt(_M_PERTURB, 0)


def can_poison(sizes: Sequence[int]) -> bool:
    """Whether blocks of these sizes are seen to come filled inside poisoned_memory()."""
    with poisoned_memory(sizes) as possible:
        probed = sorted({min(size, _MAPPED_BLOCK) for size in sizes})
        return possible and all(
            bool((torch.empty(size, dtype=torch.uint8) == 0xFF).all()) for size in probed
        )


def span(tensor: torch.Tensor) -> tuple[int, int]:
    """Address and bytes of a contiguous tensor."""
    return _data_ptr(tensor), tensor.numel() * tensor.element_size()


def guarded_empty(dtype: torch.dtype, shape: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """An uninitialised tensor between two guard zones, and the block that holds all three."""
    count = 1
    for size in shape:
        count *= size
    length = count * dtype.itemsize
    block = torch.empty(length + 2 * GUARD_BYTES + _CALL_ALIGNMENT, dtype=torch.uint8)
    block.fill_(GUARD_FILL)
    start = GUARD_BYTES + (-(block.data_ptr() + GUARD_BYTES)) % _CALL_ALIGNMENT
    return block[start : start + length].view(dtype).reshape(tuple(shape)), block


class ModuleSubject:
    """Runs `module` on private copies of arena slots.

    `targets[j]()` gives the module's own tensor for state j of the layout at that moment (forward
    may bind a new one), None where it has none; `load(states)` puts a state slot's tensors into the
    module, `None` leaves its state alone.
    """

    def __init__(
        self,
        module: Any,
        arena: ArenaView,
        targets: Sequence[Callable[[], torch.Tensor] | None],
        load: Callable[[list[torch.Tensor]], None] | None,
    ) -> None:
        settle_allocator()
        layout = arena.layout
        self._module = module
        self._arena = arena
        self._targets = list(targets)
        self._load = load
        self._state_slot: int | None = None
        self._specs = [(DTYPES[e["dtype"]], tuple(e["shape"])) for e in layout["inputs"]]
        self._call = layout["call"]
        self._expected = [(DTYPES[e["dtype"]], tuple(e["shape"])) for e in layout["outputs"]]
        self._output_bytes = [int(e["bytes"]) for e in layout["outputs"]]
        names = [entry["name"] for entry in layout["state"]]
        self._updates = [names.index(name) for name in layout["updates"]]
        self._args: tuple[Any, ...] = ()
        self._kwargs: dict[str, Any] = {}
        self._pad: torch.Tensor | None = None
        self._held: list[torch.Tensor | None] = [None] * len(self._specs)
        self._blocks: list[torch.Tensor] = []
        self._outputs: list[torch.Tensor] = []

    def prepare(self, slot: int, state_slot: int, flags: int) -> Spans:
        self.release()
        guarded = bool(flags & CALL_GUARDED)
        inputs: list[torch.Tensor] = []
        for index, (dtype, shape) in enumerate(self._specs):
            if guarded:
                tensor, block = guarded_empty(dtype, shape)
                self._blocks.append(block)
            else:
                tensor = self._hold(index, dtype, shape)
            tensor.copy_(self._arena.input(slot, index))
            inputs.append(tensor)
        self._load_state(state_slot, bool(flags & CALL_STATE_IN_PLACE))
        args, kwargs = decode(self._call, inputs)
        self._args, self._kwargs = tuple(args), kwargs
        states = [target() for target in self._targets if target is not None]
        return [span(tensor) for tensor in (*inputs, *states)]

    def _hold(self, index: int, dtype: torch.dtype, shape: tuple[int, ...]) -> torch.Tensor:
        """The memory of input `index`: kept from call to call, as a caller keeps it.

        Memory given back between calls would make the outputs of some calls pay for fresh pages and
        those of others not, as glibc's trim threshold falls.
        """
        tensor = self._held[index]
        if tensor is None or tensor.shape != shape or not tensor.is_contiguous():
            tensor = torch.empty(shape, dtype=dtype)
            self._held[index] = tensor
        return tensor

    def _load_state(self, state_slot: int, in_place: bool) -> None:
        if self._load is None or state_slot >= self._arena.layout["state_slots"]:
            return
        if self._state_slot != state_slot:
            states = self._arena.states(state_slot)
            if in_place:
                # As an optimiser's step does it: no method of the module is told.
                for target, state in zip(self._targets, states, strict=True):
                    if target is not None:
                        target().copy_(state)
            else:
                self._load(states)
            self._state_slot = state_slot
        # Earlier calls have moved what forward updates; each call starts from the slot's content.
        for index in self._updates:
            target = self._targets[index]
            if target is not None:
                target().copy_(self._arena.state(state_slot, index))

    def begin_block(self) -> None:
        """New memory for what is not state: other addresses, other physical pages.

        Where a buffer lies in the caches moves a run by several percent and stays for the life of a
        process. Drawn anew for each block it is noise that many blocks average out, and the same on
        both sides (Curtsinger and Berger, Stabilizer, 2013). The first call of a block, which is
        not timed, pays for it.
        """
        self.release()
        self._held = [None] * len(self._specs)
        self._pad = None
        give_back_pages()
        self._pad = torch.empty(secrets.randbelow(16384) * _CALL_ALIGNMENT, dtype=torch.uint8)

    def call_on_poison(self) -> Spans:
        with poisoned_memory(self._output_bytes):
            return self.call()

    def call(self) -> Spans:
        result = self._module(*self._args, **self._kwargs)
        leaves = [result] if type(result) is torch.Tensor else pytree.tree_leaves(result)
        outputs: list[torch.Tensor] = []
        for leaf in leaves:
            if leaf is None:
                continue
            if type(leaf) is not torch.Tensor or leaf.__dict__:
                raise TypeError(
                    f"output {len(outputs)} is a {type(leaf).__name__}; "
                    "outputs are plain tensors without attributes"
                )
            outputs.append(leaf if leaf.is_contiguous() else leaf.contiguous())
        if len(outputs) != len(self._expected):
            raise ValueError(f"{len(outputs)} outputs came, {len(self._expected)} were expected")
        for index, (tensor, (dtype, shape)) in enumerate(zip(outputs, self._expected, strict=True)):
            if tensor.dtype is not dtype or tensor.shape != shape:
                raise ValueError(
                    f"output {index} is {tensor.dtype} {list(tensor.shape)}, "
                    f"expected {dtype} {list(shape)}"
                )
        self._outputs = outputs
        spans = [span(tensor) for tensor in outputs]
        for index in self._updates:
            target = self._targets[index]
            spans.append((0, 0) if target is None else span(target()))
        return spans

    def release(self) -> None:
        self._outputs = []
        self._args = ()
        self._kwargs = {}
        self._blocks = []
