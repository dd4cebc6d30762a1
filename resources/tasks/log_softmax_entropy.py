# SPDX-License-Identifier: Apache-2.0
"""A dict of two outputs: log-probabilities over the classes and the entropy of each row."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self, classes: int) -> None:
        super().__init__()
        self.prior = nn.Parameter(torch.randn(classes))

    def forward(self, logits: torch.Tensor) -> dict[str, torch.Tensor]:
        log_probs = F.log_softmax(logits + self.prior, dim=-1)
        entropy = -(log_probs.exp() * log_probs).sum(dim=-1)
        return {"log_probs": log_probs, "entropy": entropy}


def get_inputs():
    return [3.0 * torch.randn(2048, 1000)]


def get_init_inputs():
    return [1000]
