# SPDX-License-Identifier: Apache-2.0
"""A process that has PyTorch imported and forks the oracle or a runner in milliseconds.

It runs no tensor operation: after an OpenMP region in the parent, the first one in a fork hangs.
Between requests it imports, while idle, what its children will need.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import importlib
import os
import select
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from typing import Any

# OpenBLAS (NumPy's) starts threads when it is imported, which a fork would lose; Inductor's
# compile workers are processes of their own, which the sandbox does not want.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
# PyTorch's profiler would write notices of its own into the worker's log.
os.environ.setdefault("KINETO_LOG_LEVEL", "99")

import torch

from heddle_oracle import sandbox
from heddle_oracle.channel import Channel
from heddle_oracle.errors import OracleError
from heddle_oracle.service import Request, serve_methods

CHANNEL_FD = 3
_CLONE_NEWUSER, _CLONE_NEWPID = 0x10000000, 0x20000000
_PR_SET_PDEATHSIG = 1
_IDLE_SECONDS = 0.05
_IDLE_IMPORTS = {
    "oracle": (
        "heddle_oracle.oracle",
        "torch.export._trace",
        "torch._dynamo",
        "torch._inductor.compile_fx",
        "torch.profiler",
        "torch.utils.flop_counter",
    ),
    "runner": ("heddle_oracle.runner",),
}
_libc = ctypes.CDLL(None, use_errno=True)


def _die_with_parent(parent: int) -> None:
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _enter_pid_namespace() -> bool:
    """Makes this process's next child the first of a PID namespace, where the kernel lets it."""
    if _libc.unshare(_CLONE_NEWPID) == 0:
        return True
    uid, gid = os.getuid(), os.getgid()
    if _libc.unshare(_CLONE_NEWUSER | _CLONE_NEWPID) != 0:
        return False
    with contextlib.suppress(OSError):
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{uid} {uid} 1"),
            ("gid_map", f"{gid} {gid} 1"),
        ):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
    return True


def _own_scratch() -> str | None:
    """A folder of its own for one candidate, below the scratch of all: none may find what another
    left there. The middle process removes it."""
    shared = os.environ.get(sandbox.SCRATCH_VARIABLE)
    return tempfile.mkdtemp(prefix="run-", dir=shared) if shared else None


def _move_to(scratch: str) -> None:
    """Makes `scratch` this process's only scratch; entering the sandbox reads the variable."""
    shared = os.environ[sandbox.SCRATCH_VARIABLE]
    for name, value in list(os.environ.items()):
        if value == shared or value.startswith(shared + os.sep):
            os.environ[name] = scratch + value[len(shared) :]
    os.chdir(scratch)


class Zygote:
    """Serves `fork` and `ping`. Single-threaded; owns nothing but its channel."""

    def __init__(self, channel: Channel, role: str) -> None:
        self._channel = channel
        self._role = role
        self._pending = list(_IDLE_IMPORTS[role])

    def serve(self) -> None:
        handlers = {"fork": self._fork, "ping": self._ping}
        serve_methods(self._channel, handlers, before_each=self._idle)

    def _idle(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0] != 0:
                pass
        while self._pending:
            readable, _, _ = select.select([self._channel.fileno()], [], [], _IDLE_SECONDS)
            if readable:
                return
            importlib.import_module(self._pending.pop(0))

    def _ping(self, request: Request) -> dict[str, Any]:
        threads = len(os.listdir("/proc/self/task"))
        return {"torch": torch.__version__, "threads": threads, "warm": not self._pending}

    def _fork(self, request: Request) -> dict[str, Any]:
        nonce = request.need("nonce", str)
        channel_fd = request.take_fd()
        ours, theirs = socket.socketpair()
        zygote = os.getpid()
        sys.stdout.flush()
        sys.stderr.flush()
        middle = os.fork()
        if middle == 0:
            ours.close()
            self._middle(theirs, channel_fd, nonce, zygote)
        theirs.close()
        os.close(channel_fd)
        with ours:
            _, fds, _, _ = socket.recv_fds(ours, 1, 1)
        if not fds:
            raise OracleError("environment", "the kernel refused to fork another process")
        request.answer_fds.append(fds[0])
        return {}

    def _middle(self, report: socket.socket, channel_fd: int, nonce: str, zygote: int) -> None:
        """Runs in the first fork, which stays as the child's parent and leaves when it does: a
        process cannot put itself into a new PID namespace, only its children."""
        status = 1
        try:
            _die_with_parent(zygote)
            scratch = _own_scratch() if self._role == "runner" else None
            namespaced = _enter_pid_namespace()
            middle = os.getpid()
            child = os.fork()
            if child == 0:
                report.close()
                self._child(channel_fd, nonce, namespaced, middle, scratch)
            pidfd = os.pidfd_open(child)
            socket.send_fds(report, [b"1"], [pidfd])
            report.close()
            os.closerange(CHANNEL_FD, 1024)
            os.waitpid(child, 0)
            if scratch is not None:
                shutil.rmtree(scratch, ignore_errors=True)
            status = 0
        finally:
            os._exit(status)

    def _child(
        self, channel_fd: int, nonce: str, namespaced: bool, middle: int, scratch: str | None
    ) -> None:
        """Runs in the forked child: takes the channel, enters the sandbox, serves its role."""
        status = 1
        try:
            _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if not namespaced and os.getppid() != middle:
                return
            os.dup2(channel_fd, CHANNEL_FD, inheritable=False)
            os.closerange(CHANNEL_FD + 1, 1024)
            channel = Channel.from_fd(CHANNEL_FD)
            torch.set_grad_enabled(False)
            if scratch is not None:
                _move_to(scratch)
            report = sandbox.enter(self._role)
            report["pid_namespace"] = namespaced
            hello = {"pid": os.getpid(), "nonce": nonce, "sandbox": report}
            channel.send({"hello": hello})
            serve = _role_entry(self._role)
            serve(channel, report)
            status = 0
        finally:
            os._exit(status)


def _role_entry(role: str) -> Callable[[Channel, dict[str, Any]], None]:
    module = importlib.import_module(f"heddle_oracle.{role}")
    entry: Callable[[Channel, dict[str, Any]], None] = module.serve
    return entry


def main(arguments: list[str]) -> int:
    """Entry point of launch.py. Returns the exit status: 2 for bad usage, else 0."""
    parser = argparse.ArgumentParser(prog="launch.py", description="Heddle's PyTorch zygote")
    parser.add_argument("--role", choices=sorted(_IDLE_IMPORTS), required=True)
    options = parser.parse_args(arguments)
    try:
        channel = Channel.from_fd(CHANNEL_FD)
    except OSError:
        print("launch.py: descriptor 3 must be a Unix socket; heddle-worker starts this program")
        return 2
    Zygote(channel, options.role).serve()
    return 0
