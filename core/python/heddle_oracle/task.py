# SPDX-License-Identifier: Apache-2.0
"""A KernelBench-format task as the oracle holds it: model, inputs, state, outputs, updates."""

from __future__ import annotations

import hashlib
import inspect
import os
from collections.abc import Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from heddle_oracle import flags
from heddle_oracle.encode import dtype_name, encode
from heddle_oracle.errors import OracleError
from heddle_oracle.loader import Sources, require_callable
from heddle_oracle.secret import SecretSeeds
from heddle_oracle.state import copy_state, state_places
from heddle_oracle.traffic import TrafficMode
from heddle_oracle.tree import canonical_call, describe_tree, flatten_outputs, name_arguments

MODES = ("as-constructed", "eval")


class Task:
    """Loads the file, makes the model, runs it once. All of that may raise OracleError.

    `model` always holds the state as constructed between calls of run().
    """

    def __init__(self, sources: Sources, mode: str, seed: int, replay: str | None = None) -> None:
        if mode not in MODES:
            raise OracleError(
                "invalid_input", f"there is no mode {mode!r}", "mode", "use " + " or ".join(MODES)
            )
        self.sources = sources
        self.mode = mode
        self.seeds = SecretSeeds(seed, replay)
        #: disclosed to candidates; unrelated to the seeds of inputs
        self.init_seed = seed & 0x7FFFFFFF
        self._module = sources.import_task()
        self._make_inputs = require_callable(self._module, "get_inputs", sources)
        make_model = require_callable(self._module, "Model", sources)
        self.init_arguments, self.init_keywords = self._init_arguments()
        self.model = self._construct(make_model)
        self.flags = flags.capture()
        self.args, self.kwargs = self._draw_call(self.seeds.next("open"))
        self._name_inputs()
        self._list_state()
        self._first_run()

    @property
    def name(self) -> str:
        return os.path.splitext(os.path.basename(self.sources.path))[0]

    def digest(self) -> str:
        """SHA-256 (hex) of what the task is: mode, its text, its siblings by name."""
        whole = hashlib.sha256()
        texts = sorted(self.sources.siblings.items())
        for part in (self.mode, self.sources.source, *(t for pair in texts for t in pair)):
            data = part.encode()
            whole.update(len(data).to_bytes(8, "little") + data)
        return whole.hexdigest()

    # ---- making the model and its inputs -------------------------------------------------

    def _init_arguments(self) -> tuple[list[Any], dict[str, Any]]:
        maker = getattr(self._module, "get_init_inputs", None)
        if maker is None:
            return [], {}
        torch.manual_seed(self.init_seed)
        try:
            with torch.no_grad():
                value = maker()
        except BaseException as error:
            raise self.sources.error(error, "get_init_inputs failed") from error
        if isinstance(value, dict):
            return [], value
        if isinstance(value, (list, tuple)):
            return list(value), {}
        raise OracleError(
            "task_failed",
            f"get_init_inputs returned a {type(value).__name__}",
            where=self.sources.line_where("def get_init_inputs"),
            next_step="return the list of Model's arguments, or a dict of keyword arguments",
        )

    def _construct(self, make_model: Any) -> torch.nn.Module:
        torch.manual_seed(self.init_seed)
        try:
            model = make_model(*self.init_arguments, **self.init_keywords)
        except BaseException as error:
            raise self.sources.error(error, "Model could not be made") from error
        if not isinstance(model, torch.nn.Module):
            raise OracleError(
                "task_failed",
                f"Model made a {type(model).__name__}, not a torch.nn.Module",
                where=self.sources.line_where("class Model"),
                next_step="derive Model from torch.nn.Module",
            )
        for name, tensor in (*model.named_parameters(), *model.named_buffers()):
            if tensor.device.type != "cpu":
                raise OracleError(
                    "task_failed",
                    f"{name} is on {tensor.device}",
                    where=self.sources.line_where("class Model"),
                    next_step="make the model on the CPU; Heddle moves it to the target",
                )
        return model.eval() if self.mode == "eval" else model

    def _draw_call(self, seed: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """get_inputs() under a seed, as a canonical call of forward."""
        torch.manual_seed(seed)
        try:
            with torch.no_grad():
                value = self._make_inputs()
        except BaseException as error:
            raise self.sources.error(error, "get_inputs failed") from error
        where = self.sources.line_where("def get_inputs")
        if isinstance(value, dict):
            args, kwargs = (), value
        elif isinstance(value, (list, tuple)):
            args, kwargs = tuple(value), {}
        else:
            raise OracleError(
                "task_failed",
                f"get_inputs returned a {type(value).__name__}",
                where=where,
                next_step="return the list of forward's arguments, or a dict of keyword arguments",
            )
        try:
            args, kwargs = canonical_call(self.model.forward, args, kwargs)
        except TypeError as error:
            signature = inspect.signature(self.model.forward)
            raise OracleError(
                "task_failed",
                f"what get_inputs returns does not fit forward{signature}: {error}",
                where=where,
                next_step="return one value for each parameter of forward",
            ) from error
        return args, kwargs

    def _name_inputs(self) -> None:
        named = name_arguments(self.model.forward, self.args, self.kwargs)
        leaves, self._spec = pytree.tree_flatten((self.args, self.kwargs))
        self.input_specs: list[dict[str, Any]] = []
        self.values: list[dict[str, Any]] = []
        self._tensor_at: list[int] = []
        where = self.sources.line_where("def get_inputs")
        for position, ((name, leaf), same) in enumerate(zip(named, leaves, strict=True)):
            assert leaf is same, "names and leaves follow one order"
            if not isinstance(leaf, torch.Tensor):
                try:
                    self.values.append({"name": name, "value": encode(leaf)})
                except OracleError as error:
                    raise OracleError(error.code, error.message, where, error.next_step) from error
                continue
            if leaf.device.type != "cpu" or leaf.layout != torch.strided:
                raise OracleError(
                    "task_failed",
                    f"{name} is a {leaf.layout} tensor on {leaf.device}",
                    where=where,
                    next_step="return dense tensors on the CPU; Heddle moves them to the target",
                )
            try:
                dtype = dtype_name(leaf.dtype)
            except OracleError as error:
                raise OracleError(error.code, error.message, where, error.next_step) from error
            self._tensor_at.append(position)
            self.input_specs.append({"name": name, "dtype": dtype, "shape": list(leaf.shape)})
        self._leaves = leaves

    def draw_inputs(self, seed: int) -> list[torch.Tensor]:
        """Fresh input tensors of the task's own distribution, contiguous, in input order."""
        args, kwargs = self._draw_call(seed)
        leaves, spec = pytree.tree_flatten((args, kwargs))
        tensors = [leaves[at] for at in self._tensor_at] if spec == self._spec else []
        shapes = [
            {"dtype": dtype_name(t.dtype), "shape": list(t.shape)}
            for t in tensors
            if isinstance(t, torch.Tensor)
        ]
        wanted = [{"dtype": s["dtype"], "shape": s["shape"]} for s in self.input_specs]
        if shapes != wanted:
            raise OracleError(
                "task_failed",
                "get_inputs returned other shapes or types when it was called again",
                where=self.sources.line_where("def get_inputs"),
                next_step="draw values only; keep shapes, types and structure fixed",
            )
        return [tensor.detach().contiguous() for tensor in tensors]

    def call_skeleton(self) -> Any:
        """The encoded (args, kwargs) in which ``{"t": "input", "v": i}`` stands for input i."""
        leaves = list(self._leaves)
        markers = iter(range(len(self._tensor_at)))
        return encode(
            pytree.tree_unflatten(leaves, self._spec),
            leaf=lambda _: {"t": "input", "v": next(markers)},
        )

    def user_leaves(self) -> list[tuple[dict[str, Any] | None, Any]]:
        """All leaves of the call in order: (spec, tensor) of a tensor, (None, value) of another."""
        specs = dict(zip(self._tensor_at, self.input_specs, strict=True))
        return [(specs.get(at), leaf) for at, leaf in enumerate(self._leaves)]

    def tensor_named(self, name: str) -> torch.Tensor | None:
        """A parameter or buffer by any of its names (tied tensors have several)."""
        for names in (
            self.model.named_parameters(remove_duplicate=False),
            self.model.named_buffers(remove_duplicate=False),
        ):
            for known, tensor in names:
                if known == name:
                    return tensor
        return None

    def build_call(self, tensors: Sequence[torch.Tensor]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """(args, kwargs) with these tensors as inputs."""
        leaves = list(self._leaves)
        for at, tensor in zip(self._tensor_at, tensors, strict=True):
            leaves[at] = tensor
        args, kwargs = pytree.tree_unflatten(leaves, self._spec)
        return args, kwargs

    # ---- state ---------------------------------------------------------------------------

    def _list_state(self) -> None:
        self.places = state_places(self.model)
        self.state_specs: list[dict[str, Any]] = []
        parameters = {name for name, _ in self.model.named_parameters()}
        for name, place in self.places.items():
            tensor = place.tensor()
            self.state_specs.append(
                {
                    "name": f"state:{name}",
                    "dtype": dtype_name(tensor.dtype),
                    "shape": list(tensor.shape),
                    "kind": "parameter" if name in parameters else "buffer",
                }
            )
        self._originals = self.state_tensors
        #: the state as constructed; what `model` holds between runs
        self.constructed = [t.detach().clone() for t in self._originals]
        #: whether forward assigns a new tensor to a buffer instead of changing it in place
        self.rebinds = False

    @property
    def state_tensors(self) -> list[torch.Tensor]:
        """The tensors that `model` holds now, in the order of state_specs."""
        return [place.tensor() for place in self.places.values()]

    def restore_state(self) -> None:
        """Puts the constructed state back into `model`, in the tensors that it was made with."""
        for place, original in zip(self.places.values(), self._originals, strict=True):
            if place.tensor() is not original:
                place.bind(original)
                self.rebinds = True
        copy_state(self._originals, self.constructed)

    # ---- running -------------------------------------------------------------------------

    def run(
        self, inputs: Sequence[torch.Tensor], state: Sequence[torch.Tensor] | None = None
    ) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        """One eager run on copies of `inputs` with `state` (None: as constructed).

        Returns the outputs, then the updated state tensors (copies). Restores state and flags.
        OracleError ``task_failed`` if forward raises.
        """
        if state is not None:
            copy_state(self.state_tensors, state)
        try:
            result = self.forward([tensor.clone() for tensor in inputs])
            outputs = [tensor for _, tensor in result]
            updated = [self.state_tensors[i].detach().clone() for i in self.update_indices]
        finally:
            self.restore_state()
        return outputs, updated

    def forward(self, inputs: Sequence[torch.Tensor]) -> list[tuple[str, torch.Tensor]]:
        """forward on these very tensors; outputs with their paths, contiguous."""
        args, kwargs = self.build_call(inputs)
        try:
            with torch.no_grad():
                result = self.model(*args, **kwargs)
            self._result = result
            return [(path, t.detach().contiguous()) for path, t in flatten_outputs(result)]
        except OracleError as error:
            where = self.sources.line_where("def forward")
            raise OracleError(error.code, error.message, where, error.next_step) from error
        except BaseException as error:
            failure = self.sources.error(error, "forward failed")
            if self._has_list_and_dict():
                failure.next_step = (
                    "get_inputs returned a list and a dict, which are forward's first two "
                    'arguments; to name them return one dict of all of them: {"x": …, "scale": …}'
                )
            raise failure from error
        finally:
            flags.restore(self.flags)

    def _has_list_and_dict(self) -> bool:
        """Whether get_inputs seems meant as (args, kwargs), which is no form of a task."""
        kinds = [type(argument) for argument in (*self.args, *self.kwargs.values())][:2]
        return kinds in ([list, dict], [tuple, dict])

    def _first_run(self) -> None:
        inputs = self.sample_inputs()
        given = [tensor.clone() for tensor in inputs]
        torch.manual_seed(self.seeds.next("first"))
        first = self.forward(given)
        #: names of inputs that forward itself writes to
        self.mutated_inputs = [
            spec["name"]
            for spec, before, after in zip(self.input_specs, inputs, given, strict=True)
            if not same(before, after)
        ]
        self.update_indices = [
            index
            for index, (now, before) in enumerate(
                zip(self.state_tensors, self.constructed, strict=True)
            )
            if not same(now, before)
        ]
        self.output_tree = describe_tree(self._result)
        self._result = None
        self.restore_state()
        self.output_specs: list[dict[str, Any]] = [
            {"path": path, "dtype": dtype_name(t.dtype), "shape": list(t.shape)}
            for path, t in first
        ]
        torch.manual_seed(self.seeds.next("second"))
        #: what a call reads, writes, allocates and computes, operator by operator
        self.traffic = TrafficMode()
        copies = [tensor.clone() for tensor in inputs]
        try:
            with self.traffic:
                again = self.forward(copies)
        finally:
            self.restore_state()
        self.stochastic = any(
            not close(one, two) for (_, one), (_, two) in zip(first, again, strict=True)
        )

    def sample_inputs(self) -> list[torch.Tensor]:
        """The inputs that were drawn when the task was opened."""
        return [self._leaves[at].detach().contiguous() for at in self._tensor_at]

    @property
    def updates(self) -> list[str]:
        return [self.state_specs[index]["name"] for index in self.update_indices]


def same(one: torch.Tensor, two: torch.Tensor) -> bool:
    """Bit-equal, NaN included."""
    if one.is_floating_point():
        return bool(torch.equal(one, two) or torch.allclose(one, two, 0.0, 0.0, equal_nan=True))
    return torch.equal(one, two)


def close(one: torch.Tensor, two: torch.Tensor) -> bool:
    """Equal but for what a different order of summation does; for telling chance from rounding."""
    if one.shape != two.shape:
        return False
    if not one.is_floating_point():
        return torch.equal(one, two)
    scale = float(one.abs().nan_to_num(0.0, 0.0, 0.0).max()) if one.numel() else 0.0
    bound = 64 * torch.finfo(one.dtype).eps * scale
    return bool(torch.allclose(one, two, rtol=0.0, atol=bound, equal_nan=True))
