# SPDX-License-Identifier: Apache-2.0
"""Names and order of the tensors inside arguments and results (torch.utils._pytree order)."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from typing import Any

import torch
from torch.utils import _pytree as pytree

from heddle_oracle.errors import OracleError


def path_name(path: tuple[Any, ...]) -> str:
    """A key path as dotted text: ``heads.0.weight``; empty for the value itself."""
    parts = []
    for key in path:
        if isinstance(key, pytree.SequenceKey):
            parts.append(str(key.idx))
        elif isinstance(key, pytree.MappingKey):
            parts.append(str(key.key))
        elif isinstance(key, pytree.GetAttrKey):
            parts.append(key.name)
        else:
            parts.append(str(key))
    return ".".join(parts)


def canonical_call(
    forward: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The same call with as much as possible given by position. TypeError if it does not fit."""
    bound = inspect.signature(forward).bind(*args, **kwargs)
    return bound.args, bound.kwargs


def name_arguments(
    forward: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> list[tuple[str, Any]]:
    """Each leaf of a canonical call with its name, in the order of tree_leaves((args, kwargs))."""
    parameters = list(inspect.signature(forward).parameters.values())
    positional = [
        p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    variadic = next((p.name for p in parameters if p.kind == p.VAR_POSITIONAL), "args")
    named: list[tuple[str, Any]] = []
    for index, value in enumerate(args):
        if index < len(positional):
            name = positional[index]
        else:
            name = f"{variadic}.{index - len(positional)}"
        named.append((name, value))
    named.extend(kwargs.items())
    leaves: list[tuple[str, Any]] = []
    for name, value in named:
        for path, leaf in pytree.tree_flatten_with_path(value)[0]:
            inner = path_name(path)
            leaves.append((f"input:{name}.{inner}" if inner else f"input:{name}", leaf))
    return leaves


def flatten_outputs(result: Any) -> list[tuple[str, torch.Tensor]]:
    """The tensors of a result with their paths; None is left out.

    OracleError ``task_failed`` for a result that holds no tensor or something else than tensors.
    """
    outputs: list[tuple[str, torch.Tensor]] = []
    for path, leaf in pytree.tree_flatten_with_path(result)[0]:
        if leaf is None:
            continue
        if not isinstance(leaf, torch.Tensor):
            where = path_name(path)
            raise OracleError(
                "task_failed",
                f"forward returned a {type(leaf).__name__}" + (f" at {where}" if where else ""),
                next_step="return a tensor, or tuples, lists or dicts of tensors",
            )
        outputs.append((path_name(path), leaf))
    if not outputs:
        raise OracleError(
            "task_failed",
            "forward returned no tensor",
            next_step="return a tensor, or tuples, lists or dicts of tensors",
        )
    return outputs


def describe_tree(result: Any) -> Any:
    """A result's structure as JSON (docs/architecture/oracle-protocol.md, `output_tree`)."""
    if isinstance(result, torch.Tensor):
        return "tensor"
    if result is None:
        return None
    kind = type(result)
    if kind in (dict, OrderedDict) and all(type(key) in (str, int) for key in result):
        pairs = [[key, describe_tree(value)] for key, value in result.items()]
        return {"t": "dict" if kind is dict else "ordered_dict", "v": pairs}
    if isinstance(result, (list, tuple)):
        values = [describe_tree(value) for value in result]
        if kind in (list, tuple):
            return {"t": kind.__name__, "v": values}
        # The paths of outputs may go by field or by position, as pytree likes it.
        paths = pytree.tree_flatten_with_path(result, is_leaf=lambda node: node is not result)[0]
        keys = [path_name(path) for path, _ in paths]
        if kind.__module__ == "torch.return_types":
            return {"t": "return_type", "name": kind.__name__, "keys": keys, "v": values}
        if hasattr(kind, "_fields"):
            return {"t": "named_tuple", "name": kind.__qualname__, "keys": keys, "v": values}
    return {"t": "other", "name": f"{kind.__module__}.{kind.__qualname__}"}
