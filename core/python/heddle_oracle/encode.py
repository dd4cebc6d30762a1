# SPDX-License-Identifier: Apache-2.0
"""Python values as JSON, as the protocol's section "Encoded values" says, and back."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from heddle_oracle.errors import OracleError

DTYPES: dict[str, torch.dtype] = {
    "float32": torch.float32,
    "float64": torch.float64,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "int64": torch.int64,
    "int32": torch.int32,
    "int16": torch.int16,
    "int8": torch.int8,
    "uint8": torch.uint8,
    "bool": torch.bool,
}
DTYPE_NAMES = {dtype: name for name, dtype in DTYPES.items()}


def dtype_name(dtype: torch.dtype) -> str:
    """The protocol's word of a dtype; OracleError ``task_failed`` for one that it lacks."""
    name = DTYPE_NAMES.get(dtype)
    if name is None:
        raise OracleError(
            "task_failed",
            f"a tensor has the type {dtype}, which Heddle does not carry",
            next_step="use one of " + ", ".join(DTYPES),
        )
    return name


def tensor_bytes(tensor: torch.Tensor) -> memoryview:
    """The bytes of a contiguous CPU tensor, without a copy (bfloat16 has no NumPy twin)."""
    flat: Any = tensor.reshape(-1).view(torch.uint8).numpy()
    return memoryview(flat)


def encode(value: object, leaf: Callable[[torch.Tensor], Any] | None = None) -> Any:
    """A value as JSON. `leaf`, if given, encodes tensors instead of their bytes.

    OracleError ``task_failed`` for a value that the protocol has no form for.
    """
    if isinstance(value, torch.Tensor):
        if leaf is not None:
            return leaf(value)
        data = value.detach().cpu().contiguous()
        return {
            "t": "tensor",
            "dtype": dtype_name(data.dtype),
            "shape": list(data.shape),
            "data": base64.b64encode(tensor_bytes(data)).decode(),
        }
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"t": "float", "v": str(value)}
    if isinstance(value, torch.dtype):
        return {"t": "dtype", "v": str(value).removeprefix("torch.")}
    if isinstance(value, (list, tuple)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {"t": kind, "v": [encode(item, leaf) for item in value]}
    if isinstance(value, dict):
        return {"t": "dict", "v": [[encode(k), encode(v, leaf)] for k, v in value.items()]}
    raise OracleError(
        "task_failed",
        f"a value of type {type(value).__name__} cannot be handed to a candidate",
        next_step="use tensors, numbers, strings, dtypes, lists, tuples and dicts",
    )


def decode(value: Any, inputs: Sequence[torch.Tensor] | None = None) -> Any:
    """The inverse of encode(); ``{"t": "input", "v": i}`` becomes inputs[i]."""
    if isinstance(value, list):
        return [decode(item, inputs) for item in value]
    if not isinstance(value, dict):
        return value
    kind = value.get("t")
    if kind == "input" and inputs is not None:
        return inputs[value["v"]]
    if kind == "tensor":
        raw = bytearray(base64.b64decode(value["data"]))
        dtype = DTYPES[value["dtype"]]
        if not raw:
            return torch.empty(value["shape"], dtype=dtype)
        return torch.frombuffer(raw, dtype=dtype).reshape(value["shape"])
    if kind in ("list", "tuple"):
        items = [decode(item, inputs) for item in value["v"]]
        return tuple(items) if kind == "tuple" else items
    if kind == "dict":
        return {decode(k): decode(v, inputs) for k, v in value["v"]}
    if kind == "dtype":
        return getattr(torch, value["v"])
    if kind == "float":
        return float(value["v"])
    raise OracleError("protocol", f"an encoded value has the unknown kind {kind!r}")
