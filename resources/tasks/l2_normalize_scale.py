# SPDX-License-Identifier: Apache-2.0
"""Each row divided by its Euclidean norm, then multiplied by a learned gain."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, features: int) -> None:
        super().__init__()
        self.gain = nn.Parameter(8.0 + torch.randn(features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        norm = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        return x / torch.clamp(norm, min=1e-6) * self.gain


def get_inputs():
    return [torch.randn(4096, 1024)]


def get_init_inputs():
    return [1024]
