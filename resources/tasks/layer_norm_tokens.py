# SPDX-License-Identifier: Apache-2.0
"""Layer norm over the features of a batch of token sequences."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, features: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x)


def get_inputs():
    return [torch.randn(16, 512, 768)]


def get_init_inputs():
    return [768]
