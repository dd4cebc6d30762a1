# SPDX-License-Identifier: Apache-2.0
"""What a candidate has to beat: eager, torch.compile, and the strongest mode for this target."""

from __future__ import annotations

import copy
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from heddle_oracle import flags
from heddle_oracle.arena import ArenaView
from heddle_oracle.capture import TooSlowError, time_limit
from heddle_oracle.errors import OracleError
from heddle_oracle.state import copy_state, state_places
from heddle_oracle.subject import ModuleSubject
from heddle_oracle.task import Task

NAMES = ("eager", "compile", "max_autotune", "freezing")
LIMIT_SECONDS = 120.0
_WARM_CALLS = 3
_CACHE_VARIABLE = "TORCHINDUCTOR_CACHE_DIR"


def failure(error: Exception) -> str:
    """One line: the first of the message, and what a compiler below it said first."""
    lines = [line.strip() for line in str(error).strip().splitlines() if line.strip()]
    reason = f"{type(error).__name__}: {lines[0] if lines else ''}"
    if "Output:" in lines[1:]:
        output = lines[lines.index("Output:", 1) + 1 :]
        said = [line for line in output if "error" in line.lower()] or output
        if said:
            reason += f": {said[0][:300]}"
    return reason


@dataclass
class Baseline:
    """A way to run the model, ready to be timed. `loads_state`: whether it sees state slots
    (freezing folds the constructed parameters into the code, so it does not)."""

    model: torch.nn.Module
    call: Callable[..., Any]
    loads_state: bool
    seconds: float


class Baselines:
    """Compiles on demand and keeps what it compiled, each on a copy of the model of its own."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._ready: dict[str, Baseline] = {}
        # Kept from block to block, as a candidate's is, so that its inputs keep their memory.
        self._subjects: dict[str, tuple[ArenaView, ModuleSubject]] = {}

    def prepare(self, name: str) -> dict[str, Any]:
        """{seconds, ok, reason?}: compiles and warms a baseline within 120 s."""
        if name not in NAMES:
            raise OracleError(
                "invalid_input", f"there is no baseline {name!r}", "name", "use " + ", ".join(NAMES)
            )
        if name in self._ready:
            return {"seconds": self._ready[name].seconds, "ok": True}
        if name == "freezing" and self._task.model.training:
            return {"seconds": 0.0, "ok": False, "reason": "freezing needs --mode eval"}
        start = time.perf_counter()
        try:
            with time_limit(LIMIT_SECONDS), torch.no_grad():
                baseline = self._make(name)
        except TooSlowError as error:
            seconds = time.perf_counter() - start
            return {"seconds": seconds, "ok": False, "reason": f"compiling stopped: {error}"}
        except Exception as error:  # noqa: BLE001 - a compiler may fail in any way on any task
            seconds = time.perf_counter() - start
            return {"seconds": seconds, "ok": False, "reason": failure(error)}
        finally:
            flags.restore(self._task.flags)
        baseline.seconds = time.perf_counter() - start
        self._ready[name] = baseline
        return {"seconds": baseline.seconds, "ok": True}

    def subject(self, name: str, arena: ArenaView) -> ModuleSubject:
        """The doorbell's subject of a prepared baseline; OracleError ``conflict`` if it is not."""
        baseline = self._ready.get(name)
        if baseline is None:
            raise OracleError("conflict", f"the baseline {name} was not prepared")
        made = self._subjects.get(name)
        if made is not None and made[0] is arena:
            return made[1]
        model = baseline.model

        def load(states: list[torch.Tensor]) -> None:
            copy_state(_state_of(model), states)

        targets = [place.tensor for place in state_places(model).values()]
        subject = ModuleSubject(
            baseline.call, arena, targets, load if baseline.loads_state else None
        )
        self._subjects[name] = (arena, subject)
        return subject

    def _make(self, name: str) -> Baseline:
        model = copy.deepcopy(self._task.model)
        call: Callable[..., Any] = model
        if name != "eager":
            _private_cache()
            call = self._compiled(name, model)
        for _ in range(_WARM_CALLS):
            inputs = [tensor.clone() for tensor in self._task.sample_inputs()]
            args, kwargs = self._task.build_call(inputs)
            call(*args, **kwargs)
        copy_state(_state_of(model), self._task.constructed)
        return Baseline(model, call, name != "freezing", 0.0)

    def _compiled(self, name: str, model: torch.nn.Module) -> Callable[..., Any]:
        options: dict[str, Any] | None = None
        if name == "max_autotune":
            # The CPU has no graphs to capture; the mode's name would ask for them.
            options = {"max_autotune": True}
        elif name == "freezing":
            options = {"freezing": True}
        compiled: Callable[..., Any] = torch.compile(model, dynamic=False, options=options)
        return compiled


def _state_of(model: torch.nn.Module) -> list[torch.Tensor]:
    return [*model.parameters(), *model.buffers()]


def _private_cache() -> None:
    """Compiled code goes into a folder of this process's own, unless the worker named one."""
    if not os.environ.get(_CACHE_VARIABLE):
        os.environ[_CACHE_VARIABLE] = tempfile.mkdtemp(prefix="inductor-")
