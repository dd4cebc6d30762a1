# SPDX-License-Identifier: Apache-2.0
"""Real zygotes, oracles and runners over real sockets, as heddle-worker drives them."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "core" / "python"
TASKS = ROOT / "resources" / "tasks"
sys.path.insert(0, str(PACKAGE))

from heddle_oracle import doorbell as bell  # noqa: E402
from heddle_oracle.arena import ArenaView  # noqa: E402
from heddle_oracle.channel import Channel  # noqa: E402

torch.set_num_threads(1)


class RemoteError(Exception):
    """An error answer."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(f"{error['code']} at {error['where']}: {error['message']}")
        self.code: str = error["code"]
        self.message: str = error["message"]
        self.where: str = error["where"]
        self.next: str = error["next"]


class Client:
    """The worker's end of one channel."""

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        self.channel = Channel(sock)
        self._id = 0

    def send(self, method: str, params: dict[str, Any], fds: tuple[int, ...] = ()) -> int:
        self._id += 1
        self.channel.send({"id": self._id, "method": method, "params": params}, fds)
        return self._id

    def answer(self) -> tuple[dict[str, Any], list[int]]:
        while True:
            message, fds = self.channel.receive()
            if "progress" in message:
                continue
            if "error" in message:
                raise RemoteError(message["error"])
            return message["result"], fds

    def call(
        self, method: str, params: dict[str, Any] | None = None, fds: tuple[int, ...] = ()
    ) -> dict[str, Any]:
        return self.call_fds(method, params, fds)[0]

    def call_fds(
        self, method: str, params: dict[str, Any] | None = None, fds: tuple[int, ...] = ()
    ) -> tuple[dict[str, Any], list[int]]:
        self.send(method, params or {}, fds)
        return self.answer()


class Child(Client):
    """A forked oracle or runner. `call("open", …)` and so on; kill() ends it."""

    def __init__(self, sock: socket.socket, pidfd: int) -> None:
        super().__init__(sock)
        self.pidfd = pidfd
        self.hello: dict[str, Any] = self.channel.receive()[0]["hello"]
        self.layout: dict[str, Any] = {}
        self.arena_fd = -1

    def open(self, source: str, path: str = "/tasks/task.py", **more: Any) -> dict[str, Any]:
        # One thread: OpenMP peers that spin on a busy machine are slower than none.
        return self.call("open", {"path": path, "source": source, "threads": 1, **more})

    def arena(self, input_slots: int = 2, state_slots: int = 1) -> ArenaView:
        params = {"input_slots": input_slots, "state_slots": state_slots}
        result, fds = self.call_fds("arena", params)
        self.layout, self.arena_fd = result["layout"], fds[0]
        return ArenaView(self.arena_fd, self.layout, writable=False)

    def compare(
        self, tensors: list[torch.Tensor], method: str = "compare", **params: Any
    ) -> dict[str, Any]:
        fd, places = pack(tensors)
        try:
            return self.call(method, {"slot": 0, "outputs": places, **params}, (fd,))
        finally:
            os.close(fd)

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        select.select([self.pidfd], [], [], 5.0)
        os.close(self.pidfd)
        self.socket.close()
        if self.arena_fd >= 0:
            os.close(self.arena_fd)


class ZygoteProcess(Client):
    """A zygote started as the worker starts it: isolated Python, channel on descriptor 3."""

    def __init__(self, role: str, environment: dict[str, str]) -> None:
        ours, theirs = socket.socketpair()
        launch = str(PACKAGE / "launch.py")
        # subprocess cannot choose a descriptor's number, so a first step moves it to 3.
        move = "import os, sys; os.dup2(int(sys.argv[1]), 3); os.execv(sys.argv[2], sys.argv[2:])"
        program = [sys.executable, "-I", launch, "--role", role]
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-c", move, str(theirs.fileno()), *program],
            pass_fds=[theirs.fileno()],
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
        )
        theirs.close()
        super().__init__(ours)
        self.children: list[Child] = []

    def fork(self) -> Child:
        ours, theirs = socket.socketpair()
        _, fds = self.call_fds("fork", {"nonce": "n0"}, (theirs.fileno(),))
        theirs.close()
        child = Child(ours, fds[0])
        self.children.append(child)
        return child

    def stop(self) -> None:
        for child in self.children:
            child.kill()
        self.socket.close()
        assert self.process.wait(timeout=20) == 0


class Timer:
    """The worker's timer in Python: rings, waits, reads spans out of the subject's memory."""

    def __init__(self, child: Child, method_params: dict[str, Any]) -> None:
        self.fd = os.memfd_create("doorbell")
        os.ftruncate(self.fd, bell.PAGE_BYTES)
        self.page = bell.Page(self.fd)
        self.child = child
        child.send("serve", method_params, (self.fd,))
        self.pid = pid_of(child.pidfd)

    def ring(self, op: int, slot: int = 0, state_slot: int = 0, flags: int = 0) -> float:
        b = self.page.bell
        b.op, b.slot, b.stateSlot, b.flags = op, slot, state_slot, flags
        number = b.request + 1
        start = time.perf_counter()
        b.request = number
        bell.futex_wake(self.page.request_address)
        while b.reply != number:
            bell.futex_wait(self.page.reply_address, number - 1)
        return time.perf_counter() - start

    def ok(self, op: int, **more: int) -> float:
        seconds = self.ring(op, **more)
        assert self.page.bell.status == 0, self.page.bell.message.decode()
        return seconds

    def read(self, span: Any) -> bytes:
        return read_memory(self.pid, span.address, span.bytes)

    def outputs(self) -> list[bytes]:
        b = self.page.bell
        return [self.read(b.outputs[i]) for i in range(b.outputCount)]

    def inputs(self) -> list[bytes]:
        b = self.page.bell
        return [self.read(b.inputs[i]) for i in range(b.inputCount)]

    def exit(self) -> None:
        self.ok(bell.OP_EXIT)
        self.child.answer()
        os.close(self.fd)


def pid_of(pidfd: int) -> int:
    for line in Path(f"/proc/self/fdinfo/{pidfd}").read_text().splitlines():
        if line.startswith("Pid:"):
            return int(line.split()[1])
    raise AssertionError("a pidfd names its process")


class _IoVec(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("len", ctypes.c_size_t))


def read_memory(pid: int, address: int, count: int) -> bytes:
    """Bytes of another process, as the worker reads a subject's outputs."""
    buffer = ctypes.create_string_buffer(count)
    local = _IoVec(ctypes.addressof(buffer), count)
    remote = _IoVec(address, count)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.process_vm_readv.restype = ctypes.c_ssize_t
    libc.process_vm_readv.argtypes = [
        ctypes.c_int,
        ctypes.c_void_p,
        ctypes.c_ulong,
        ctypes.c_void_p,
        ctypes.c_ulong,
        ctypes.c_ulong,
    ]
    done = libc.process_vm_readv(pid, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
    assert done == count, os.strerror(ctypes.get_errno())
    return buffer.raw[:count]


def tensor_of(data: bytes, like: torch.Tensor) -> torch.Tensor:
    return torch.frombuffer(bytearray(data), dtype=like.dtype).reshape(like.shape)


def pack(tensors: list[torch.Tensor]) -> tuple[int, list[dict[str, int]]]:
    """A memfd with the tensors' bytes, as the worker hands outputs to compare."""
    fd = os.memfd_create("outputs")
    places, offset = [], 0
    for tensor in tensors:
        flat = tensor.contiguous().reshape(-1)
        data = flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
        os.pwrite(fd, data, offset)
        places.append({"offset": offset, "bytes": len(data)})
        offset += (len(data) + 63) // 64 * 64
    return fd, places


def task_text(forward: str, inputs: str, init: str = "pass", more: str = "") -> str:
    """A small task file."""
    return (
        "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n\n"
        "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        f"        {init}\n\n    def forward(self, {forward.split('|')[0]}):\n"
        f"        {forward.split('|')[1]}\n\n\n"
        f"def get_inputs():\n    return {inputs}\n\n\ndef get_init_inputs():\n    return []\n{more}"
    )


@pytest.fixture(scope="session")
def oracle_zygote() -> Iterator[ZygoteProcess]:
    zygote = ZygoteProcess("oracle", {"HEDDLE_UNSANDBOXED": "1"})
    yield zygote
    zygote.stop()


@pytest.fixture(scope="session")
def runner_zygote() -> Iterator[ZygoteProcess]:
    zygote = ZygoteProcess("runner", {"HEDDLE_UNSANDBOXED": "1"})
    yield zygote
    zygote.stop()


@pytest.fixture
def oracle(oracle_zygote: ZygoteProcess) -> Iterator[Child]:
    child = oracle_zygote.fork()
    yield child
    oracle_zygote.children.remove(child)
    child.kill()


@pytest.fixture
def runner(runner_zygote: ZygoteProcess) -> Iterator[Child]:
    child = runner_zygote.fork()
    yield child
    runner_zygote.children.remove(child)
    child.kill()


def shipped() -> list[str]:
    return sorted(path.name for path in TASKS.glob("*.py"))


def dumps(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
