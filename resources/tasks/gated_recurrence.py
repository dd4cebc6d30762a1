# SPDX-License-Identifier: Apache-2.0
"""A recurrence over 64 time steps: each state depends on the last one."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, features: int) -> None:
        super().__init__()
        self.decay_bias = nn.Parameter(torch.randn(features))

    def forward(self, x: torch.Tensor, decay: torch.Tensor) -> torch.Tensor:
        keep = torch.sigmoid(decay + self.decay_bias)
        state = torch.zeros_like(x[:, 0])
        states = []
        for step in range(x.shape[1]):
            state = keep[:, step] * state + (1.0 - keep[:, step]) * x[:, step]
            states.append(state)
        return torch.stack(states, dim=1)


def get_inputs():
    return [torch.randn(32, 64, 512), torch.randn(32, 64, 512)]


def get_init_inputs():
    return [512]
