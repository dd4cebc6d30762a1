# SPDX-License-Identifier: Apache-2.0
"""An element-wise chain: a scale and a shift per channel, then GELU."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(1.0 + 0.1 * torch.randn(channels))
        self.shift = nn.Parameter(0.1 * torch.randn(channels))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.gelu(x * self.scale + self.shift)


def get_inputs():
    return [torch.randn(2048, 1536)]


def get_init_inputs():
    return [1536]
