# SPDX-License-Identifier: Apache-2.0
"""A recurrence that cannot run in parallel over time: h = tanh(decay * h + x[t])."""

import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self, features: int) -> None:
        super().__init__()
        self.decay = nn.Parameter(torch.rand(features))


class Model(nn.Module):
    def __init__(self, features: int) -> None:
        super().__init__()
        self.cell = Cell(features)
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        self.calls += 1
        hidden = torch.zeros_like(x[0])
        states = []
        for step in x:
            hidden = torch.tanh(self.cell.decay * hidden + step)
            states.append(hidden)
        return torch.stack(states), hidden


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(12, 4, 40)]


def get_init_inputs() -> list[int]:
    return [40]
