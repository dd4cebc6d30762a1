# SPDX-License-Identifier: Apache-2.0
"""Two feature maps blended by a sigmoid gate that has one value for each channel and sample."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.gate_bias = nn.Parameter(torch.randn(1, channels, 1, 1))

    def forward(self, left: torch.Tensor, right: torch.Tensor, gate: torch.Tensor) -> torch.Tensor:
        weight = torch.sigmoid(gate + self.gate_bias)
        return weight * left + (1.0 - weight) * right


def get_inputs():
    return [
        torch.randn(8, 96, 56, 56),
        torch.randn(8, 96, 56, 56),
        torch.randn(8, 96, 1, 1),
    ]


def get_init_inputs():
    return [96]
