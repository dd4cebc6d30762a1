# SPDX-License-Identifier: Apache-2.0
"""What a script reads when the window refuses a command: one sentence, whatever members its error has."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from typing import Any

import pytest
from window import Window

Answering = Callable[[bytes], Window]


@pytest.fixture
def answering() -> Any:
    """Makes a window that gives this answer to the first command, and then is gone."""
    ends: list[socket.socket] = []

    def make(answer: bytes) -> Window:
        near, far = socket.socketpair()
        far.sendall(answer)
        far.shutdown(socket.SHUT_WR)
        ends.extend((near, far))
        window = Window.__new__(Window)
        window.socket = near
        window.reader = near.makefile("r", encoding="utf-8")
        return window

    yield make
    for end in ends:
        end.close()


def refused(error: Any) -> bytes:
    return json.dumps({"id": 1, "ok": False, "error": error}).encode() + b"\n"


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (
            {"code": "not_found", "message": "no control can be pressed", "where": "Lint", "next": "there are: Open"},
            "press name='Lint': no control can be pressed (Lint); next: there are: Open",
        ),
        ({"code": "conflict", "message": "it is disabled"}, "press name='Lint': it is disabled"),
        ({}, "press name='Lint': it failed without saying why"),
        (None, "press name='Lint': it failed without saying why: None"),
    ],
)
def test_a_refusal_is_one_sentence_whatever_the_error_lacks(
    answering: Answering, error: Any, sentence: str
) -> None:
    with pytest.raises(RuntimeError) as raised:
        answering(refused(error)).ask("press", name="Lint")
    assert str(raised.value) == sentence


def test_a_window_that_is_gone_is_told_from_one_that_refuses(answering: Answering) -> None:
    with pytest.raises(ConnectionError, match="texts: the window closed the connection"):
        answering(b"").ask("texts")


def test_an_answer_is_its_result(answering: Answering) -> None:
    assert answering(b'{"id": 1, "ok": true, "result": ["a"]}\n').ask("texts") == ["a"]
