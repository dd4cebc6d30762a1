# SPDX-License-Identifier: Apache-2.0
"""Entering the sandbox from a forked child, before any untrusted line runs."""

from __future__ import annotations

import ctypes
import json
import os
import tempfile
from typing import Any

from heddle_oracle.errors import OracleError

LIBRARY_VARIABLE = "HEDDLE_SANDBOX_LIBRARY"
SCRATCH_VARIABLE = "HEDDLE_SCRATCH"
UNSANDBOXED_VARIABLE = "HEDDLE_UNSANDBOXED"
_REPORT_BYTES = 16384


def enter(role: str) -> dict[str, Any]:
    """Adds this process's own Landlock and seccomp rules; irreversible.

    Returns the report that goes into the hello: {"entered": bool, "reason"?, …library's report}.
    Never raises: whoever would run untrusted code asks require() first.
    """
    path = os.environ.get(LIBRARY_VARIABLE, "")
    if not path:
        return {"entered": False, "reason": f"{LIBRARY_VARIABLE} is not set"}
    try:
        function = ctypes.CDLL(path).heddle_sandbox_enter
    except (OSError, AttributeError) as error:
        return {"entered": False, "reason": f"{path}: {error}"}
    function.restype = ctypes.c_int
    function.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int]
    buffer = ctypes.create_string_buffer(_REPORT_BYTES)
    code = function(role.encode(), buffer, _REPORT_BYTES)
    report: dict[str, Any] = {}
    try:
        parsed = json.loads(buffer.value or b"{}")
        report = parsed if isinstance(parsed, dict) else {"text": str(parsed)}
    except ValueError:
        report = {"text": buffer.value.decode("utf-8", "replace")}
    report["entered"] = code == 0
    scratch = os.environ.get(SCRATCH_VARIABLE, "")
    if scratch:
        tempfile.tempdir = scratch  # the only place left to write to
    if code != 0:
        report.setdefault("reason", f"heddle_sandbox_enter returned {code}")
    return report


def require(report: dict[str, Any]) -> None:
    """OracleError ``environment`` unless the sandbox holds or doing without it was asked for."""
    if report.get("entered") or os.environ.get(UNSANDBOXED_VARIABLE) == "1":
        return
    raise OracleError(
        "environment",
        f"there is no sandbox here: {report.get('reason', 'unknown reason')}",
        next_step="see `heddle-cli doctor`, or accept the risk with --unsandboxed",
    )
