# SPDX-License-Identifier: Apache-2.0
"""Shared memory for inputs and state: the oracle writes it, everybody else can only read.

The layout is that of docs/architecture/oracle-protocol.md, "Tensors: arenas".
"""

from __future__ import annotations

import fcntl
import math
import mmap
import os
import warnings
from typing import Any

import torch

from heddle_oracle.encode import DTYPES
from heddle_oracle.errors import OracleError

ALIGNMENT = 256
_F_ADD_SEALS = 1033
_SEALS = 0x0002 | 0x0004 | 0x0010  # SHRINK, GROW, FUTURE_WRITE (Python 3.13 has the last name)


def align(offset: int) -> int:
    return (offset + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


def tensor_size(dtype: str, shape: list[int]) -> int:
    """Bytes of a contiguous tensor."""
    return math.prod(shape) * DTYPES[dtype].itemsize


def place(tensors: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], int]:
    """Gives each {name, dtype, shape, …} an offset and bytes; returns them and the slot's size."""
    placed, offset = [], 0
    for tensor in tensors:
        size = tensor_size(tensor["dtype"], tensor["shape"])
        placed.append({**tensor, "offset": offset, "bytes": size})
        offset = align(offset + size)
    return placed, max(offset, ALIGNMENT)


def plan_layout(
    inputs: list[dict[str, Any]],
    state: list[dict[str, Any]],
    input_slots: int,
    state_slots: int,
) -> dict[str, Any]:
    """The part of a layout that says where tensors are; sizes in bytes."""
    placed_inputs, input_bytes = place(inputs)
    placed_state, state_bytes = place(state)
    state_base = input_bytes * input_slots
    return {
        "bytes": max(state_base + state_bytes * state_slots, ALIGNMENT),
        "inputs": placed_inputs,
        "input_slot_bytes": input_bytes,
        "input_slots": input_slots,
        "input_base": 0,
        "state": placed_state,
        "state_slot_bytes": state_bytes,
        "state_slots": state_slots,
        "state_base": state_base,
    }


class ArenaView:
    """A mapped arena. `writable` only in the oracle, before the seal. Owns the mapping."""

    def __init__(self, fd: int, layout: dict[str, Any], writable: bool) -> None:
        self.layout = layout
        size = os.fstat(fd).st_size
        if size < int(layout["bytes"]):
            raise OracleError("protocol", f"the arena has {size} bytes, its layout more")
        protection = mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0)
        self._map = mmap.mmap(fd, int(layout["bytes"]), mmap.MAP_SHARED, protection)

    def input(self, slot: int, index: int) -> torch.Tensor:
        """Input `index` of a slot: a view of shared memory, contiguous."""
        return self._tensor("input", "inputs", slot, index)

    def state(self, slot: int, index: int) -> torch.Tensor:
        """State tensor `index` of a state slot."""
        return self._tensor("state", "state", slot, index)

    def inputs(self, slot: int) -> list[torch.Tensor]:
        return [self.input(slot, index) for index in range(len(self.layout["inputs"]))]

    def states(self, slot: int) -> list[torch.Tensor]:
        return [self.state(slot, index) for index in range(len(self.layout["state"]))]

    def _tensor(self, kind: str, table: str, slot: int, index: int) -> torch.Tensor:
        layout = self.layout
        count = layout[f"{kind}_slots"]
        if not 0 <= slot < count:
            raise OracleError("invalid_input", f"{kind} slot {slot} is not one of the {count}")
        entry = layout[table][index]
        offset = layout[f"{kind}_base"] + slot * layout[f"{kind}_slot_bytes"] + entry["offset"]
        return view_of(self._map, offset, entry["dtype"], entry["shape"])


def view_of(buffer: Any, offset: int, dtype: str, shape: list[int]) -> torch.Tensor:
    """A tensor over a buffer's bytes, without a copy."""
    if math.prod(shape) == 0:
        return torch.empty(shape, dtype=DTYPES[dtype])
    with warnings.catch_warnings():
        # A read-only mapping is meant here: it is only ever copied from.
        warnings.simplefilter("ignore", UserWarning)
        flat = torch.frombuffer(buffer, dtype=DTYPES[dtype], count=math.prod(shape), offset=offset)
    return flat.reshape(shape)


def create(layout: dict[str, Any]) -> tuple[ArenaView, int]:
    """A new arena: our writable view of it and a descriptor, sealed so that no other process can
    map it writable or resize it. The descriptor belongs to the caller."""
    fd = os.memfd_create("heddle-arena", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        try:
            os.ftruncate(fd, int(layout["bytes"]))
        except OSError as error:
            raise OracleError(
                "task_failed",
                f"the sets of inputs need {int(layout['bytes']) >> 20} MiB of shared memory, "
                f"more than there may be here: {error.strerror}",
                where="get_inputs",
                next_step="return smaller inputs from get_inputs()",
            ) from error
        view = ArenaView(fd, layout, writable=True)
        fcntl.fcntl(fd, _F_ADD_SEALS, _SEALS)
    except BaseException:
        os.close(fd)
        raise
    return view, fd
