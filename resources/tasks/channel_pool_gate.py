# SPDX-License-Identifier: Apache-2.0
"""A reduction over the two inner dimensions whose mean and maximum gate the map that they came from."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.mean_weight = nn.Parameter(torch.randn(channels, 1, 1))
        self.peak_weight = nn.Parameter(0.2 * torch.randn(channels, 1, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mean = x.mean(dim=(2, 3), keepdim=True)
        peak = x.amax(dim=(2, 3), keepdim=True)
        return x * torch.sigmoid(mean * self.mean_weight + peak * self.peak_weight)


def get_inputs():
    return [torch.randn(16, 64, 64, 64)]


def get_init_inputs():
    return [64]
