# SPDX-License-Identifier: Apache-2.0
"""Group norm and SiLU, the pair in front of each convolution of a diffusion network."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self, groups: int, channels: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(groups, channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.silu(self.norm(x))


def get_inputs():
    return [torch.randn(8, 128, 64, 64)]


def get_init_inputs():
    return [16, 128]
