# SPDX-License-Identifier: Apache-2.0
"""Rows that no second-level cache holds: their moments in one pass are as right as eager's, on hard data too."""

from __future__ import annotations

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import torch
from candidate_harness import NotCovered, check, graph_of, open_task, optimise

SOURCE = """
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = {norm}

    def forward(self, x):
        return {forward}


def get_inputs():
    return [torch.randn({shape})]


def get_init_inputs():
    return []
"""
CASES = {
    "layer norm": ("nn.LayerNorm([8, 128, 128])", "self.norm(x)", "3, 8, 128, 128"),
    "group norm": ("nn.GroupNorm(2, 8)", "self.norm(x)", "2, 8, 160, 160"),
    "batch norm": ("nn.BatchNorm2d(3)", "self.norm(x)", "5, 3, 130, 130"),
    "instance norm": ("nn.InstanceNorm2d(3)", "self.norm(x)", "2, 3, 260, 260"),
    "variance": ("nn.Identity()", "x.var(dim=-1), x.std(dim=-1, correction=0)", "4, 100003"),
    "softmax and logsumexp": ("nn.Identity()", "torch.softmax(x, dim=-1), torch.logsumexp(x, -1)", "2, 100003"),
    "online softmax, a row": ("nn.Identity()", "torch.softmax(3 * x + 1, dim=-1)", "2, 300001"),
    "online softmax, rows": ("nn.Identity()", "torch.log_softmax(x, dim=-1)", "17, 70001"),
}


def hardened(x: torch.Tensor, kind: str) -> torch.Tensor:
    """The inputs far from zero, or with a few elements far from all others."""
    if kind == "far mean":
        return x + 300.0
    if kind == "outliers":
        y = x.clone()
        y.view(-1)[:: max(1, y.numel() // 7)] = 2e3
        return y
    if kind == "infinities":  # whole blocks of a row, and the first row, masked
        y = x.clone()
        y[:, :20000] = -torch.inf
        y[:, 50000:] = -torch.inf
        y[0] = -torch.inf
        return y
    if kind == "rising":  # each block has a new maximum
        return x + torch.linspace(-3e3, 3e3, x.shape[-1])
    return x


def main() -> int:
    """Returns 1 when a case is wrong, uncovered, or reads its rows once for each moment."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="heddle-long-rows-"))
    faults = []
    for label, (norm, forward, shape) in CASES.items():
        source = SOURCE.format(norm=norm, forward=forward, shape=shape)
        task = open_task(source, f"/{label.replace(' ', '_')}.py")
        graph = graph_of(task)
        outcome = graph if isinstance(graph, NotCovered) else optimise(
            graph, folder / label.replace(" ", "_")
        )  # fmt: skip
        if isinstance(outcome, NotCovered):
            faults.append(f"{label}: {outcome.message}")
            continue
        if "norm" in label and "stage 2" in outcome.fusion:
            faults.append(f"{label}: mean and variance are not taken in one pass:\n{outcome.fusion}")
        is_online = "for (int64_t block" in outcome.source and "rescaled" in outcome.source
        if is_online != label.startswith("online"):
            faults.append(f"{label}: maximum and sum are {'' if is_online else 'not '}taken in one pass:\n{outcome.source}")
        more = ("infinities", "rising") if label.startswith("online") else ()
        for kind in ("plain", "far mean", "outliers", *more):
            torch.manual_seed(3)
            found = check(task, outcome, [hardened(x, kind) for x in task.draw_inputs(3)])
            if found:
                faults.append(f"{label}, {kind}: {found}")
    print("\n".join(faults))
    print(f"{len(CASES)} cases, {len(faults)} faults; files in {folder}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
