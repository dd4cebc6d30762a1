# SPDX-License-Identifier: Apache-2.0
"""A bias added along the last dimension, then GELU (the erf form)."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, features: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.randn(features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.gelu(x + self.bias)


rows = 64
features = 96


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(rows, features)]


def get_init_inputs() -> list[int]:
    return [features]
