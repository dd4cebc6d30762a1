# SPDX-License-Identifier: Apache-2.0
"""FLOPs and memory traffic of one eager call."""

from __future__ import annotations

from torch.utils.flop_counter import FlopCounterMode

from heddle_oracle.task import Task
from heddle_oracle.traffic import tensor_bytes


def count(task: Task) -> dict[str, int]:
    """{flops, bytes_min, bytes_eager} of one call as constructed.

    `flops`: matrix products and convolutions by their formulas, other operators by traffic.py.
    `bytes_min`: inputs and state read once, outputs and updates written once. `bytes_eager`: the
    sum over operators of what each reads and writes.
    """
    matrix = FlopCounterMode(display=False)
    inputs = [t.clone() for t in task.sample_inputs()]
    try:
        with matrix:
            outputs = task.forward(inputs)
    finally:
        task.restore_state()
    read = [*task.sample_inputs(), *task.state_tensors]
    written = [t for _, t in outputs] + [task.state_tensors[i] for i in task.update_indices]
    return {
        "flops": int(matrix.get_total_flops()) + task.traffic.element_flops,
        "bytes_min": sum(tensor_bytes(t) for t in (*read, *written)),
        "bytes_eager": task.traffic.bytes,
    }
