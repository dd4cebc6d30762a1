# SPDX-License-Identifier: Apache-2.0
"""A zygote without PyTorch for ZygoteTest: speaks docs/architecture/oracle-protocol.md, serves `echo`, `hog` and `die`."""

import array
import ctypes
import json
import os
import signal
import socket
import struct
import sys

ROLE = "runner"


class Channel:
    def __init__(self, fd: int) -> None:
        self.socket = socket.socket(fileno=fd)

    def exactly(self, count: int, fds: array.array) -> bytes:
        parts = b""
        while len(parts) < count:
            data, ancillary, _, _ = self.socket.recvmsg(count - len(parts), socket.CMSG_SPACE(64))
            if not data:
                os._exit(0)
            for _, _, content in ancillary:
                fds.frombytes(content[: len(content) - len(content) % fds.itemsize])
            parts += data
        return parts

    def receive(self) -> tuple[dict, list[int]]:
        fds = array.array("i")
        (length,) = struct.unpack("<I", self.exactly(4, fds))
        return json.loads(self.exactly(length, fds)), list(fds)

    def send(self, body: dict, fds: list[int] | None = None) -> None:
        if fds:
            body["fds"] = len(fds)
        data = json.dumps(body).encode()
        frame = struct.pack("<I", len(data)) + data
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        sent = self.socket.sendmsg([frame], rights)
        self.socket.sendall(frame[sent:])


def child(fd: int, nonce: str) -> None:
    report = ctypes.create_string_buffer(1024)
    library = ctypes.CDLL(os.environ["HEDDLE_SANDBOX_LIBRARY"])
    result = library.heddle_sandbox_enter(ROLE.encode(), report, 1024)
    channel = Channel(fd)
    if result != 0:
        os._exit(9)
    channel.send({"hello": {"pid": os.getpid(), "nonce": nonce, "sandbox": json.loads(report.value)}})
    kept = []
    while True:
        request, _ = channel.receive()
        if request["method"] == "die":
            os.kill(os.getpid(), signal.SIGSEGV)
        while request["method"] == "hog":
            kept.append(bytearray(os.urandom(1 << 20)))
        channel.send({"id": request["id"], "result": {"echo": request["params"], "pid": os.getpid()}})


def main() -> None:
    print("the zygote is up", file=sys.stderr, flush=True)
    if "--fail" in sys.argv:
        raise ImportError("there is no torch here")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    channel = Channel(3)
    while True:
        request, fds = channel.receive()
        if request["method"] == "ping":
            channel.send({"id": request["id"], "result": {"torch": "none", "threads": 1}})
            continue
        pid = os.fork()
        if pid == 0:
            channel.socket.close()
            child(fds[0], request["params"]["nonce"])
        os.close(fds[0])
        pidfd = os.pidfd_open(pid)
        channel.send({"id": request["id"], "result": {}}, [pidfd])
        os.close(pidfd)


main()
