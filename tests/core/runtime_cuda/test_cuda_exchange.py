# SPDX-License-Identifier: Apache-2.0
"""Exchange buffers of the oracle, over the fake driver, whose device memory is host memory."""

from __future__ import annotations

import ctypes
import fcntl
import gc
import mmap
import os
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from heddle_oracle.cuda_exchange import Driver, ExchangeBuffer, tensor_over
from heddle_oracle.errors import OracleError

FAKE = os.environ["HEDDLE_FAKE_CUDA"]
GRANULE = 2 << 20


@pytest.fixture
def fake() -> Iterator[Any]:
    library = ctypes.CDLL(FAKE)
    library.heddle_fake_reset()
    yield library
    library.heddle_fake_reset()
    gc.collect()
    assert library.heddle_fake_live() == 0


def make(size: int) -> ExchangeBuffer:
    return ExchangeBuffer(Driver(0, FAKE), size, on_host=True)


def test_a_missing_driver_is_an_error_with_a_remedy() -> None:
    with pytest.raises(OracleError) as caught:
        Driver(0, "libheddle-no-such-driver.so.1")
    assert caught.value.code == "environment"
    assert "driver" in caught.value.next_step


def test_the_descriptor_shows_exactly_the_tensors_bytes(fake: Any) -> None:
    buffer = make(24)
    buffer.zero()
    buffer.tensor([2, 3], torch.float32).copy_(torch.arange(6).reshape(2, 3))
    fd = buffer.export_fd()
    assert fcntl.fcntl(fd, fcntl.F_GETFD) & fcntl.FD_CLOEXEC
    with mmap.mmap(fd, 0) as seen:
        assert len(seen) == buffer.mapped == GRANULE
        assert torch.frombuffer(bytearray(seen[:24]), dtype=torch.float32).tolist() == [0, 1, 2, 3, 4, 5]
        assert not any(seen[24:])
        seen[0:4] = b"\x00\x00\x80\x3f"
    os.close(fd)
    assert buffer.tensor([1], torch.float32).item() == 1.0


def test_a_tensor_keeps_the_memory_alive_and_the_last_one_frees_it(fake: Any) -> None:
    buffer = make(4096)
    tensor = buffer.tensor([1024], torch.float32)
    view = tensor.view(32, 32)[1:]
    view.fill_(7)
    del buffer, tensor
    gc.collect()
    assert fake.heddle_fake_live() == 3
    assert view.sum().item() == 7 * 31 * 32
    del view
    gc.collect()
    assert fake.heddle_fake_live() == 0


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int8, torch.uint8, torch.bool]
)
def test_each_dtype_arrives_as_itself(fake: Any, dtype: torch.dtype) -> None:
    buffer = make(64)
    values = torch.tensor([0, 1, 1, 0], dtype=torch.int32).to(dtype)
    tensor = buffer.tensor([2, 2], dtype)
    tensor.copy_(values.view(2, 2))
    assert tensor.dtype == dtype
    assert tensor.is_contiguous()
    assert torch.equal(tensor.flatten(), values)


def test_a_scalar_and_an_empty_tensor_have_their_shapes(fake: Any) -> None:
    buffer = make(8)
    assert buffer.tensor([], torch.float32).shape == ()
    assert buffer.tensor([0, 4], torch.float32).shape == (0, 4)


def test_a_shape_beyond_the_buffer_is_refused(fake: Any) -> None:
    buffer = make(16)
    with pytest.raises(OracleError) as caught:
        buffer.tensor([5], torch.float32)
    assert caught.value.code == "invalid_input"


def test_an_unknown_dtype_is_named(fake: Any) -> None:
    with pytest.raises(OracleError) as caught:
        tensor_over(4096, [1], torch.complex64, None, None)
    assert "complex64" in caught.value.message


@pytest.mark.parametrize("step", ["cuMemCreate", "cuMemAddressReserve", "cuMemMap", "cuMemSetAccess"])
def test_a_failing_step_leaves_nothing_behind(fake: Any, step: str) -> None:
    fake.heddle_fake_fail(step.encode(), 2)
    with pytest.raises(OracleError) as caught:
        make(64)
    assert caught.value.code == "out_of_memory"
    assert "CUDA_ERROR_OUT_OF_MEMORY" in caught.value.message
    assert step in caught.value.message
    assert fake.heddle_fake_live() == 0
