# SPDX-License-Identifier: Apache-2.0
"""Defects of a task that would make a verdict worthless, and assumptions a candidate could make."""

from __future__ import annotations

from typing import Any

import torch

from heddle_oracle.compare import TOLERANCES
from heddle_oracle.domain import Domain
from heddle_oracle.precision import memory_cap
from heddle_oracle.redundancy import graph_findings
from heddle_oracle.task import Task, close
from heddle_oracle.traffic import LivenessMode

_MEBIBYTE = 1 << 20
#: times the tolerance below which the variation of an output says too little
_PREDICTABLE = 20.0


class Lint:
    """One pass over a task. Runs the model about ten times."""

    def __init__(self, task: Task, domains: list[Domain], draws: list[list[torch.Tensor]]) -> None:
        self._task = task
        self._domains = domains
        self._draws = draws
        self._findings: list[dict[str, str]] = []

    def run(self, graph: dict[str, Any] | None) -> dict[str, Any]:
        """{findings, properties}. `graph` is the captured one, or None where there is none."""
        outputs = [self._task.run(draw)[0] for draw in self._draws]
        constant = self._outputs(outputs)
        blind = self._blind_inputs(outputs[0]) if not self._task.stochastic else []
        self._inputs()
        self._memory()
        self._dead_operators()
        if graph is not None:
            self._findings += graph_findings(graph)
        pairs = list(zip(self._task.input_specs, self._domains, strict=True))
        return {
            "findings": self._findings,
            "properties": {
                "nonnegative_inputs": [s["name"] for s, d in pairs if d.nonnegative],
                "integer_inputs": [s["name"] for s, d in pairs if d.kind == "integer"],
                "constant_inputs": [s["name"] for s, d in pairs if d.constant],
                "blind_inputs": blind,
                "constant_output": constant,
                "stochastic": self._task.stochastic,
                "mutated_inputs": self._task.mutated_inputs,
                "domains": {s["name"]: d.to_json() for s, d in pairs},
            },
        }

    def _find(self, identifier: str, severity: str, message: str) -> None:
        self._findings.append({"id": identifier, "severity": severity, "message": message})

    # ---- outputs -------------------------------------------------------------------------

    def _outputs(self, runs: list[list[torch.Tensor]]) -> bool:
        """Looks at each output over all draws; whether any is constant."""
        any_constant = False
        if self._task.stochastic:
            self._find(
                "stochastic",
                "error",
                "two runs on the same inputs differ: no candidate can match random numbers; "
                "remove the dropout or noise, or judge with --mode eval",
            )
        for index, spec in enumerate(self._task.output_specs):
            values = [run[index] for run in runs]
            name = f"output {index}" + (f" ({spec['path']})" if spec["path"] else "")
            if values[0].numel() == 0:
                self._find("empty_output", "error", f"{name} has no elements")
            elif self._constant(name, values):
                any_constant = True
            elif values[0].is_floating_point():
                self._scale(name, values)
                self._identity(name, values)
        return any_constant

    def _constant(self, name: str, values: list[torch.Tensor]) -> bool:
        wide = [v.double().nan_to_num(0.0, 0.0, 0.0) for v in values]
        largest = max(float(w.abs().max()) for w in wide)
        changes = [float((w - wide[0]).abs().max()) for w in wide[1:]]
        if max(changes) == 0.0:
            self._find("constant_output", "error", f"{name} is the same for all inputs drawn")
            return True
        if not values[0].is_floating_point():
            return False
        inputs = [max(abs(d.low), abs(d.high)) for d in self._domains if d.kind == "float"]
        if largest < 1e-5 * min(max(inputs, default=1.0), 1.0) and _is_noise(wide):
            self._find(
                "near_zero_output",
                "error",
                f"{name} is rounding noise around zero (at most {largest:.1e})",
            )
            return True
        limit = _PREDICTABLE * TOLERANCES[values[0].dtype] * largest
        spread = float(wide[0].max() - wide[0].min())
        if max(changes) < limit and spread < limit:
            self._find(
                "predictable_output",
                "error",
                f"{name} varies by only {max(changes) / largest:.1e} of its size between draws: a "
                "constant, or a sample of the input, nearly passes; draw inputs whose reduction "
                "varies, heavy-tailed ones for example",
            )
            return True
        return False

    def _scale(self, name: str, values: list[torch.Tensor]) -> None:
        largest = max(float(v.double().abs().nan_to_num(0.0, 0.0, 0.0).max()) for v in values)
        limit = TOLERANCES[values[0].dtype]
        if largest < limit:
            self._find(
                "output_below_tolerance",
                "warning",
                f"{name} is at most {largest:.1e}: zeros would pass an absolute tolerance of "
                f"{limit:g}. Heddle compares relative to the output's own scale",
            )
        share = max(float((~torch.isfinite(v)).double().mean()) for v in values)
        if share > 0:
            self._find("nonfinite_output", "warning", f"{share:.2%} of {name} is not finite")

    def _identity(self, name: str, values: list[torch.Tensor]) -> None:
        for position, spec in enumerate(self._task.input_specs):
            inputs = [draw[position] for draw in self._draws]
            if all(
                i.shape == v.shape and i.dtype == v.dtype and torch.equal(i, v)
                for i, v in zip(inputs, values, strict=True)
            ):
                self._find(
                    "identity_output",
                    "warning",
                    f"{name} equals {spec['name']} for all inputs drawn: returning it would pass "
                    "on the task's own inputs",
                )

    # ---- inputs --------------------------------------------------------------------------

    def _blind_inputs(self, base: list[torch.Tensor]) -> list[str]:
        blind = []
        for position, spec in enumerate(self._task.input_specs):
            first = self._draws[0][position]
            others = (draw[position] for draw in self._draws[1:])
            changed = next((other for other in others if not torch.equal(other, first)), None)
            if changed is None:
                continue
            inputs = list(self._draws[0])
            inputs[position] = changed
            outputs, _ = self._task.run(inputs)
            if all(close(one, two) for one, two in zip(base, outputs, strict=True)):
                blind.append(spec["name"])
                self._find(
                    "blind_input", "error", f"no output depends on {spec['name']} as it is drawn"
                )
        return blind

    def _inputs(self) -> None:
        for spec, domain in zip(self._task.input_specs, self._domains, strict=True):
            name = spec["name"]
            if domain.kind == "integer":
                low, high = int(domain.low), int(domain.high)
                self._find("integer_input", "info", f"{name} holds integers from {low} to {high}")
            if domain.constant:
                self._find("constant_input", "info", f"{name} is the same in every draw")
            if domain.rows_sum_to_one:
                self._find("probability_input", "info", f"the rows of {name} sum to one")
            elif domain.nonnegative:
                self._find("nonnegative_input", "info", f"{name} is never negative")
            for structure in domain.structures:
                words = structure.replace("_", " ")
                self._find("structured_input", "info", f"{name} is {words} in every draw")
        for name in self._task.mutated_inputs:
            self._find("input_changed", "warning", f"forward changes {name} in place")

    def _memory(self) -> None:
        needed, cap = 3 * self._task.traffic.allocated_bytes, memory_cap()
        if needed > cap:
            self._find(
                "memory",
                "warning",
                f"a float64 run needs about {needed // _MEBIBYTE} MiB, more than the cap of "
                f"{cap // _MEBIBYTE} MiB: expected values come from slices or single precision",
            )

    def _dead_operators(self) -> None:
        if 2 * self._task.traffic.allocated_bytes > memory_cap():
            return  # LivenessMode keeps every tensor of the run
        mode = LivenessMode()
        inputs = [t.clone() for t in self._draws[0]]
        try:
            with mode:
                outputs = [tensor for _, tensor in self._task.forward(inputs)]
            updated = [self._task.state_tensors[i] for i in self._task.update_indices]
            dead = [n for n in mode.dead([*outputs, *updated]) if not n.startswith("aten::empty")]
        finally:
            self._task.restore_state()
        if dead:
            listed = ", ".join(dict.fromkeys(dead))
            self._find("dead_operator", "warning", f"no output uses what {listed} computes")


def _is_noise(draws: list[torch.Tensor]) -> bool:
    """Whether no part of an output repeats over draws: rounding noise changes its sign."""
    signs = torch.stack([torch.sign(draw.reshape(-1)) for draw in draws])
    return float(signs.mean(dim=0).abs().mean()) < 0.9
