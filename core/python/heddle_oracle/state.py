# SPDX-License-Identifier: Apache-2.0
"""A module's parameters and buffers by the place that holds them."""

from __future__ import annotations

from collections.abc import Sequence

import torch


class StatePlace:
    """Where a module tree holds one parameter or buffer; forward may bind another tensor there."""

    def __init__(self, owner: torch.nn.Module, attribute: str) -> None:
        self._owner = owner
        self._attribute = attribute

    def tensor(self) -> torch.Tensor:
        value: torch.Tensor = getattr(self._owner, self._attribute)
        return value

    def bind(self, tensor: torch.Tensor) -> None:
        setattr(self._owner, self._attribute, tensor)


def state_places(model: torch.nn.Module) -> dict[str, StatePlace]:
    """Parameters, then buffers, by name; of tied tensors the first name only."""
    places = {}
    for name, _ in (*model.named_parameters(), *model.named_buffers()):
        path, _, attribute = name.rpartition(".")
        places[name] = StatePlace(model.get_submodule(path), attribute)
    return places


def copy_state(targets: Sequence[torch.Tensor], values: Sequence[torch.Tensor]) -> None:
    """Copies values into a model's own tensors, in place."""
    with torch.no_grad():
        for target, value in zip(targets, values, strict=True):
            target.copy_(value)
