# SPDX-License-Identifier: Apache-2.0
"""What a captured graph shows to be superfluous: unread state, operators that do nothing."""

from __future__ import annotations

from typing import Any

_NONNEGATIVE = ("sigmoid", "softmax", "exp", "abs", "relu", "square", "sqrt", "softplus")
_REDUCTIONS = ("mean", "sum", "amax", "amin", "logsumexp", "softmax")


def graph_findings(graph: dict[str, Any]) -> list[dict[str, str]]:
    """Lint findings, all warnings, from a graph in the format of graph.md."""
    used: set[str] = {entry["node"] for entry in graph["updates"]}
    used |= {o if isinstance(o, str) else o["getitem"][0] for o in graph["outputs"]}
    makers: dict[str, dict[str, Any]] = {}
    for node in graph["nodes"]:
        makers[node["name"]] = node
        used |= set(_references([node["args"], node["kwargs"]]))
    found = []
    for state in graph["state"]:
        if state["node"] not in used:
            found.append(_warning("unused_state", f"forward does not read {state['name']}"))
    for node in graph["nodes"]:
        reason = _redundant(node, makers)
        if reason:
            found.append(_warning("redundant_operator", f"{node['op']}: {reason}"))
    return found


def _warning(identifier: str, message: str) -> dict[str, str]:
    return {"id": identifier, "severity": "warning", "message": message}


def _references(value: Any) -> list[str]:
    if isinstance(value, dict):
        if "ref" in value:
            return [value["ref"]]
        return [name for item in value.values() for name in _references(item)]
    if isinstance(value, list):
        return [name for item in value for name in _references(item)]
    return []


def _redundant(node: dict[str, Any], makers: dict[str, dict[str, Any]]) -> str:
    """Why a node changes nothing, or an empty text."""
    operator = node["op"].split(".")[1]
    arguments = node["args"]
    second = arguments[1] if len(arguments) > 1 else None
    if operator in ("mul", "div") and _is_number(second, 1):
        return "multiplies or divides by one"
    if operator in ("add", "sub") and _is_number(second, 0):
        return "adds or subtracts zero"
    if not (arguments and isinstance(arguments[0], dict)):
        return ""
    maker = makers.get(arguments[0].get("ref", ""))
    if maker is None or not isinstance(maker["out"], dict):
        return ""
    inner = maker["op"].split(".")[1]
    if operator in ("relu", "abs") and inner in _NONNEGATIVE:
        return f"its operand, a {inner}, is never negative"
    shape = maker["out"]["shape"]
    dims = second if isinstance(second, list) else [second]
    if (
        operator in _REDUCTIONS
        and shape
        and dims
        and all(isinstance(d, int) and not isinstance(d, bool) and shape[d] == 1 for d in dims)
    ):
        return "reduces a dimension of size one"
    return ""


def _is_number(value: Any, number: int) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == number
