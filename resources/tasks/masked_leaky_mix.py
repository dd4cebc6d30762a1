# SPDX-License-Identifier: Apache-2.0
"""A boolean mask chooses between a leaky branch and a tanh branch; the power is an integer input."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self, slope: float) -> None:
        super().__init__()
        self.slope = slope

    def forward(self, x: torch.Tensor, keep: torch.Tensor, power: int = 2) -> torch.Tensor:
        kept = F.leaky_relu(x, self.slope) - 0.5
        other = torch.tanh(x) ** power
        return torch.where(keep, kept, other)


def get_inputs():
    return [torch.randn(32, 128, 384), torch.rand(32, 128, 384) < 0.7, 3]


def get_init_inputs():
    return [0.2]
