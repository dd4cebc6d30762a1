# SPDX-License-Identifier: Apache-2.0
"""A task whose forward pass never returns, bounded by the oracle's own limit; a worker that never answers. More than a minute."""

from __future__ import annotations

import os
import signal

from heddle import TASK, Home

HANG = TASK.replace("        return torch.relu", "        while True:\n            pass\n        return torch.relu")


def test_a_forward_that_hangs_ends_with_a_sentence_and_leaves_nothing() -> None:
    assert HANG != TASK
    with Home() as home:
        answer = home.cli("lint", home.write_task(HANG, "hangs.py"), seconds=280)
        assert answer.code == 2, answer.text
        assert answer.report["error"]["code"] == "task_failed"
        assert "did not return" in answer.err and "next: " in answer.err, answer.text
        # The next task of the same worker is not held up.
        assert home.cli("lint", home.write_task()).code == 0
        home.stop_workers()
        assert not home.processes()


def test_a_worker_that_does_not_answer_is_named_and_not_waited_for() -> None:
    with Home() as home:
        task = home.write_task()
        assert home.cli("lint", task).code == 0
        worker = next(pid for pid, role in home.processes().items() if role == "worker")
        os.kill(worker, signal.SIGSTOP)
        answer = home.cli("lint", task, seconds=60)
        assert answer.code == 1, answer.text
        assert "does not answer" in answer.err and f"kill -9 {worker}" in answer.err, answer.text
        # What it says to do next helps.
        os.kill(worker, signal.SIGKILL)
        assert home.cli("lint", task).code == 0
