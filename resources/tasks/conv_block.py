# SPDX-License-Identifier: Apache-2.0
"""A 3x3 convolution, batch norm in training mode and ReLU."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, inner: int, outer: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inner, outer, kernel_size=3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(outer)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.norm(self.conv(x)))


def get_inputs():
    return [torch.randn(8, 32, 56, 56)]


def get_init_inputs():
    return [32, 48]
