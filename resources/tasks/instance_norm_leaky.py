# SPDX-License-Identifier: Apache-2.0
"""Instance norm with affine parameters, leaky ReLU and a residual."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.InstanceNorm2d(channels, affine=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + F.leaky_relu(self.norm(x), 0.1)


def get_inputs():
    return [torch.randn(8, 64, 56, 56)]


def get_init_inputs():
    return [64]
