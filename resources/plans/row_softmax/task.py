# SPDX-License-Identifier: Apache-2.0
"""Softmax over the last dimension of a scaled matrix; the scale is an ordinary number."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()

    def forward(self, x: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
        return torch.softmax(x * scale, dim=-1)


def get_inputs() -> list[object]:
    return [torch.randn(48, 200), 0.125]


def get_init_inputs() -> list[object]:
    return []
