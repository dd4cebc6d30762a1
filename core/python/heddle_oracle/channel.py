# SPDX-License-Identifier: Apache-2.0
"""Frames over a Unix socket: a little-endian uint32 length and that many bytes of JSON.

File descriptors travel with the first byte of a frame; the member ``fds`` says how many.
Used by one thread. Counterpart of core/rpc/FrameChannel.h.
"""

from __future__ import annotations

import array
import contextlib
import json
import os
import socket
import struct
from collections.abc import Sequence
from typing import Any

from heddle_oracle.errors import OracleError

MAX_FRAME_BYTES = 64 * 1024 * 1024
MAX_FDS = 16


class ChannelClosedError(Exception):
    """The other side closed its end; there is nobody left to answer."""


class FrameLostError(Exception):
    """A length that cannot be read past: the stream has no next frame to find."""


class Channel:
    """One end of a socket pair. Owns the socket."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock

    @classmethod
    def from_fd(cls, fd: int) -> Channel:
        """Adopts an inherited descriptor of a Unix stream socket."""
        return cls(socket.socket(fileno=fd))

    def fileno(self) -> int:
        return self._socket.fileno()

    def close(self) -> None:
        self._socket.close()

    def send(self, message: dict[str, Any], fds: Sequence[int] = ()) -> None:
        """Sends one frame; the descriptors stay open here and belong to the caller."""
        if fds:
            message = {**message, "fds": len(fds)}
        body = json.dumps(message, separators=(",", ":"), allow_nan=False).encode()
        if len(body) > MAX_FRAME_BYTES:
            raise OracleError("protocol", f"an answer of {len(body)} bytes is over the limit")
        header = struct.pack("<I", len(body))
        try:
            if fds:
                rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))]
                sent = self._socket.sendmsg([header], rights)
                self._socket.sendall(header[sent:] + body)
            else:
                self._socket.sendall(header + body)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise ChannelClosedError from error

    def receive(self) -> tuple[dict[str, Any], list[int]]:
        """The next frame and its descriptors, which now belong to the caller.

        Raises OracleError ``protocol`` for a frame that is no JSON object or whose descriptors do
        not match (the next frame can still be read), FrameLostError for a length over the limit.
        """
        header, fds = self._receive_header()
        try:
            (length,) = struct.unpack("<I", header)
            if length > MAX_FRAME_BYTES:
                raise FrameLostError(f"a frame of {length} bytes is over the limit of 64 MiB")
            message = self._parse(self._exactly(length))
            if message.get("fds", 0) != len(fds):
                raise OracleError(
                    "protocol",
                    f"the frame names {message.get('fds', 0)} descriptors, {len(fds)} came",
                )
        except BaseException:
            close_all(fds)
            raise
        return message, fds

    @staticmethod
    def _parse(body: bytes) -> dict[str, Any]:
        try:
            message = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise OracleError("protocol", f"the frame is not JSON: {error}") from error
        if not isinstance(message, dict):
            raise OracleError("protocol", "the frame is not a JSON object")
        return message

    def _receive_header(self) -> tuple[bytes, list[int]]:
        fds = array.array("i")
        space = socket.CMSG_SPACE(MAX_FDS * fds.itemsize)
        try:
            data, ancillary, _, _ = self._socket.recvmsg(4, space, socket.MSG_CMSG_CLOEXEC)
        except ConnectionResetError as error:
            raise ChannelClosedError from error
        for level, kind, payload in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                fds.frombytes(payload[: len(payload) - len(payload) % fds.itemsize])
        try:
            if not data:
                raise ChannelClosedError
            return data + self._exactly(4 - len(data)), list(fds)
        except BaseException:
            close_all(list(fds))
            raise

    def _exactly(self, count: int) -> bytes:
        buffer = bytearray(count)
        view = memoryview(buffer)
        done = 0
        while done < count:
            try:
                got = self._socket.recv_into(view[done:])
            except ConnectionResetError as error:
                raise ChannelClosedError from error
            if got == 0:
                raise ChannelClosedError
            done += got
        return bytes(buffer)


def close_all(fds: Sequence[int]) -> None:
    """Closes received descriptors that nobody took."""
    for fd in fds:
        with contextlib.suppress(OSError):
            os.close(fd)
