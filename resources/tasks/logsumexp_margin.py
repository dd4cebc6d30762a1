# SPDX-License-Identifier: Apache-2.0
"""How far each row's best score is below the row's soft maximum at a temperature."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, temperature: float) -> None:
        super().__init__()
        self.temperature = temperature

    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        scaled = scores / self.temperature
        return torch.logsumexp(scaled, dim=-1) - scaled.amax(dim=-1)


def get_inputs():
    return [4.0 * torch.randn(2048, 4000)]


def get_init_inputs():
    return [0.7]
