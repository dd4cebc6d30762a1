# SPDX-License-Identifier: Apache-2.0
"""The model's graph as docs/architecture/graph.md defines it.

`torch.export` first, made functional without decomposing, so that a softmax stays a softmax and an
update of a buffer becomes an output; fx tracing where export fails. Both within a time limit.
"""

from __future__ import annotations

import contextlib
import math
import operator
import signal
import types
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from heddle_oracle import flags
from heddle_oracle.encode import DTYPE_NAMES, dtype_name
from heddle_oracle.errors import OracleError
from heddle_oracle.task import Task

LIMIT_SECONDS = 20.0
MAX_CONSTANT_ELEMENTS = 4096
_IGNORED = ("aten::_assert_tensor_metadata", "aten::_assert_async", "aten::_assert_scalar")


class TooSlowError(Exception):
    """The time limit was reached."""


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises TooSlowError inside the block when it takes longer. Main thread only."""

    def stop(signum: int, frame: types.FrameType | None) -> None:
        raise TooSlowError(f"it took longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def capture(task: Task, limit_seconds: float = LIMIT_SECONDS) -> dict[str, Any]:
    """The graph; OracleError ``not_covered`` with both reasons where neither way works."""
    reasons = []
    for source, make in (("export", _by_export), ("fx", _by_fx)):
        try:
            with time_limit(limit_seconds), torch.no_grad():
                graph = make(task)
            return {"source": source, **graph}
        except OracleError as error:
            reasons.append(f"{source}: {error.message}")
        except BaseException as error:  # noqa: BLE001 - a task's code runs inside the capture
            first_line = (str(error).strip().splitlines() or [""])[0]
            reasons.append(f"{source}: {type(error).__name__}: {first_line}")
        finally:
            task.restore_state()
            flags.restore(task.flags)
    raise OracleError(
        "not_covered",
        "the graph could not be captured; " + "; ".join(reasons),
        where=task.sources.line_where("def forward"),
        next_step="write forward without control flow that depends on values of tensors",
    )


def _by_export(task: Task) -> dict[str, Any]:
    args, kwargs = task.build_call(task.sample_inputs())
    program = torch.export.export(task.model, args, kwargs, strict=False)
    program = program.run_decompositions({})
    return _Writer(task, program.graph_module).write_program(program)


def _by_fx(task: Task) -> dict[str, Any]:
    """Symbolic tracing knows modules and functions, not ATen operators; make_fx over the traced
    module gives those, on the sample inputs."""
    from torch.fx.experimental.proxy_tensor import make_fx

    if task.rebinds:
        raise OracleError("not_covered", "forward assigns a new tensor to a buffer")
    names = [spec["name"].removeprefix("state:") for spec in task.state_specs]
    copies = [t.clone() for t in task.constructed]

    written = {*task.updates, *task.mutated_inputs}

    def own(specs: list[dict[str, Any]], tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        # What forward writes becomes a copy, or the graph would end in writes to its inputs.
        return [
            t.clone() if spec["name"] in written else t
            for spec, t in zip(specs, tensors, strict=True)
        ]

    def call(state: Sequence[torch.Tensor], inputs: Sequence[torch.Tensor]) -> Any:
        mine = own(task.state_specs, state)
        args, kwargs = task.build_call(own(task.input_specs, inputs))
        result = torch.func.functional_call(
            task.model, dict(zip(names, mine, strict=True)), args, kwargs
        )
        changed = [mine[index] for index in task.update_indices]
        return torch.utils._pytree.tree_leaves(result), changed

    module = make_fx(torch.func.functionalize(call), tracing_mode="fake")(
        copies, [t.clone() for t in task.sample_inputs()]
    )
    return _Writer(task, module).write_traced(module)


class _Writer:
    """Writes one fx graph of ATen operators in the format of graph.md."""

    def __init__(self, task: Task, module: torch.fx.GraphModule) -> None:
        self._task = task
        self._module = module
        self._constants: list[dict[str, Any]] = []
        #: getitem node → (the node that it reads, index)
        self._parts: dict[str, tuple[str, int]] = {}
        #: nodes that stand for a value that is no tensor (an integer input)
        self._literals: dict[str, Any] = {}

    # ---- the two sources -----------------------------------------------------------------

    def write_program(self, program: Any) -> dict[str, Any]:
        """An ExportedProgram: its signature says what each `placeholder` and output is."""
        signature = program.graph_signature
        kinds = torch.export.graph_signature.InputKind
        out_kinds = torch.export.graph_signature.OutputKind
        inputs, state = [], []
        user = iter(self._task.user_leaves())
        for spec in signature.input_specs:
            if spec.kind == kinds.USER_INPUT:
                entry, value = next(user)
                if entry is None:
                    self._literals[getattr(spec.arg, "name", "")] = value
                else:
                    inputs.append({"node": spec.arg.name, **entry})
            elif spec.kind in (kinds.PARAMETER, kinds.BUFFER):
                state.append(self._state(spec.arg.name, spec.target))
            elif spec.kind == kinds.CONSTANT_TENSOR:
                self._constant(spec.arg.name, program.constants[spec.target])
            else:
                raise OracleError("not_covered", f"the graph has an input of kind {spec.kind.name}")
        nodes = self._nodes()
        outputs, updates = [], []
        for spec in signature.output_specs:
            if spec.kind == out_kinds.BUFFER_MUTATION:
                name = f"state:{spec.target}"
                updates.append({"state": name, **self._result(spec.arg.name)})
            elif spec.kind == out_kinds.USER_OUTPUT:
                if isinstance(getattr(spec.arg, "name", None), str):
                    outputs.append(self._output(spec.arg.name))
            else:
                raise OracleError(
                    "not_covered", f"the graph has an output of kind {spec.kind.name}"
                )
        return self._finish(inputs, state, nodes, outputs, updates)

    def write_traced(self, module: torch.fx.GraphModule) -> dict[str, Any]:
        """A make_fx graph: placeholders are the state tensors, then the inputs."""
        names = [n.name for n in module.graph.nodes if n.op == "placeholder"]
        specs = self._task.state_specs
        state = [
            {"node": node, **{k: spec[k] for k in ("name", "kind", "dtype", "shape")}}
            for node, spec in zip(names, specs, strict=False)
        ]
        inputs = [
            {"node": node, **spec}
            for node, spec in zip(names[len(specs) :], self._task.input_specs, strict=True)
        ]
        for node in module.graph.nodes:
            if node.op == "get_attr":
                self._constant(node.name, getattr(module, str(node.target)))
        nodes = self._nodes()
        (result,) = next(n for n in module.graph.nodes if n.op == "output").args
        leaves = list(result)  # flat: the results, then the changed state
        changed = leaves[len(leaves) - len(self._task.updates) :]
        outputs = [
            self._output(node.name)
            for node in leaves[: len(leaves) - len(changed)]
            if node is not None
        ]
        updates = [
            {"state": name, **self._result(node.name)}
            for name, node in zip(self._task.updates, changed, strict=True)
        ]
        return self._finish(inputs, state, nodes, outputs, updates)

    # ---- pieces --------------------------------------------------------------------------

    def _finish(
        self,
        inputs: list[dict[str, Any]],
        state: list[dict[str, Any]],
        nodes: list[dict[str, Any]],
        outputs: list[Any],
        updates: list[dict[str, Any]],
    ) -> dict[str, Any]:
        known = {entry["state"] for entry in updates}
        missing = [name for name in self._task.updates if name not in known]
        if missing:
            raise OracleError("not_covered", f"the graph does not show how {missing[0]} changes")
        return {
            "inputs": inputs,
            "values": self._task.values,
            "state": state,
            "constants": self._constants,
            "nodes": nodes,
            "outputs": outputs,
            "updates": updates,
            "operators": dict(Counter(node["op"] for node in nodes)),
        }

    def _state(self, node: str, target: str) -> dict[str, Any]:
        name = f"state:{target}"
        for spec in self._task.state_specs:
            if spec["name"] == name:
                return {"node": node, **spec}
        # A tied tensor has several names; the task lists the first one only.
        tensor = self._task.tensor_named(target)
        for spec, own in zip(self._task.state_specs, self._task.state_tensors, strict=True):
            if own is tensor:
                return {"node": node, **spec}
        raise OracleError("not_covered", f"the graph reads {name}, which is not in the state")

    def _constant(self, node: str, tensor: torch.Tensor) -> None:
        if tensor.numel() > MAX_CONSTANT_ELEMENTS:
            raise OracleError(
                "not_covered",
                f"forward uses a constant of {tensor.numel()} elements that is not in the state",
            )
        flat = tensor.detach().reshape(-1)
        wide = flat.double() if flat.is_floating_point() else flat
        self._constants.append(
            {
                "node": node,
                "dtype": dtype_name(tensor.dtype),
                "shape": list(tensor.shape),
                "data": [_number(v) for v in wide.tolist()],
            }
        )

    def _nodes(self) -> list[dict[str, Any]]:
        written = []
        for node in self._module.graph.nodes:
            if node.op != "call_function":
                if node.op not in ("placeholder", "get_attr", "output"):
                    raise OracleError("not_covered", f"the graph has a {node.op} node")
                continue
            if node.target is operator.getitem:
                self._parts[node.name] = (node.args[0].name, node.args[1])
                continue
            if not isinstance(node.target, torch._ops.OpOverload):
                raise OracleError("not_covered", f"the graph calls {node.target}")
            if node.target._schema.name in _IGNORED:
                continue
            written.append(
                {
                    "name": node.name,
                    "op": str(node.target),
                    "args": [self._argument(a) for a in node.args],
                    "kwargs": {k: self._argument(v) for k, v in node.kwargs.items()},
                    "out": self._describe(node.meta.get("val"), node.name),
                    "module": _module_of(node),
                }
            )
        return written

    def _describe(self, value: Any, name: str) -> Any:
        if isinstance(value, (list, tuple)):
            return [self._describe(item, name) for item in value]
        if isinstance(value, torch.Tensor):
            if any(not isinstance(size, int) for size in value.shape):
                raise OracleError("not_covered", f"the shape of {name} depends on values")
            dtype = DTYPE_NAMES.get(value.dtype)
            if dtype is None:
                raise OracleError("not_covered", f"{name} has the type {value.dtype}")
            return {"dtype": dtype, "shape": list(value.shape)}
        if value is None:
            return None
        raise OracleError("not_covered", f"{name} is a number that depends on tensor values")

    def _result(self, name: str) -> dict[str, Any]:
        """An update's source: a node, and which of its results if it has several."""
        if name in self._parts:
            node, index = self._parts[name]
            return {"node": node, "index": index}
        return {"node": name}

    def _output(self, name: str) -> Any:
        if name in self._parts:
            node, index = self._parts[name]
            return {"getitem": [node, index]}
        return name

    def _argument(self, value: Any) -> Any:
        if isinstance(value, torch.fx.Node):
            if value.name in self._literals:
                return self._literals[value.name]
            if value.name in self._parts:
                node, index = self._parts[value.name]
                return {"ref": node, "index": index}
            return {"ref": value.name}
        if isinstance(value, (list, tuple)):
            return [self._argument(item) for item in value]
        if isinstance(value, torch.dtype):
            return {"dtype": str(value).removeprefix("torch.")}
        if isinstance(value, float):
            return _number(value)
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, (torch.device, torch.layout, torch.memory_format)):
            return str(value).removeprefix("torch.")
        raise OracleError(
            "not_covered", f"an operator has an argument of type {type(value).__name__}"
        )


def _number(value: Any) -> Any:
    """A number for JSON: infinities and NaN in graph.md's forms."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"nan": True} if math.isnan(value) else {"inf": 1 if value > 0 else -1}
    return value


def _module_of(node: torch.fx.Node) -> str:
    """The dotted path of the innermost nn.Module whose forward made the node; empty at the top."""
    stack = node.meta.get("nn_module_stack") or {}
    path = ""
    for entry in stack.values():
        path = str(entry[0])
    return path.removeprefix("L['self']").lstrip(".")
