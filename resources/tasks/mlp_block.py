# SPDX-License-Identifier: Apache-2.0
"""Two linear layers with GELU between: matrix products, which the first optimiser leaves alone."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.up = nn.Linear(features, hidden)
        self.down = nn.Linear(hidden, features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(F.gelu(self.up(x)))


def get_inputs():
    return [torch.randn(1024, 512)]


def get_init_inputs():
    return [512, 1024]
