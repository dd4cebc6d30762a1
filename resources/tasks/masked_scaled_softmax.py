# SPDX-License-Identifier: Apache-2.0
"""Attention weights: scores scaled, masked by a boolean mask, softmax over the keys."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, head_size: int) -> None:
        super().__init__()
        self.scale = head_size**-0.5

    def forward(self, scores: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        scores = (scores * self.scale).masked_fill(hidden, -1e9)
        return torch.softmax(scores, dim=-1)


def get_inputs():
    length = 384
    hidden = torch.triu(torch.ones(length, length, dtype=torch.bool), diagonal=1)
    return [8.0 * torch.randn(4, 8, length, length), hidden]


def get_init_inputs():
    return [64]
