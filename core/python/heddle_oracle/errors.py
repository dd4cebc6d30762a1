# SPDX-License-Identifier: Apache-2.0
"""Errors as the other processes see them: what happened, where, and what to do next."""

from __future__ import annotations

from typing import Any, Literal

Code = Literal[
    "invalid_input",
    "not_found",
    "environment",
    "compile_failed",
    "task_failed",
    "timed_out",
    "out_of_memory",
    "conflict",
    "protocol",
    "io",
    "not_covered",
    "internal",
]


class OracleError(Exception):
    """A failure to report over the channel. Codes are those of core/base/Error.h."""

    def __init__(
        self,
        code: Code,
        message: str,
        where: str = "",
        next_step: str = "",
        details: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code: Code = code
        self.message = message
        self.where = where
        self.next_step = next_step
        self.details = details

    def to_json(self) -> dict[str, Any]:
        answer: dict[str, Any] = {
            "code": self.code,
            "message": self.message,
            "where": self.where,
            "next": self.next_step,
        }
        if self.details is not None:
            answer["details"] = self.details
        return answer


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an exception is an allocation that failed: Python's, or PyTorch's CPU allocator."""
    if isinstance(error, MemoryError):
        return True
    text = str(error)
    return isinstance(error, RuntimeError) and (
        "can't allocate memory" in text or "not enough memory" in text
    )
