# SPDX-License-Identifier: Apache-2.0
"""Frames, malformed and well-formed, against a real zygote and oracle."""

from __future__ import annotations

import json
import os
import socket
import struct

import pytest
from conftest import Child, RemoteError, ZygoteProcess, task_text

from heddle_oracle.channel import MAX_FRAME_BYTES, Channel, ChannelClosedError


def _raw(child: Child, body: bytes) -> dict[str, object]:
    child.socket.sendall(struct.pack("<I", len(body)) + body)
    message, _ = child.channel.receive()
    error = message["error"]
    assert isinstance(error, dict)
    return error


@pytest.mark.parametrize(
    "body",
    [b"{", b"\xff\xfe", b"[1,2]", b"null", b'{"id":1,"method":"open","fds":2}', b"[" * 5000],
)
def test_a_malformed_frame_is_answered_and_survived(oracle: Child, body: bytes) -> None:
    assert _raw(oracle, body)["code"] == "protocol"
    assert oracle.call("memory")["resident_bytes"] > 0


@pytest.mark.parametrize(
    "message",
    [
        {"id": 1},
        {"id": 1, "method": "no_such"},
        {"id": 1, "method": ["open"]},
        {"id": 1, "method": "open", "params": 3},
        {"id": 1, "method": "open", "params": {"path": 1, "source": "x"}},
        {
            "id": 1,
            "method": "open",
            "params": {"path": "/a.py", "source": "", "siblings": {"b": 1}},
        },
    ],
)
def test_a_wrong_request_is_a_protocol_error(oracle: Child, message: dict[str, object]) -> None:
    assert _raw(oracle, json.dumps(message).encode())["code"] == "protocol"
    assert oracle.call("memory")["resident_bytes"] > 0


def test_a_length_over_the_limit_is_answered_before_the_child_leaves(oracle: Child) -> None:
    oracle.socket.sendall(struct.pack("<I", MAX_FRAME_BYTES + 1))
    assert oracle.channel.receive()[0]["error"]["code"] == "protocol"
    with pytest.raises(ChannelClosedError):
        oracle.channel.receive()


def test_methods_out_of_order_are_conflicts(oracle: Child) -> None:
    for method in ("lint", "graph", "profile"):
        with pytest.raises(RemoteError) as caught:
            oracle.call(method)
        assert caught.value.code == "conflict"
    oracle.open(task_text("x|return x * 2", "[torch.randn(4)]"))
    with pytest.raises(RemoteError) as caught:
        oracle.call("fill", {"slot": 0})
    assert caught.value.code == "conflict"


def test_a_descriptor_arrives_with_its_frame() -> None:
    one, two = (Channel(s) for s in socket.socketpair())
    fd = os.memfd_create("x")
    os.write(fd, b"hello")
    one.send({"id": 1, "method": "m"}, [fd])
    message, fds = two.receive()
    assert message == {"id": 1, "method": "m", "fds": 1}
    assert os.pread(fds[0], 5, 0) == b"hello"
    os.close(fds[0])
    os.close(fd)
    one.close()
    two.close()


def test_the_zygote_has_one_thread_and_its_children_share_no_descriptor(
    oracle_zygote: ZygoteProcess,
) -> None:
    assert oracle_zygote.call("ping")["threads"] == 1
    child = oracle_zygote.fork()
    assert child.hello["nonce"] == "n0"
    source = task_text(
        "x|return x + 1",
        "[torch.randn(4)]",
        more="import os\nfor fd in range(4, 1024):\n"
        "    if os.path.exists(f'/proc/self/fd/{fd}'):\n"
        "        assert 'socket' not in os.readlink(f'/proc/self/fd/{fd}'), fd\n",
    )
    child.open(source)
    oracle_zygote.children.remove(child)
    child.kill()


def test_without_a_sandbox_nothing_untrusted_runs() -> None:
    for role, method, params in (
        ("oracle", "open", {"path": "/a.py", "source": "raise SystemExit"}),
        ("runner", "load", {"files": {}, "entry": "a.py", "class": "ModelNew", "layout": {}}),
    ):
        zygote = ZygoteProcess(role, {"HEDDLE_UNSANDBOXED": "", "HEDDLE_SANDBOX_LIBRARY": ""})
        child = zygote.fork()
        assert child.hello["sandbox"]["entered"] is False
        with pytest.raises(RemoteError) as caught:
            child.call(method, params)
        assert caught.value.code == "environment"
        assert "sandbox" in caught.value.message
        zygote.stop()
