# SPDX-License-Identifier: Apache-2.0
"""Each shipped task renamed, reshaped and re-typed: covered ones stay right, others stay named."""

from __future__ import annotations

import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import torch
from candidate_harness import ROOT, NotCovered, check, graph_of, open_task, optimise
from heddle_oracle.errors import OracleError

#: Tasks whose matrix products, convolutions and recurrences the first optimiser leaves alone.
UNCOVERED = {"conv_block": "conv2d", "mlp_block": "linear", "gated_recurrence": "stack"}


def renamed(source: str) -> str:
    """Other names for the inputs and for the attributes of the model."""
    for name in sorted(set(re.findall(r"self\.(\w+)", source)), key=len, reverse=True):
        source = re.sub(rf"self\.{name}\b", f"self.zz_{name}", source)
    signature = re.search(r"def forward\(\s*self,(.*?)\)\s*->", source, re.S)
    for name in re.findall(r"(\w+)\s*:", signature.group(1)) if signature else []:
        source = re.sub(rf"(?<![.\w]){name}(?!\w|=)", f"q_{name}", source)
    return source


def reshaped(source: str) -> str:
    """Smaller, odder sizes: the leading sizes of inputs become 3, the last even one stays."""

    def smaller(match: re.Match[str]) -> str:
        sizes = match.group(2).split(",")
        if len(sizes) > 1 and len(sizes[0].strip()) > 1:
            sizes[0] = "5"
        return f"{match.group(1)}({','.join(sizes)})"

    head, tail = source.split("def get_inputs", 1)
    body, rest = tail.split("def get_init_inputs", 1)
    body = re.sub(r"(torch\.randn?)\(([\d, ]+)\)", smaller, body)
    return head + "def get_inputs" + body + "def get_init_inputs" + rest


def retyped(source: str) -> str:
    """Model and float inputs in bfloat16."""
    return (
        source.replace("class Model(nn.Module)", "class Inner(nn.Module)")
        + """


class Model(Inner):
    def __init__(self, *args):
        super().__init__(*args)
        self.to(torch.bfloat16)


_inputs = get_inputs


def get_inputs():
    return [
        x.to(torch.bfloat16) if isinstance(x, torch.Tensor) and x.is_floating_point() else x
        for x in _inputs()
    ]
"""
    )


def main() -> int:
    """Returns 1 when a variant is wrong or its coverage changes."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="heddle-variants-"))
    faults, checked = [], 0
    for path in sorted((ROOT / "resources" / "tasks").glob("*.py")):
        for change in (renamed, reshaped, retyped):
            label = f"{path.stem} {change.__name__}"
            try:
                task = open_task(change(path.read_text()), f"/{path.stem}_variant.py")
            except OracleError as error:
                if change is reshaped:  # a size that the model itself cannot take
                    print(f"{label}: no such task: {error.message}")
                    continue
                faults.append(f"{label}: {error.message}")
                continue
            graph = graph_of(task)
            outcome = graph if isinstance(graph, NotCovered) else optimise(
                graph, folder / label.replace(" ", "_")
            )  # fmt: skip
            if isinstance(outcome, NotCovered):
                if UNCOVERED.get(path.stem, "\0") not in outcome.message:
                    faults.append(f"{label}: {outcome.message}")
                continue
            torch.manual_seed(7)
            found = check(task, outcome, task.draw_inputs(7))
            checked += 1
            if path.stem in UNCOVERED:
                found = "covered, but listed as uncovered"
            if found:
                faults.append(f"{label}: {found}")
    print("\n".join(faults))
    print(f"{checked} variants checked, {len(faults)} at fault; files in {folder}")
    return 1 if faults or checked < 40 else 0


if __name__ == "__main__":
    sys.exit(main())
