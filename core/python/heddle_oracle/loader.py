# SPDX-License-Identifier: Apache-2.0
"""Turning a task file into a module of its own, with errors that name file, line and remedy."""

from __future__ import annotations

import importlib.abc
import importlib.util
import itertools
import linecache
import os
import sys
import tempfile
import types
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from typing import Any

from heddle_oracle.errors import OracleError, is_out_of_memory

_numbers = itertools.count(1)


class SiblingFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the Python files that came along with a task, from their text."""

    def __init__(self, folder: str, texts: dict[str, str], data_folder: str) -> None:
        self._folder = folder
        self._texts = texts
        self._data_folder = data_folder

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: types.ModuleType | None = None,
    ) -> ModuleSpec | None:
        name = fullname.replace(".", "/")
        for candidate in (f"{name}.py", f"{name}/__init__.py"):
            if candidate in self._texts:
                return importlib.util.spec_from_loader(
                    fullname, self, origin=candidate, is_package=candidate.endswith("__init__.py")
                )
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        name = str(module.__spec__.origin) if module.__spec__ else ""
        module.__file__ = os.path.join(self._data_folder, name)
        run_source(module, self._texts[name], os.path.join(self._folder, name))


def run_source(module: types.ModuleType, text: str, path: str) -> None:
    """Runs source text in a module; tracebacks and inspect.getsource see `path` and the text."""
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    code = compile(text, path, "exec", dont_inherit=True)
    exec(code, module.__dict__)


class Sources:
    """The files of a task: its path, text and siblings. Writes data files to scratch."""

    def __init__(self, path: str, source: str, siblings: dict[str, str]) -> None:
        self.path = path
        self.source = source
        self.siblings = siblings
        self.folder = os.path.dirname(path)
        self._known = {path, *(os.path.join(self.folder, name) for name in siblings)}

    def import_task(self) -> types.ModuleType:
        """The task as a module with a namespace of its own. OracleError ``task_failed``."""
        scratch = os.path.realpath(tempfile.mkdtemp(prefix="task-"))
        for name, text in {**self.siblings, os.path.basename(self.path): self.source}.items():
            target = os.path.realpath(os.path.join(scratch, name))
            if not target.startswith(scratch + os.sep):
                raise OracleError("invalid_input", "a sibling's name leaves the folder", where=name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "w", encoding="utf-8") as file:
                file.write(text)
        sys.meta_path.append(SiblingFinder(self.folder, self.siblings, scratch))
        module = types.ModuleType(f"heddle_task_{next(_numbers)}")
        module.__file__ = os.path.join(scratch, os.path.basename(self.path))
        sys.modules[module.__name__] = module
        try:
            run_source(module, self.source, self.path)
        except BaseException as error:
            raise self.error(error, "the file could not be run") from error
        return module

    def line_of(self, error: BaseException) -> str:
        """``file:line`` of the task's own code that is nearest to an exception."""
        if isinstance(error, SyntaxError) and error.filename in self._known:
            return f"{error.filename}:{error.lineno or 1}"
        best = ""
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename in self._known:
                best = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
            trace = trace.tb_next
        return best or self.path

    def line_where(self, text: str) -> str:
        """``file:line`` of the first line that starts with `text` after blanks, else the file."""
        for number, line in enumerate(self.source.splitlines(), start=1):
            if line.lstrip().startswith(text):
                return f"{self.path}:{number}"
        return f"{self.path}:1"

    def error(self, error: BaseException, doing: str) -> OracleError:
        """An exception of the task's code as ``task_failed`` (or ``out_of_memory``)."""
        where = self.line_of(error)
        if isinstance(error, OracleError):
            where = error.where or where
            return OracleError(error.code, error.message, where, error.next_step, error.details)
        if is_out_of_memory(error):
            remedy = "make the inputs of get_inputs smaller, or raise the memory limit"
            return OracleError("out_of_memory", f"{doing}: {error}", where, remedy)
        if isinstance(error, SyntaxError):
            remedy = "a task is a Python file in KernelBench's format; correct this line"
            return OracleError("task_failed", f"this is not Python: {error.msg}", where, remedy)
        message = f"{doing}: {type(error).__name__}: {error}"
        return OracleError("task_failed", message, where, _remedy(error))


def _remedy(error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError):
        return f"install {error.name}, or put {error.name}.py beside the task file"
    if isinstance(error, SystemExit):
        return "a task file must not end the process; move that call under a __main__ check"
    if isinstance(error, FileNotFoundError):
        return "a task sees only the files beside it; put the file there"
    return "open the file at that line; `python FILE` with a call of forward shows the same error"


def require_callable(module: types.ModuleType, name: str, sources: Sources) -> Any:
    """A function or class that KernelBench's format asks for."""
    value = getattr(module, name, None)
    if value is None:
        remedies = {
            "Model": "name the reference module `class Model(nn.Module)`",
            "get_inputs": "add `def get_inputs():` that returns the list of forward's arguments, "
            "or a dict of them by name",
        }
        raise OracleError(
            "task_failed",
            f"the file defines no {name}",
            where=f"{sources.path}:1",
            next_step=remedies[name],
        )
    if not callable(value):
        raise OracleError(
            "task_failed",
            f"{name} is a {type(value).__name__}, not something to call",
            where=sources.line_where(name),
            next_step=f"make {name} a function or class",
        )
    return value
