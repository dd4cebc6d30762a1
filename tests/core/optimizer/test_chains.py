# SPDX-License-Identifier: Apache-2.0
"""100 seeded chains: each candidate is right by the judge's rules, or is refused with a reason."""

from __future__ import annotations

import collections
import concurrent.futures
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import torch
from candidate_harness import NotCovered, check, graph_of, open_task, optimise
from chains import chain
from heddle_oracle.errors import OracleError

CHAINS = 100
#: Chains whose text is no valid model (a shape that does not broadcast) are drawn again.
DRAWN_AT_MOST = 400


def main() -> int:
    """Returns 1 when a chain is wrong, or too few are covered."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="heddle-chains-"))
    first = int(os.environ.get("HEDDLE_CHAIN_SEED", "0"))
    tasks, results = {}, collections.Counter()
    wrong, reasons = [], collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        waiting = []
        for seed in range(first, first + DRAWN_AT_MOST):
            if len(tasks) == CHAINS:
                break
            try:
                task = open_task(chain(seed), f"/chain_{seed}.py", seed)
            except OracleError:
                continue
            tasks[seed] = task
            graph = graph_of(task)
            if isinstance(graph, NotCovered):
                results["uncovered"] += 1
                reasons[graph.message] += 1
                continue
            waiting.append((seed, pool.submit(optimise, graph, folder / str(seed))))
        for seed, future in waiting:
            try:
                candidate = future.result()
            except RuntimeError as error:
                wrong.append((seed, str(error)))
                continue
            if isinstance(candidate, NotCovered):
                results["uncovered"] += 1
                reasons[candidate.message.splitlines()[0]] += 1
                continue
            torch.manual_seed(seed)
            found = check(tasks[seed], candidate, tasks[seed].draw_inputs(seed + 1))
            if found:
                wrong.append((seed, found))
            else:
                results["right"] += 1
    for seed, found in wrong:
        print(f"chain {seed} is wrong: {found}\n{chain(seed)}")
    for reason, count in reasons.items():
        print(f"uncovered ({count}): {reason}")
        if "not covered:" not in reason:
            wrong.append((-1, reason))
    print(f"{len(tasks)} chains: {dict(results)}, {len(wrong)} wrong; files in {folder}")
    return 1 if wrong or len(tasks) < CHAINS or results["right"] < 0.8 * CHAINS else 0


if __name__ == "__main__":
    sys.exit(main())
