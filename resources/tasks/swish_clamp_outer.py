# SPDX-License-Identifier: Apache-2.0
"""Broadcasting from both sides: a column and a row make a matrix, added to x, swish, clamp."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, beta: float, limit: float) -> None:
        super().__init__()
        self.beta = beta
        self.limit = limit

    def forward(self, x: torch.Tensor, row: torch.Tensor, column: torch.Tensor) -> torch.Tensor:
        h = x + row + column
        h = h * torch.sigmoid(self.beta * h)
        return torch.clamp(h, -self.limit, self.limit)


def get_inputs():
    return [torch.randn(1500, 2000), torch.randn(2000), torch.randn(1500, 1)]


def get_init_inputs():
    return [1.5, 3.0]
