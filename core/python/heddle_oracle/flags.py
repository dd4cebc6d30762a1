# SPDX-License-Identifier: Apache-2.0
"""PyTorch's global switches that change precision or speed: captured, reported, put back.

A task may set some at import; those are then part of its baseline. What `forward` changes after
that is undone, so that one run cannot slow down or sharpen the next.
"""

from __future__ import annotations

from typing import Any

import torch

from heddle_oracle.errors import OracleError

Flags = dict[str, Any]


def capture() -> Flags:
    """The flags as they are now; JSON values."""
    return {
        "float32_matmul_precision": torch.get_float32_matmul_precision(),
        "cuda_matmul_allow_tf32": torch.backends.cuda.matmul.allow_tf32,
        "cudnn_allow_tf32": torch.backends.cudnn.allow_tf32,
        "cudnn_enabled": torch.backends.cudnn.enabled,
        "cudnn_benchmark": torch.backends.cudnn.benchmark,
        "mkldnn_enabled": torch.backends.mkldnn.enabled,
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "default_dtype": str(torch.get_default_dtype()).removeprefix("torch."),
    }


def restore(flags: Flags) -> None:
    """Puts back what capture() saw. Gradients are off in every process of judging."""
    torch.set_float32_matmul_precision(flags["float32_matmul_precision"])
    torch.backends.cuda.matmul.allow_tf32 = flags["cuda_matmul_allow_tf32"]
    torch.backends.cudnn.allow_tf32 = flags["cudnn_allow_tf32"]
    torch.backends.cudnn.enabled = flags["cudnn_enabled"]
    torch.backends.cudnn.benchmark = flags["cudnn_benchmark"]
    if torch.backends.mkldnn.enabled != flags["mkldnn_enabled"]:
        torch.backends.mkldnn.enabled = flags["mkldnn_enabled"]
    torch.use_deterministic_algorithms(flags["deterministic"])
    torch.set_default_dtype(getattr(torch, flags["default_dtype"]))
    torch.set_grad_enabled(False)


def use_threads(count: int) -> None:
    """Sets PyTorch's thread count for this process. Both sides of a comparison name the same one,
    so there is no default here."""
    if count < 1:
        raise OracleError("invalid_input", f"{count} is no number of threads", "threads")
    torch.set_num_threads(count)
