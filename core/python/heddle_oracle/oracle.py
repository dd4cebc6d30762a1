# SPDX-License-Identifier: Apache-2.0
"""The oracle's methods: it owns the reference, the secret inputs and the expected outputs."""

from __future__ import annotations

import hashlib
import mmap
import os
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from heddle_oracle import arena as arenas
from heddle_oracle import domain, families, flags, sandbox
from heddle_oracle.baselines import Baselines
from heddle_oracle.capture import capture
from heddle_oracle.channel import Channel
from heddle_oracle.compare import EagerNoise, Reference, compare, surely_right
from heddle_oracle.doorbell import Page
from heddle_oracle.doorbell import serve as serve_doorbell
from heddle_oracle.encode import encode, tensor_bytes
from heddle_oracle.errors import OracleError
from heddle_oracle.lint import Lint
from heddle_oracle.loader import Sources
from heddle_oracle.precision import Oracle64
from heddle_oracle.profile import profile
from heddle_oracle.service import Handler, Request, serve_methods
from heddle_oracle.task import Task

#: a family in which more of the reference's values than this are NaN or infinite says nothing
MAX_NONFINITE_SHARE = 0.01
DRAWS = 3
#: a set of inputs and state: slot and state slot (None: the state as constructed)
Key = tuple[int, int | None]


@dataclass
class ExpectedSet:
    """What one set of inputs and state leads to: outputs, then updates."""

    references: list[Reference]
    precision: str
    reason: str

    @property
    def nonfinite_share(self) -> float:
        return max((r.nonfinite_share for r in self.references), default=0.0)


class Oracle:
    """Serves one task in its life. Single-threaded; errors are OracleError."""

    def __init__(self, sandbox_report: dict[str, Any]) -> None:
        self._sandbox = sandbox_report
        self._task: Task | None = None
        self._arena: arenas.ArenaView | None = None
        self._sets: dict[Key, ExpectedSet] = {}
        #: of outputs, then updates, on the task's own inputs; None before the first expectation
        self._noise: list[EagerNoise] | None = None
        self._families: dict[int, str] = {}
        self._domains: list[domain.Domain] | None = None
        self._draws: list[list[torch.Tensor]] = []
        self._graph: dict[str, Any] | OracleError | None = None

    def handlers(self) -> dict[str, Handler]:
        return {
            "open": self._open,
            "lint": self._lint,
            "graph": lambda request: self._captured(),
            "arena": self._make_arena,
            "fill": self._fill,
            "expect": self._expect,
            "compare": self._compare,
            "sample": self._sample,
            "profile": lambda request: profile(self._opened()),
            "prepare": self._prepare,
            "serve": self._serve,
            "memory": lambda request: {"resident_bytes": resident_bytes()},
        }

    # ---- the task ------------------------------------------------------------------------

    def _open(self, request: Request) -> dict[str, Any]:
        sandbox.require(self._sandbox)
        if self._task is not None:
            raise OracleError("conflict", "an oracle opens one task; fork another for the next")
        siblings = request.optional("siblings", dict, {})
        if not all(isinstance(text, str) for text in siblings.values()):
            raise OracleError("protocol", "siblings must map names to text", where="siblings")
        sources = Sources(request.need("path", str), request.need("source", str), siblings)
        flags.use_threads(request.need("threads", int))
        task = Task(
            sources,
            request.optional("mode", str, "as-constructed"),
            request.optional("seed", int, 0),
            request.optional("secret", str, None),
        )
        try:
            init = encode(task.init_arguments)["v"]
            init_keywords = encode(task.init_keywords)
        except OracleError as error:
            where = sources.line_where("def get_init_inputs")
            raise OracleError(error.code, error.message, where, error.next_step) from error
        self._task = task
        self._oracle64 = Oracle64(task, task.traffic.allocated_bytes)
        self._baselines = Baselines(task)
        return {
            "task": {"name": task.name, "digest": task.digest(), "mode": task.mode},
            "inputs": task.input_specs,
            "state": task.state_specs,
            "values": task.values,
            "call": task.call_skeleton(),
            "outputs": task.output_specs,
            "output_tree": task.output_tree,
            "updates": task.updates,
            "init": init,
            "init_keywords": init_keywords,
            "init_seed": task.init_seed,
            "flags": task.flags,
            "environment": environment(),
            "eager_bytes": task.traffic.allocated_bytes,
            "stochastic": task.stochastic,
        }

    def _opened(self) -> Task:
        if self._task is None:
            raise OracleError("conflict", "no task is open", next_step="send open first")
        return self._task

    def _inferred(self) -> list[domain.Domain]:
        """The domains of the inputs, from several draws; made once."""
        if self._domains is None:
            task = self._opened()
            self._draws = [task.draw_inputs(task.seeds.next("domain")) for _ in range(DRAWS)]
            self._domains = [
                domain.infer([draw[i] for draw in self._draws])
                for i in range(len(task.input_specs))
            ]
        return self._domains

    def _lint(self, request: Request) -> dict[str, Any]:
        task = self._opened()
        domains = self._inferred()
        try:
            graph = self._captured()
        except OracleError:
            graph = None  # what the graph alone would show is left out; `graph` says why
        return Lint(task, domains, self._draws).run(graph)

    def _captured(self) -> dict[str, Any]:
        if self._graph is None:
            try:
                self._graph = capture(self._opened())
            except OracleError as error:
                if error.code != "not_covered":
                    raise
                self._graph = error
        if isinstance(self._graph, OracleError):
            raise self._graph
        return self._graph

    # ---- inputs --------------------------------------------------------------------------

    def _make_arena(self, request: Request) -> dict[str, Any]:
        task = self._opened()
        input_slots = request.need("input_slots", int)
        state_slots = request.need("state_slots", int)
        if not (1 <= input_slots <= 4096 and 0 <= state_slots <= 4096):
            raise OracleError("invalid_input", "slots must be 1 to 4096, state slots 0 to 4096")
        layout = arenas.plan_layout(task.input_specs, task.state_specs, input_slots, state_slots)
        layout["values"] = task.values
        layout["call"] = task.call_skeleton()
        layout["outputs"] = [
            {**spec, "bytes": arenas.tensor_size(spec["dtype"], spec["shape"])}
            for spec in task.output_specs
        ]
        layout["updates"] = task.updates
        self._sets.clear()
        self._families.clear()
        self._arena, fd = arenas.create(layout)
        request.answer_fds.append(fd)
        return {"layout": layout}

    def _mapped(self) -> arenas.ArenaView:
        if self._arena is None:
            raise OracleError("conflict", "there is no arena", next_step="send arena first")
        return self._arena

    def _fill(self, request: Request) -> dict[str, Any]:
        task, arena = self._opened(), self._mapped()
        slot = request.need("slot", int)
        state_slot = request.optional("state_slot", int, None)
        family = request.optional("family", str, "task")
        if family not in families.FAMILIES:
            raise OracleError("invalid_input", f"there is no family {family!r}", "family")
        targets = arena.inputs(slot)
        state_targets = [] if state_slot is None else arena.states(state_slot)
        state = self._fresh_state(request.optional("state", str, "constructed"), state_slot)
        in_domain, detail = True, ""
        if family == "task":
            inputs = task.draw_inputs(task.seeds.next("task"))
        else:
            domains = self._inferred()
            reason = _no_family(family, domains)
            if not reason:
                inputs, detail, reason = self._draw_family(family, domains, state)
            if reason:
                return {"dropped": True, "reason": reason, "checksum": []}
            in_domain = families.in_domain(family, domains)
        filled = (*targets, *state_targets)
        for target, value in zip(filled, (*inputs, *state), strict=True):
            target.copy_(value)
        self._forget(slot, state_slot)
        self._families[slot] = family
        return {
            "dropped": False,
            "in_domain": in_domain,
            "detail": detail,
            "checksum": [hashlib.sha256(tensor_bytes(t)).hexdigest() for t in filled]
            if request.optional("checksum", bool, True)
            else [],
        }

    def _fresh_state(self, how: str, state_slot: int | None) -> list[torch.Tensor]:
        if state_slot is None:
            return []
        task = self._opened()
        if how == "constructed":
            return task.constructed
        if how != "randomised":
            raise OracleError("invalid_input", f"there is no state {how!r}", "state")
        generator = torch.Generator().manual_seed(task.seeds.next("state"))
        return families.randomise_state(task.model, task.constructed, generator)

    def _draw_family(
        self, family: str, domains: Sequence[domain.Domain], state: list[torch.Tensor]
    ) -> tuple[list[torch.Tensor], str, str]:
        """Inputs of a family, what was chosen for it, and why there are none (else empty).
        extreme_scale takes a factor under which the reference runs and stays finite, starting at
        random with its large or its small one."""
        task = self._opened()
        samples = task.sample_inputs()
        scales = [1.0]
        if family == "extreme_scale":
            large, small, *rest = families.SCALES
            first = [large, small] if task.seeds.next("scale") % 2 else [small, large]
            scales = [*first, *rest]
        reason = ""
        for scale in scales:
            generator = torch.Generator().manual_seed(task.seeds.next(family))
            inputs = [
                families.draw(family, d, sample, generator, scale)
                for d, sample in zip(domains, samples, strict=True)
            ]
            if len(scales) == 1:
                return inputs, "", ""
            try:
                outputs, _ = task.run(inputs, state or None)
            except OracleError as error:
                reason = _refused(error)
                continue
            if _finite_enough(outputs):
                return inputs, f"scale {scale:g}", ""
            reason = "no factor keeps the reference finite"
        return [], "", reason

    def _forget(self, slot: int, state_slot: int | None) -> None:
        for key in list(self._sets):
            if key[0] == slot or (state_slot is not None and key[1] == state_slot):
                del self._sets[key]

    # ---- expectations --------------------------------------------------------------------

    def _key(self, request: Request) -> Key:
        return request.need("slot", int), request.optional("state_slot", int, None)

    def _state_of(self, state_slot: int | None) -> list[torch.Tensor]:
        if state_slot is None:
            return self._opened().constructed
        return self._mapped().states(state_slot)

    def _expect(self, request: Request) -> dict[str, Any]:
        key = self._key(request)
        start = time.perf_counter()
        try:
            made = self._expected(key)
        except OracleError as error:
            # Only what get_inputs() gives is promised to run. Who refuses other values (a loss that
            # asserts its range) says something about the family, not about the task.
            if self._families.get(key[0], "task") == "task":
                raise
            return {
                "precision": "none",
                "seconds": time.perf_counter() - start,
                "nonfinite_share": 0.0,
                "dropped": True,
                "reason": _refused(error),
            }
        answer: dict[str, Any] = {
            "precision": made.precision,
            "seconds": time.perf_counter() - start,
            "nonfinite_share": made.nonfinite_share,
            "dropped": made.nonfinite_share > MAX_NONFINITE_SHARE,
        }
        if made.reason:
            answer["reason"] = made.reason
        return answer

    def _expected(self, key: Key, plain: list[torch.Tensor] | None = None) -> ExpectedSet:
        """Makes and keeps what a set leads to; `plain` is its plain run, if that is there."""
        inputs, state = self._mapped().inputs(key[0]), self._state_of(key[1])
        eager = self._plain(key) if plain is None else plain
        expected = self._oracle64.expect(inputs, state, eager)
        references = [
            Reference(tensor, plain, origin)
            for tensor, plain, origin in zip(expected.tensors, eager, expected.origins, strict=True)
        ]
        made = ExpectedSet(references, expected.precision, expected.reason)
        self._sets[key] = made
        if self._families.get(key[0]) == "task" and expected.precision != "fp32":
            before: Sequence[EagerNoise | None] = self._noise or [None] * len(references)
            self._noise = [
                EagerNoise.of(reference, noise)
                for reference, noise in zip(references, before, strict=True)
            ]
        return made

    def _plain(self, key: Key) -> list[torch.Tensor]:
        """Outputs, then updates, of one eager run."""
        task, inputs = self._opened(), self._mapped().inputs(key[0])
        outputs, updated = task.run(inputs, self._state_of(key[1]))
        return [*outputs, *updated]

    def _compare(self, request: Request) -> dict[str, Any]:
        key = self._key(request)
        found = self._sets.get(key)
        if found is None:
            raise OracleError("conflict", f"no expectation was made for {key}", "slot")
        got = self._received(request, [reference.eager for reference in found.references])
        return self._compared(request, got, found)

    def _compared(
        self, request: Request, got: Sequence[torch.Tensor], found: ExpectedSet
    ) -> dict[str, Any]:
        tolerance = request.optional("tolerance", (int, float), None)
        count = len(self._opened().output_specs)
        records = []
        for index, (tensor, reference) in enumerate(zip(got, found.references, strict=True)):
            label: dict[str, Any] = {"index": index}
            if index >= count:
                label = {"update": self._opened().updates[index - count]}
            records.append({**label, **compare(tensor, reference, tolerance)})
        return {"ok": all(r["ok"] for r in records), "outputs": records}

    def _sample(self, request: Request) -> dict[str, Any]:
        """The verdict of `compare` without its price: the float64 run is made only where the plain
        one leaves a doubt."""
        key = self._key(request)
        found = self._sets.get(key)
        if found is None:
            plain = self._plain(key)
            got = self._received(request, plain)
            tolerance = request.optional("tolerance", (int, float), None)
            if self._noise is not None and all(
                surely_right(one, two, noise, tolerance)
                for one, two, noise in zip(got, plain, self._noise, strict=True)
            ):
                return {"ok": True, "precision_ok": True, "by": "plain"}
            found = self._expected(key, plain)
        else:
            got = self._received(request, [reference.eager for reference in found.references])
        compared = self._compared(request, got, found)
        precise = all(record["precision_ok"] for record in compared["outputs"])
        return {**compared, "precision_ok": precise, "by": found.precision}

    def _received(self, request: Request, like: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """What the worker copied out of a candidate, as tensors shaped like these."""
        places = request.need("outputs", list)
        if len(places) != len(like):
            raise OracleError(
                "protocol", f"{len(places)} outputs came, {len(like)} are expected", "outputs"
            )
        fd = request.take_fd()
        try:
            size = os.fstat(fd).st_size
            mapped = mmap.mmap(fd, size, mmap.MAP_SHARED, mmap.PROT_READ) if size else b""
        finally:
            os.close(fd)
        received = []
        for index, (entry, tensor) in enumerate(zip(places, like, strict=True)):
            wanted = tensor.numel() * tensor.element_size()
            offset = entry.get("offset") if isinstance(entry, dict) else None
            if (
                not isinstance(offset, int)
                or entry.get("bytes") != wanted
                or not 0 <= offset <= size - wanted
                or offset % tensor.element_size()
            ):
                raise OracleError(
                    "protocol", f"output {index} must be {wanted} aligned bytes", "outputs"
                )
            dtype = str(tensor.dtype).removeprefix("torch.")
            received.append(arenas.view_of(mapped, offset, dtype, list(tensor.shape)))
        return received

    # ---- baselines -----------------------------------------------------------------------

    def _prepare(self, request: Request) -> dict[str, Any]:
        self._opened()
        return self._baselines.prepare(request.need("name", str))

    def _serve(self, request: Request) -> dict[str, Any]:
        self._opened()
        subject = self._baselines.subject(request.need("name", str), self._mapped())
        fd = request.take_fd()
        try:
            page = Page(fd)
        finally:
            os.close(fd)
        with torch.no_grad():
            serve_doorbell(page, subject)
        return {}


def _no_family(family: str, domains: Sequence[domain.Domain]) -> str:
    """Why a family has nothing to say about these inputs, or an empty text."""
    if family == "signed":
        return "" if domains else "the task has no tensor inputs"
    if any(d.kind == "float" and not d.constant for d in domains):
        return ""
    return "the task has no floating inputs that vary"


def _refused(error: OracleError) -> str:
    """The reason that a family is dropped for when the reference raises on it: one line."""
    return "the reference raised: " + (error.message.strip().splitlines() or [""])[0]


def _finite_enough(outputs: Sequence[torch.Tensor]) -> bool:
    return all(
        float((~torch.isfinite(t)).double().mean()) <= MAX_NONFINITE_SHARE
        for t in outputs
        if t.numel()
    )


def environment() -> dict[str, Any]:
    """What the figures of this process depend on."""
    names = ("OMP_", "GOMP_", "KMP_", "MKL_", "MALLOC_", "GLIBC_TUNABLES")
    return {
        "torch": torch.__version__,
        "python": platform.python_version(),
        "threads": torch.get_num_threads(),
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "mkldnn": torch.backends.mkldnn.is_available(),
        "variables": {k: v for k, v in sorted(os.environ.items()) if k.startswith(names)},
    }


def resident_bytes() -> int:
    """This process's resident set."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * mmap.PAGESIZE


def serve(channel: Channel, sandbox_report: dict[str, Any]) -> None:
    """The life of an oracle: answers until the worker closes the channel."""
    serve_methods(channel, Oracle(sandbox_report).handlers())
