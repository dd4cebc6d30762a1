# SPDX-License-Identifier: Apache-2.0
"""The loop that answers requests on a channel: one at a time, each with a result or an error."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from heddle_oracle.channel import Channel, ChannelClosedError, FrameLostError, close_all
from heddle_oracle.errors import OracleError, is_out_of_memory


class Request:
    """One request while it is being answered."""

    def __init__(
        self, channel: Channel, identifier: Any, params: dict[str, Any], fds: list[int]
    ) -> None:
        self._channel = channel
        self._id = identifier
        self.params = params
        self._fds = fds
        #: descriptors to send with the answer; closed here after it was sent
        self.answer_fds: list[int] = []

    def progress(self, phase: str, fraction: float, detail: str = "") -> None:
        """Tells the worker how far a long method is; fraction in [0, 1]."""
        note = {"phase": phase, "fraction": fraction, "detail": detail}
        self._channel.send({"id": self._id, "progress": note})

    def take_fd(self) -> int:
        """The next descriptor that came with the request; the caller closes it."""
        if not self._fds:
            raise OracleError("protocol", "the request needs a file descriptor, none came")
        return self._fds.pop(0)

    def need(self, name: str, kind: type | tuple[type, ...]) -> Any:
        """A parameter that must be there with the given type (bool is not an int)."""
        value = self.params.get(name)
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if not isinstance(value, kind) or (isinstance(value, bool) and bool not in kinds):
            words = " or ".join(k.__name__ for k in kinds)
            raise OracleError("protocol", f"the parameter {name} must be {words}", where=name)
        return value

    def optional(self, name: str, kind: type | tuple[type, ...], default: Any) -> Any:
        """Like need(), for a parameter that may be absent or null."""
        return default if self.params.get(name) is None else self.need(name, kind)

    def close(self) -> None:
        close_all(self._fds)
        close_all(self.answer_fds)


Handler = Callable[[Request], dict[str, Any]]


def serve_methods(
    channel: Channel,
    handlers: Mapping[str, Handler],
    before_each: Callable[[], None] | None = None,
) -> None:
    """Answers until the other side closes. Malformed frames are answered with ``protocol``."""
    while True:
        try:
            if before_each is not None:
                before_each()
            _serve_one(channel, handlers)
        except ChannelClosedError:
            return
        except FrameLostError as lost:
            # There is no next frame to find after a false length; say so and leave.
            error = OracleError("protocol", str(lost)).to_json()
            channel.send({"id": None, "error": error})
            return


def _serve_one(channel: Channel, handlers: Mapping[str, Handler]) -> None:
    try:
        message, fds = channel.receive()
    except OracleError as error:
        channel.send({"id": None, "error": error.to_json()})
        return
    identifier = message.get("id")
    params = message.get("params", {})
    request = Request(channel, identifier, params if isinstance(params, dict) else {}, fds)
    try:
        method = message.get("method")
        handler = handlers.get(method) if isinstance(method, str) else None
        if handler is None:
            raise OracleError("protocol", f"there is no method {method!r}", where="method")
        if not isinstance(params, dict):
            raise OracleError("protocol", "params must be an object", where="params")
        result = handler(request)
        _answer(channel, identifier, result, request.answer_fds)
    except (ChannelClosedError, FrameLostError):
        raise
    except OracleError as error:
        channel.send({"id": identifier, "error": error.to_json()})
    except BaseException as error:  # noqa: BLE001 - a task's code may raise anything at all
        channel.send({"id": identifier, "error": unexpected(error).to_json()})
    finally:
        request.close()


def _answer(channel: Channel, identifier: Any, result: dict[str, Any], fds: Sequence[int]) -> None:
    try:
        channel.send({"id": identifier, "result": result}, fds)
    except ValueError as error:
        # JSON has no NaN; a figure that is one is our bug, and the worker must still get an answer.
        raise OracleError("internal", f"the answer cannot be written as JSON: {error}") from error


def unexpected(error: BaseException) -> OracleError:
    """An exception that no adapter named, as an error for the worker."""
    if is_out_of_memory(error):
        return OracleError(
            "out_of_memory",
            f"memory ran out: {error}",
            next_step="make the inputs smaller or raise the memory limit",
        )
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    return OracleError("internal", f"{type(error).__name__}: {error}", where=where)
