# SPDX-License-Identifier: Apache-2.0
"""Exchange buffers on a GPU: allocations of their own that leave as file descriptors.

PyTorch's caching allocator puts many tensors into one segment, and a legacy IPC handle maps the
whole segment; so what a candidate may see is allocated here with ``cuMemCreate`` and wrapped as a
tensor by DLPack. Counterpart of core/runtime/cuda/ExchangeBuffer.h. Single-threaded.

``python -m heddle_oracle.cuda_exchange`` serves the run on a GPU (tests/gpu) on descriptor 3.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import os
import secrets
import time
from collections.abc import Sequence
from typing import Any

import torch

from heddle_oracle.channel import Channel
from heddle_oracle.errors import Code, OracleError
from heddle_oracle.service import Request, serve_methods

CHANNEL_FD = 3
_POSIX_FILE_DESCRIPTOR = 1
_READ_WRITE = 3
_DEVICE_MEMORY = 1
_PINNED = 1
#: kinds of memory in DLPack (dlpack.h, DLDeviceType)
_DL_HOST, _DL_CUDA = 1, 2
_DL_CODES = {  # DLDataTypeCode and bits
    torch.float32: (2, 32),
    torch.float64: (2, 64),
    torch.float16: (2, 16),
    torch.bfloat16: (4, 16),
    torch.int64: (0, 64),
    torch.int32: (0, 32),
    torch.int16: (0, 16),
    torch.int8: (0, 8),
    torch.uint8: (1, 8),
    torch.bool: (6, 8),
}


class _Location(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


class _Properties(ctypes.Structure):
    """CUmemAllocationProp."""

    _fields_ = [
        ("type", ctypes.c_int),
        ("requested_handle_types", ctypes.c_int),
        ("location", _Location),
        ("win32_meta_data", ctypes.c_void_p),
        ("flags", ctypes.c_ubyte * 8),
    ]


class _Access(ctypes.Structure):
    """CUmemAccessDesc."""

    _fields_ = [("location", _Location), ("flags", ctypes.c_int)]


class _DlDevice(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


class _DlType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _DlTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _DlDevice),
        ("ndim", ctypes.c_int),
        ("dtype", _DlType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _DlManaged(ctypes.Structure):
    """DLManagedTensor: the consumer calls the deleter when its tensor dies."""


_Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(_DlManaged))
_DlManaged._fields_ = [
    ("tensor", _DlTensor),
    ("context", ctypes.c_void_p),
    ("deleter", _Deleter),
]

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

#: what a tensor stands on, by the address of its DLManagedTensor; the deleter takes it out
_alive: dict[int, tuple[Any, ...]] = {}


def _let_go(managed: Any) -> None:
    _alive.pop(ctypes.addressof(managed.contents), None)


_let_go_from_c = _Deleter(_let_go)


def tensor_over(
    address: int, shape: Sequence[int], dtype: torch.dtype, device: int | None, keep: object
) -> torch.Tensor:
    """A contiguous tensor over memory that PyTorch did not allocate.

    ``device`` is the GPU's ordinal, None for host memory. ``keep`` lives until the last tensor
    that shares the storage has died.
    """
    if dtype not in _DL_CODES:
        raise OracleError("not_covered", f"an exchange buffer cannot hold {dtype}")
    code, bits = _DL_CODES[dtype]
    managed = _DlManaged()
    extents = (ctypes.c_int64 * max(len(shape), 1))(*shape)
    managed.tensor = _DlTensor(
        address,
        _DlDevice(_DL_HOST if device is None else _DL_CUDA, device or 0),
        len(shape),
        _DlType(code, bits, 1),
        ctypes.cast(extents, ctypes.POINTER(ctypes.c_int64)),
        None,  # row-major
        0,
    )
    managed.deleter = _let_go_from_c
    place = ctypes.addressof(managed)
    _alive[place] = (managed, extents, keep)
    try:
        return torch.utils.dlpack.from_dlpack(_new_capsule(place, b"dltensor", None))
    except BaseException:
        _alive.pop(place, None)
        raise


class Driver:
    """The few calls of CUDA's driver, on the primary context that PyTorch uses as well."""

    def __init__(self, device: int = 0, library: str = "libcuda.so.1") -> None:
        """Raises OracleError ``environment`` where there is no driver or no such device."""
        try:
            self._library = ctypes.CDLL(library)
        except OSError as error:
            raise OracleError(
                "environment",
                f"cannot open CUDA's driver: {error}",
                where=library,
                next_step="install NVIDIA's driver, or work on the cpu target",
            ) from error
        self.device = device
        self.call("cuInit", ctypes.c_uint(0))
        self._handle = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(self._handle), ctypes.c_int(device))
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self._handle)
        self.call("cuCtxSetCurrent", context)
        self._properties = _Properties(
            _PINNED, _POSIX_FILE_DESCRIPTOR, _Location(_DEVICE_MEMORY, device), None
        )

    def call(self, function: str, *arguments: Any) -> None:
        """Calls a function; a code other than 0 is an OracleError with CUDA's name."""
        status = int(getattr(self._library, function)(*arguments))
        if status == 0:
            return
        name = ctypes.c_char_p()
        self._library.cuGetErrorName(status, ctypes.byref(name))
        word = name.value.decode() if name.value else f"CUDA error {status}"
        code: Code = "out_of_memory" if status == 2 else "environment"
        raise OracleError(code, f"{function}: {word}", where="CUDA driver")

    def granularity(self) -> int:
        """Bytes: every allocation is a multiple of it."""
        size = ctypes.c_size_t()
        properties = ctypes.byref(self._properties)
        self.call("cuMemGetAllocationGranularity", ctypes.byref(size), properties, 0)
        return size.value

    def create(self, size: int) -> int:
        handle = ctypes.c_ulonglong()
        properties = ctypes.byref(self._properties)
        nothing = ctypes.c_ulonglong(0)
        self.call("cuMemCreate", ctypes.byref(handle), ctypes.c_size_t(size), properties, nothing)
        return handle.value

    def map(self, handle: int, size: int) -> int:
        """Maps a whole allocation readable and writable; the device address."""
        address = ctypes.c_ulonglong()
        length, nothing = ctypes.c_size_t(size), ctypes.c_ulonglong(0)
        alignment = ctypes.c_size_t(0)
        self.call("cuMemAddressReserve", ctypes.byref(address), length, alignment, nothing, nothing)
        try:
            offset = ctypes.c_size_t(0)
            owned = ctypes.c_ulonglong(handle)
            self.call("cuMemMap", address, length, offset, owned, nothing)
            access = _Access(_Location(_DEVICE_MEMORY, self.device), _READ_WRITE)
            count = ctypes.c_size_t(1)
            self.call("cuMemSetAccess", address, length, ctypes.byref(access), count)
        except OracleError:
            self._library.cuMemUnmap(address, length)
            self._library.cuMemAddressFree(address, length)
            raise
        return address.value

    def export(self, handle: int) -> int:
        """A descriptor that another process can import; the caller closes it."""
        fd = ctypes.c_int(-1)
        owned, nothing = ctypes.c_ulonglong(handle), ctypes.c_ulonglong(0)
        self.call(
            "cuMemExportToShareableHandle",
            ctypes.byref(fd),
            owned,
            _POSIX_FILE_DESCRIPTOR,
            nothing,
        )
        fcntl.fcntl(fd.value, fcntl.F_SETFD, fcntl.FD_CLOEXEC)
        return fd.value

    def release(self, address: int, handle: int, size: int) -> None:
        """Unmaps and lets go; failures are not reported, since the context may be lost."""
        if address:
            self._library.cuMemUnmap(ctypes.c_ulonglong(address), ctypes.c_size_t(size))
            self._library.cuMemAddressFree(ctypes.c_ulonglong(address), ctypes.c_size_t(size))
        self._library.cuMemRelease(ctypes.c_ulonglong(handle))

    def synchronise(self) -> None:
        self.call("cuCtxSynchronize")


class ExchangeBuffer:
    """Device memory that another process may map, and nothing else with it.

    Freed when the last tensor over it and this object have gone. Content is undefined at first;
    ``zero`` clears the whole allocation, the part beyond ``size`` included.
    """

    def __init__(self, driver: Driver, size: int, on_host: bool = False) -> None:
        """``on_host``: the driver's addresses are host memory (the fake driver of the tests)."""
        if size < 1:
            raise OracleError("invalid_input", f"an exchange buffer cannot have {size} bytes")
        step = driver.granularity()
        self._driver = driver
        self.size = size
        self.mapped = (size + step - 1) // step * step
        self._device = None if on_host else driver.device
        self._handle = driver.create(self.mapped)
        self._address = 0
        try:
            self._address = driver.map(self._handle, self.mapped)
        except OracleError:
            driver.release(0, self._handle, self.mapped)
            self._handle = 0
            raise

    def export_fd(self) -> int:
        return self._driver.export(self._handle)

    def zero(self) -> None:
        self._bytes(self.mapped).zero_()

    def tensor(self, shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        """A tensor at the start of the buffer, which it keeps alive. Raises if it is too large."""
        count = 1
        for extent in shape:
            count *= extent
        if count * dtype.itemsize > self.size:
            raise OracleError("invalid_input", f"shape {list(shape)} does not fit the buffer")
        return tensor_over(self._address, shape, dtype, self._device, self)

    def sha256(self) -> str:
        return hashlib.sha256(self._bytes(self.size).cpu().numpy().tobytes()).hexdigest()

    def _bytes(self, count: int) -> torch.Tensor:
        return tensor_over(self._address, [count], torch.uint8, self._device, self)

    def __del__(self) -> None:
        if getattr(self, "_handle", 0):
            self._driver.release(self._address, self._handle, self.mapped)


def driver_path() -> str:
    """The file behind libcuda.so.1 of this process, once it is loaded; empty if it is not."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            if "/libcuda.so" in line:
                return os.path.realpath(line.split(maxsplit=5)[5].strip())
    return ""


class _Rehearsal:
    """The oracle's part of the run on a GPU: secret inputs, and torch's own result."""

    def __init__(self) -> None:
        self._buffers: dict[str, ExchangeBuffer] = {}
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._digests: dict[str, str] = {}
        self._generator = torch.Generator().manual_seed(secrets.randbits(62))

    def open(self, request: Request) -> dict[str, Any]:
        rows, columns = request.need("rows", int), request.need("columns", int)
        library = request.optional("library", str, "libcuda.so.1")
        on_host = request.optional("on_host", bool, False)
        if not on_host:
            torch.cuda.init()
        driver = Driver(request.optional("device", int, 0), library)
        self._shapes = {
            "x": (rows, columns),
            "w": (columns,),
            "b": (columns,),
            "y": (rows, columns),
        }
        answers = []
        for name, shape in self._shapes.items():
            begun = time.perf_counter_ns()
            size = 4 * torch.Size(shape).numel()
            buffer = ExchangeBuffer(driver, size, on_host)
            created = time.perf_counter_ns()
            buffer.zero()
            if name == "y":  # poisoned: a stale or missing result shows
                buffer.tensor(shape, torch.float32).fill_(float("nan"))
            else:
                buffer.tensor(shape, torch.float32).copy_(self._secret(shape))
            driver.synchronise()
            exporting = time.perf_counter_ns()
            request.answer_fds.append(buffer.export_fd())
            exported = time.perf_counter_ns()
            self._buffers[name] = buffer
            self._digests[name] = buffer.sha256()
            answers.append(
                {
                    "name": name,
                    "bytes": size,
                    "mapped": buffer.mapped,
                    "sha256": self._digests[name],
                    "create_us": (created - begun) / 1e3,
                    "export_us": (exported - exporting) / 1e3,
                }
            )
        environment = {
            "torch": torch.__version__,
            "cuda": torch.version.cuda,
            "device": "host memory" if on_host else torch.cuda.get_device_name(driver.device),
            "driver": driver_path() or library,
            "pid": os.getpid(),
        }
        return {"buffers": answers, "environment": environment}

    def _secret(self, shape: Sequence[int]) -> torch.Tensor:
        return torch.randn(shape, generator=self._generator)

    def compare(self, request: Request) -> dict[str, Any]:
        """Against torch's own fp64 result; tolerance 1e-5 of the larger of 1 and that."""
        x, w, b, y = (
            self._buffers[name].tensor(shape, torch.float32) for name, shape in self._shapes.items()
        )
        v = x.double() * w.double() + b.double()
        expected = v * torch.sigmoid(1.702 * v)
        error = (y.double() - expected).abs()
        wrong = ~(error <= 1e-5 * expected.abs().clamp(min=1.0))
        inputs = [n for n in "xwb" if self._buffers[n].sha256() != self._digests[n]]
        return {
            "ok": not bool(wrong.any()) and not inputs,
            "wrong": int(wrong.sum()),
            "elements": y.numel(),
            "nonfinite": int((~torch.isfinite(y)).sum()),
            "max_abs": float(torch.nan_to_num(error, nan=1e30).max()),
            "inputs_changed": inputs,
        }

    def plant(self, request: Request) -> dict[str, Any]:
        """Fresh secret x and a poisoned y in the same buffers, as before every checked call."""
        begun = time.perf_counter_ns()
        x = self._buffers["x"]
        shape = self._shapes["x"]
        x.tensor(shape, torch.float32).copy_(self._secret(shape))
        self._buffers["y"].tensor(shape, torch.float32).fill_(float("nan"))
        x._driver.synchronise()
        planted = time.perf_counter_ns()
        self._digests["x"] = x.sha256()
        return {"plant_us": (planted - begun) / 1e3}


def main() -> None:
    rehearsal = _Rehearsal()
    handlers = {"open": rehearsal.open, "compare": rehearsal.compare, "plant": rehearsal.plant}
    serve_methods(Channel.from_fd(CHANNEL_FD), handlers)


if __name__ == "__main__":
    main()
