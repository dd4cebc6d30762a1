# SPDX-License-Identifier: Apache-2.0
"""Runs a candidate that is Python: a ModelNew file, a work folder or an exported file.

Trusted with nothing: it sees one sealed arena and its own files, never a reference or a seed.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
import traceback
from typing import Any

import torch

from heddle_oracle import flags, sandbox
from heddle_oracle.arena import ArenaView
from heddle_oracle.channel import Channel
from heddle_oracle.coverage import coverage
from heddle_oracle.doorbell import Page
from heddle_oracle.doorbell import serve as serve_doorbell
from heddle_oracle.encode import decode
from heddle_oracle.errors import Code, OracleError, is_out_of_memory
from heddle_oracle.service import Request, serve_methods
from heddle_oracle.state import StatePlace, state_places
from heddle_oracle.subject import ModuleSubject, can_poison


class Runner:
    """The methods of a runner; one candidate in its life."""

    def __init__(self, sandbox_report: dict[str, Any]) -> None:
        self._sandbox = sandbox_report
        self._subject: ModuleSubject | None = None
        self._poisons = False
        self._folder = ""

    def handlers(self) -> dict[str, Any]:
        return {"load": self._load, "serve": self._serve, "coverage": self._coverage}

    def _load(self, request: Request) -> dict[str, Any]:
        sandbox.require(self._sandbox)
        files = request.need("files", dict)
        entry = request.need("entry", str)
        class_name = request.need("class", str)
        layout = request.need("layout", dict)
        flags.use_threads(request.need("threads", int))
        fd = request.take_fd()
        try:
            arena = ArenaView(fd, layout, writable=False)
        finally:
            os.close(fd)
        # Asked before the candidate's code runs: what is found is then ours.
        self._poisons = can_poison([int(entry["bytes"]) for entry in layout["outputs"]])
        folder = self._folder = _write_files(files, entry)
        module = _import_entry(folder, entry)
        maker = getattr(module, class_name, None)
        if maker is None:
            raise OracleError(
                "task_failed",
                f"{entry} defines no {class_name}",
                where=entry,
                next_step=f"define a class {class_name} with the reference's interface",
            )
        arguments = decode(request.optional("init", list, []))
        keywords = decode(request.optional("init_keywords", dict, {"t": "dict", "v": []}))
        torch.manual_seed(request.optional("init_seed", int, 0))
        try:
            with torch.no_grad():
                model = maker(*arguments, **keywords)
        except BaseException as error:
            raise _candidate_error(error, folder, "constructing the model failed") from error
        mode = request.optional("mode", str, "as-constructed")
        if mode == "eval" and isinstance(model, torch.nn.Module):
            model.eval()
        return self._take(model, arena)

    def _take(self, model: Any, arena: ArenaView) -> dict[str, Any]:
        own = state_places(model) if isinstance(model, torch.nn.Module) else {}
        names, state_by, missing = match_state(own, arena.layout["state"])

        def load(states: list[torch.Tensor]) -> None:
            load_state(model, own, names, states)

        targets = [None if name is None else own[name].tensor for name in names]
        self._subject = ModuleSubject(model, arena, targets, load if state_by is not None else None)
        return {
            "state_by": state_by,
            "state_missing": missing,
            "parameters": list(own),
            "poisons": self._poisons,
            "threads": torch.get_num_threads(),
        }

    def _coverage(self, request: Request) -> dict[str, Any]:
        if self._subject is None:
            raise OracleError("conflict", "coverage came before load")
        slot, state_slot = request.need("slot", int), request.need("state_slot", int)
        try:
            with torch.no_grad():
                return coverage(self._subject, slot, state_slot, self._folder + os.sep)
        except BaseException as error:
            raise _candidate_error(error, self._folder, "a call failed") from error

    def _serve(self, request: Request) -> dict[str, Any]:
        if self._subject is None:
            raise OracleError("conflict", "serve came before load")
        fd = request.take_fd()
        try:
            page = Page(fd)
        finally:
            os.close(fd)
        with torch.no_grad():
            serve_doorbell(page, self._subject)
        return {}


def match_state(
    own: dict[str, StatePlace], wanted: list[dict[str, Any]]
) -> tuple[list[str | None], str | None, list[str]]:
    """Which of the model's tensors is which state of the task: by name, else by order and shape.

    Returns the model's names in the task's order, how they were found (None: not), what is missing.
    """
    shapes = {name: list(place.tensor().shape) for name, place in own.items()}
    wished = [entry["name"].removeprefix("state:") for entry in wanted]
    missing = [
        entry["name"]
        for name, entry in zip(wished, wanted, strict=True)
        if shapes.get(name) != entry["shape"]
    ]
    if not missing:
        return list(wished), "name", []
    if list(shapes.values()) == [entry["shape"] for entry in wanted]:
        return list(shapes), "shape", []
    return [None] * len(wanted), None, missing


def load_state(
    model: torch.nn.Module,
    own: dict[str, StatePlace],
    names: list[str | None],
    states: list[torch.Tensor],
) -> None:
    """Puts a state slot into the model through load_state_dict, as a user's checkpoint would be.

    Buffers that are not in the state dict are copied directly.
    """
    keys = set(model.state_dict().keys())
    checkpoint = {}
    for name, state in zip(names, states, strict=True):
        if name is None:
            continue
        if name in keys:
            checkpoint[name] = state
        else:
            own[name].tensor().copy_(state)
    if checkpoint:
        model.load_state_dict(checkpoint, strict=False)


def _write_files(files: dict[str, Any], entry: str) -> str:
    """Writes the candidate's tree into fresh scratch (TMPDIR) and returns the folder."""
    if entry not in files:
        raise OracleError("invalid_input", f"the candidate has no file {entry}", where=entry)
    folder = os.path.realpath(tempfile.mkdtemp(prefix="candidate-"))
    for name, text in files.items():
        path = os.path.realpath(os.path.join(folder, name))
        if not path.startswith(folder + os.sep) or not isinstance(text, str):
            raise OracleError("invalid_input", "a file name leaves the folder", where=name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return folder


def _import_entry(folder: str, entry: str) -> Any:
    path = os.path.join(folder, entry)
    sys.path.insert(0, os.path.dirname(path))
    os.chdir(folder)
    name = os.path.splitext(os.path.basename(entry))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise OracleError("invalid_input", f"{entry} is not a Python file", where=entry)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        raise _candidate_error(error, folder, "importing it failed") from error
    return module


def _candidate_error(error: BaseException, folder: str, doing: str) -> OracleError:
    """What a candidate raised, with the line of its own file that is nearest to it."""
    if is_out_of_memory(error):
        return OracleError("out_of_memory", f"{doing}: {error}")
    code: Code = "task_failed"
    where = ""
    if isinstance(error, SyntaxError):
        code = "compile_failed"
        where = f"{os.path.basename(error.filename or '')}:{error.lineno}"
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename.startswith(folder + os.sep) and not where:
            where = f"{os.path.relpath(frame.filename, folder)}:{frame.lineno}"
    if _is_build_failure(error):
        code = "compile_failed"
    return OracleError(
        code,
        f"{doing}: {type(error).__name__}: {error}",
        where=where,
        next_step="open the file at that line",
    )


def _is_build_failure(error: BaseException) -> bool:
    """Whether torch.utils.cpp_extension could not build what the candidate brought."""
    return isinstance(error, RuntimeError) and "Error building extension" in str(error)


def serve(channel: Channel, sandbox_report: dict[str, Any]) -> None:
    """The life of a runner: answers until the worker closes the channel."""
    serve_methods(channel, Runner(sandbox_report).handlers())
