# SPDX-License-Identifier: Apache-2.0
"""A task whose forward pass never returns: bounded by the oracle's own limit, so this takes more than a minute."""

from __future__ import annotations

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
