# SPDX-License-Identifier: Apache-2.0
"""Below a folder that nobody else may enter, as root's home is, each rung measures torch.compile."""

from __future__ import annotations

import pytest
from heddle import Home


@pytest.mark.parametrize("rung", ["bubblewrap", "landlock"])
def test_a_rung_measures_every_baseline_below_a_closed_home(rung: str) -> None:
    with Home() as home:
        home.folder.chmod(0o700)
        forced = {"HEDDLE_SANDBOX": "landlock"} if rung == "landlock" else {}
        answer = home.cli("baseline", home.write_task(), environment=forced)
        if answer.code == 1 and "sandbox" in answer.err:
            pytest.skip(f"{rung} does not hold on this machine: {answer.err}")
        assert answer.code == 0, answer.text
        assert "compile" not in answer.report["skipped"], answer.report["skipped"]
        assert answer.report["baselines"]["compile"]["median_ms"] > 0
