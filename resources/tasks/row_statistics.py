# SPDX-License-Identifier: Apache-2.0
"""Row reductions with three outputs: the sum, the variance and the largest absolute value."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        return x.sum(dim=-1), x.var(dim=-1, unbiased=False), x.abs().amax(dim=-1)


def get_inputs():
    return [torch.randn(2048, 2048)]


def get_init_inputs():
    return []
