# SPDX-License-Identifier: Apache-2.0
"""The page that the worker's timer and this process share; the layout of core/runtime/Doorbell.h.

One loop, `serve`, runs baselines and candidates alike, so that what Python itself costs in a call
is the same on both sides.
"""

from __future__ import annotations

import ctypes
import gc
import mmap
import os
from collections.abc import Sequence
from typing import Protocol

OP_PREPARE, OP_CALL, OP_EMPTY, OP_RELEASE, OP_EXIT = 1, 2, 3, 4, 5
CALL_GUARDED, CALL_STATE_IN_PLACE = 1, 2
GUARD_BYTES = 256
GUARD_FILL = 0xA5
MAX_OUTPUTS = 64
MAX_INPUTS = 96
MESSAGE_BYTES = 896
PAGE_BYTES = 4096

_SYS_FUTEX = {"x86_64": 202, "aarch64": 98}[os.uname().machine]
_FUTEX_WAIT, _FUTEX_WAKE = 0, 1
_syscall = ctypes.CDLL(None, use_errno=True).syscall
_syscall.restype = ctypes.c_long
_syscall.argtypes = [
    ctypes.c_long,
    ctypes.c_void_p,
    ctypes.c_int,
    ctypes.c_uint32,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_uint32,
]


class Span(ctypes.Structure):
    _fields_ = (("address", ctypes.c_uint64), ("bytes", ctypes.c_uint64))


class Doorbell(ctypes.Structure):
    _fields_ = (
        ("request", ctypes.c_uint32),
        ("pad0", ctypes.c_uint32 * 15),
        ("reply", ctypes.c_uint32),
        ("pad1", ctypes.c_uint32 * 15),
        ("op", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("slot", ctypes.c_uint32),
        ("stateSlot", ctypes.c_uint32),
        ("pad2", ctypes.c_uint32 * 12),
        ("status", ctypes.c_int32),
        ("outputCount", ctypes.c_uint32),
        ("inputCount", ctypes.c_uint32),
        ("pad3", ctypes.c_uint32 * 13),
        ("outputs", Span * MAX_OUTPUTS),
        ("inputs", Span * MAX_INPUTS),
        ("message", ctypes.c_char * MESSAGE_BYTES),
        ("pad4", ctypes.c_char * 384),
    )


Spans = Sequence[tuple[int, int]]


class Subject(Protocol):
    """Something that can run one call. Methods may raise; the loop reports it as status 1."""

    def begin_block(self) -> None:
        """Before the loop: draws new memory for what is not state."""

    def prepare(self, slot: int, state_slot: int, flags: int) -> Spans:
        """Copies the slots into private memory; returns its spans: inputs, then state.

        `flags`: CALL_GUARDED puts guard zones round the inputs, CALL_STATE_IN_PLACE copies another
        state into the subject's own tensors instead of loading it.
        """

    def call(self) -> Spans:
        """One call; returns (address, bytes) of the outputs, then of the updated state."""

    def call_on_poison(self) -> Spans:
        """A guarded call: like call(), while new memory comes filled with NaN patterns."""

    def release(self) -> None:
        """Frees the outputs of the last call."""


class Page:
    """A mapped doorbell. Owns the mapping; the descriptor may be closed after construction."""

    def __init__(self, fd: int) -> None:
        self._map = mmap.mmap(fd, PAGE_BYTES, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
        self.bell = Doorbell.from_buffer(self._map)
        base = ctypes.addressof(self.bell)
        self.request_address = base + Doorbell.request.offset
        self.reply_address = base + Doorbell.reply.offset


def futex_wait(address: int, expected: int) -> None:
    """Sleeps while the word holds `expected`. May return early; the caller looks again.

    The call goes through ctypes, which gives up the interpreter lock while it sleeps.
    """
    _syscall(_SYS_FUTEX, address, _FUTEX_WAIT, expected, None, None, 0)


def futex_wake(address: int) -> None:
    """Wakes whoever waits on the word, in any process."""
    _syscall(_SYS_FUTEX, address, _FUTEX_WAKE, 0x7FFFFFFF, None, None, 0)


def _publish(spans: Spans, into: ctypes.Array[Span], limit: int, what: str) -> int:
    if len(spans) > limit:
        raise ValueError(f"{len(spans)} {what} do not fit a doorbell, which holds {limit}")
    for place, (address, count) in zip(into, spans, strict=False):
        place.address = address
        place.bytes = count
    return len(spans)


def serve(page: Page, subject: Subject) -> None:
    """Answers the timer until OP_EXIT. The collector is off meanwhile, on both sides of a
    comparison, so that no call pays for another one's garbage."""
    bell = page.bell
    request_address, reply_address = page.request_address, page.reply_address
    outputs, inputs = bell.outputs, bell.inputs
    last = bell.reply
    was_enabled = gc.isenabled()
    subject.begin_block()
    gc.collect()
    # What survived is in use: without it the next collection takes a millisecond, not a hundred.
    gc.freeze()
    gc.disable()
    try:
        while True:
            current = bell.request
            if current == last:
                futex_wait(request_address, last)
                continue
            last = current
            op = bell.op
            try:
                if op == OP_CALL:
                    guarded = bool(bell.flags & CALL_GUARDED)
                    spans = subject.call_on_poison() if guarded else subject.call()
                    bell.outputCount = _publish(spans, outputs, MAX_OUTPUTS, "outputs")
                elif op == OP_PREPARE:
                    spans = subject.prepare(bell.slot, bell.stateSlot, bell.flags)
                    bell.inputCount = _publish(
                        spans, inputs, MAX_INPUTS, "inputs and state tensors"
                    )
                elif op == OP_RELEASE:
                    subject.release()
                elif op not in (OP_EMPTY, OP_EXIT):
                    raise ValueError(f"the doorbell was rung with the unknown operation {op}")
                bell.status = 0
            except BaseException as error:  # noqa: BLE001 - a candidate may raise anything at all
                text = f"{type(error).__name__}: {error}".encode("utf-8", "replace")
                bell.message = text[: MESSAGE_BYTES - 1]
                bell.status = 1
            bell.reply = current
            futex_wake(reply_address)
            if op == OP_EXIT:
                return
    finally:
        if was_enabled:
            gc.enable()
