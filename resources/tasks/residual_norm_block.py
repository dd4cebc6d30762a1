# SPDX-License-Identifier: Apache-2.0
"""A small block: bias and residual added, layer norm, GELU, a layer scale. Two outputs."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self, features: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(0.1 * torch.randn(features))
        self.norm = nn.LayerNorm(features)
        self.layer_scale = nn.Parameter(0.5 * torch.ones(features))

    def forward(
        self, x: torch.Tensor, residual: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        stream = x + self.bias + residual
        return F.gelu(self.norm(stream)) * self.layer_scale, stream


def get_inputs():
    return [torch.randn(8, 512, 640), torch.randn(8, 512, 640)]


def get_init_inputs():
    return [640]
