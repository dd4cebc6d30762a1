// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace heddle {

/// The fixed part of an exported file; @NAME@ marks are filled in by exportModelNew().
inline constexpr const char *modelNewHead =
    R"py(# Made by Heddle from the task @TASK@ and the candidate @CANDIDATE@.
# It runs with PyTorch and a C++ compiler alone. The kernels below are compiled once, at first use.
@FUTURE@@SIBLINGS@# ---------------------------------------------------------------- the task, its forward left out
@REFERENCE@
@RESTORE@
# ---------------------------------------------------------------- the kernels
import ctypes as _ctypes
import glob as _glob
import hashlib as _hashlib
import inspect as _inspect
import os as _os
import subprocess as _subprocess
import tempfile as _tempfile
import warnings as _warnings
from collections import OrderedDict as _OrderedDict

import torch as _torch

_SOURCES = {}
@SOURCES@
_FLAGS = @FLAGS@
_DIGEST = "@DIGEST@"


def _processor():
    """What -march=native depends on: two machines with a shared home must not share a file."""
    fields = ("vendor_id", "cpu family", "model\t", "model name", "flags", "Features")
    relevant = ""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="surrogateescape") as info:
            for line in info:
                if line == "\n":
                    break
                if line.startswith(fields):
                    relevant += line
    except OSError:
        pass
    return _hashlib.sha256(relevant.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _object():
    """Path of the compiled kernels; compiles them if they are not there."""
    root = _os.environ.get("TORCH_EXTENSIONS_DIR") or _os.path.join(
        _os.path.expanduser("~"), ".cache", "torch_extensions"
    )
    key = _hashlib.sha256((_DIGEST + _processor()).encode()).hexdigest()[:24]
    folder = _os.path.join(root, "heddle_" + key)
    target = _os.path.join(folder, "kernels.so")
    if _os.path.exists(target):
        return target
    _os.makedirs(folder, exist_ok=True)
    compiler = _os.environ.get("CXX") or "g++"
    with _tempfile.TemporaryDirectory(dir=folder) as work:
        for name, text in _SOURCES.items():
            path = _os.path.join(work, name)
            _os.makedirs(_os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(text)
        try:
            done = _subprocess.run(
                [compiler, *_FLAGS], cwd=work, capture_output=True, text=True, errors="replace", check=False
            )
        except OSError as error:
            raise RuntimeError(
                f"cannot run the C++ compiler {compiler!r}: install g++, or set CXX to a compiler"
            ) from error
        if done.returncode != 0:
            raise RuntimeError(f"{compiler} does not compile the kernels of this file:\n{done.stderr}")
        # A rename, so that another process sees the whole file or none.
        _os.replace(_os.path.join(work, "kernels.so"), target)
    return target


def _load():
    """The function that runs all steps, with the OpenMP runtime that PyTorch itself uses."""
    bundled = _glob.glob(_os.path.join(_os.path.dirname(_torch.__file__), "lib", "libgomp*.so*"))
    bundled += _glob.glob(_os.path.join(_os.path.dirname(_torch.__file__) + ".libs", "libgomp*.so*"))
    _ctypes.CDLL((bundled or ["libgomp.so.1"])[0], mode=_ctypes.RTLD_GLOBAL)
    function = _ctypes.CDLL(_object()).heddle_run
    function.restype = _ctypes.c_int
    return function


_run = None
_Pointers = _ctypes.c_void_p * @POINTERS@
_Tensor = _torch.Tensor
_empty = _torch.empty
_is_grad_enabled = _torch.is_grad_enabled
@DTYPES@

def _refuse(name, tensor, dtype, shape):
    """Raises with the reason why this file's kernels must not see the tensor."""
    if not isinstance(tensor, _torch.Tensor):
        raise TypeError(f"{name} must be a tensor, not {type(tensor).__name__}")
    if tensor.device.type != "cpu":
        raise RuntimeError(f"{name} is on {tensor.device}: these kernels run on the cpu")
    if tensor.dtype is not dtype:
        raise TypeError(f"{name} is {tensor.dtype}: these kernels were made for {dtype}")
    if tensor.shape != shape:
        raise ValueError(
            f"{name} has the shape {tuple(tensor.shape)}: these kernels were judged for {shape}"
        )
    raise RuntimeError(
        f"{name} needs a gradient: these kernels are forward only; call them under torch.no_grad()"
    )


def _refuse_state(name, tensor, dtype, shape, is_updated):
    """The same for a parameter or buffer; returns a contiguous copy where that is all it takes."""
    if tensor.device.type != "cpu" or tensor.dtype is not dtype or tensor.shape != shape:
        _refuse(name, tensor, dtype, shape)
    if is_updated:
        raise RuntimeError(f"{name} is updated in place and must be contiguous")
    return tensor.contiguous()


def _refuse_value(name, value, expected):
    raise ValueError(f"{name} is {value!r}: these kernels were judged with {expected!r}")


def _refuse_default(name, value):
    """For what the judged call left at its default: only the default is covered, whoever spells it out."""
    default = _DEFAULTS[name]
    if type(value) is not type(default) or isinstance(value, _Tensor) or value != default:
        raise ValueError(f"{name} is {value!r}: these kernels were judged with its default, {default!r}")


def _refuse_call(name, given, expected):
    raise TypeError(f"*{name} holds {given!r}: these kernels were judged with {expected!r}")


def _bind(module):
    """At the first call: finds the dictionaries that hold the state, so that a call costs one look-up each."""
    found = []
    for path in _STATE:
        owner = module
        *parents, leaf = path.split(".")
        for name in parents:
            owner = owner._modules[name]
        found.append(owner._parameters if leaf in owner._parameters else owner._buffers)
    if _is_grad_enabled() and any(p.requires_grad for p in module.parameters()):
        _warnings.warn(
            "ModelNew is forward only: its parameters get no gradients; use torch.no_grad()", stacklevel=3
        )
    module.__dict__["_heddle_state"] = found
    return found


_STATE = @STATE@


class ModelNew(_torch.nn.Module):
    """The task's Model with a compiled forward: same constructor, same parameters, same result."""

    def __init__(self, *args, **kwargs):
        super().__init__()
        reference = _Reference(*args, **kwargs)
        for name, parameter in reference._parameters.items():
            self.register_parameter(name, parameter)
        for name, buffer in reference._buffers.items():
            self.register_buffer(name, buffer, name not in reference._non_persistent_buffers_set)
        for name, child in reference._modules.items():
            self.add_module(name, child)
        self.training = reference.training
@EVAL@        self._heddle_mode = @MODE@
        global _run
        if _run is None:
            _run = _load()

    def __getstate__(self):
        # Found again after a copy: the dictionaries belong to this very module.
        return {k: v for k, v in self.__dict__.items() if k != "_heddle_state"}

    def __setstate__(self, state):
        super().__setstate__(state)
        global _run
        if _run is None:  # unpickled in another process, where no constructor ran
            _run = _load()

@FORWARD@

_DEFAULTS = {name: parameter.default for name, parameter in _inspect.signature(ModelNew.forward).parameters.items()}
)py";

/// Stands before the task where it imports files beside it: they are found in this file, not on the disk, and leave
/// nothing in sys.modules that another file of the same name would be mistaken for.
inline constexpr const char *modelNewSiblings =
    R"py(# ---------------------------------------------------------------- the files that the task imports
import importlib.abc as _abc
import importlib.util as _util
import sys as _sys

_SIBLINGS = {}
@TEXTS@

class _Siblings(_abc.MetaPathFinder, _abc.Loader):
    """Finds a sibling of the task by its name, while the task below is read."""

    def find_spec(self, name, path=None, target=None):
        return _util.spec_from_loader(name, self) if name in _SIBLINGS else None

    def exec_module(self, module):
        exec(compile(_SIBLINGS[module.__name__], module.__name__ + ".py", "exec", dont_inherit=True), module.__dict__)


_siblings = _Siblings()
_hidden = {name: _sys.modules.pop(name) for name in _SIBLINGS if name in _sys.modules}
_sys.meta_path.insert(0, _siblings)
)py";

inline constexpr const char *modelNewRestore =
    R"py(_sys.meta_path.remove(_siblings)
for _name in _SIBLINGS:
    _sys.modules.pop(_name, None)
_sys.modules.update(_hidden)
)py";

} // namespace heddle
