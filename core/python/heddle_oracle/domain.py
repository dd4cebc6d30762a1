# SPDX-License-Identifier: Apache-2.0
"""What values an input may take, inferred from several draws of get_inputs()."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

STRUCTURES = ("lower_triangular", "upper_triangular", "diagonal", "symmetric", "sorted")


@dataclass
class Domain:
    """One input's domain. Figures are over all draws; `structures` held in each of them."""

    kind: str  # "float", "integer" or "boolean"
    low: float
    high: float
    mean: float
    std: float
    constant: bool  # the same values in every draw
    nonnegative: bool
    unit_interval: bool  # within [0, 1]
    rows_sum_to_one: bool
    density: float  # share of true values of a mask
    structures: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "low": self.low,
            "high": self.high,
            "constant": self.constant,
            "nonnegative": self.nonnegative,
            "unit_interval": self.unit_interval,
            "rows_sum_to_one": self.rows_sum_to_one,
            "structures": self.structures,
        }

    @property
    def limits_values(self) -> bool:
        """Whether a signed normal draw would leave the domain."""
        return self.nonnegative or bool(self.structures) or self.constant


def infer(draws: Sequence[torch.Tensor]) -> Domain:
    """The domain that these draws of one input stay within."""
    first = draws[0]
    kind = "float" if first.is_floating_point() else "integer"
    if first.dtype == torch.bool:
        kind = "boolean"
    if first.numel() == 0:
        return Domain(kind, 0.0, 0.0, 0.0, 0.0, True, False, False, False, 0.0)
    wide = [d.double() if kind != "float" else d.float() for d in draws]
    low = min(float(d.amin()) for d in wide)
    high = max(float(d.amax()) for d in wide)
    finite = [d.nan_to_num(0.0, 0.0, 0.0) for d in wide]
    mean = sum(float(d.mean()) for d in finite) / len(finite)
    std = max(float(d.std(correction=0)) for d in finite)
    constant = all(torch.equal(first, d) for d in draws[1:])
    floats = kind == "float"
    return Domain(
        kind=kind,
        low=low,
        high=high,
        mean=mean,
        std=std,
        constant=constant,
        nonnegative=floats and low >= 0.0,
        unit_interval=floats and low >= 0.0 and high <= 1.0,
        rows_sum_to_one=floats and low >= 0.0 and all(_rows_sum_to_one(d) for d in wide),
        density=mean if kind == "boolean" else 0.0,
        structures=[name for name in STRUCTURES if all(holds(name, d) for d in draws)],
    )


def _rows_sum_to_one(tensor: torch.Tensor) -> bool:
    if tensor.dim() == 0 or tensor.shape[-1] < 2:
        return False
    return bool(((tensor.sum(dim=-1) - 1.0).abs() < 1e-3).all())


def holds(name: str, tensor: torch.Tensor) -> bool:
    """Whether a tensor (or each matrix of a batch) has a structure worth exploiting."""
    if name == "sorted":
        if tensor.dim() == 0 or tensor.shape[-1] < 3 or tensor.dtype == torch.bool:
            return False
        steps = tensor[..., 1:] >= tensor[..., :-1]
        return bool(steps.all()) and not bool((tensor[..., 1:] == tensor[..., :-1]).all())
    if tensor.dim() < 2 or tensor.shape[-1] != tensor.shape[-2] or tensor.shape[-1] < 3:
        return False
    # Cheap first look: most matrices fail on a corner, and the whole is large.
    corner = tensor[..., :3, :3]
    return _holds_square(name, corner) and _holds_square(name, tensor)


def _holds_square(name: str, tensor: torch.Tensor) -> bool:
    below = bool((torch.tril(tensor, -1) == 0).all())
    above = bool((torch.triu(tensor, 1) == 0).all())
    if name == "diagonal":
        return below and above
    if name == "lower_triangular":
        return above and not below
    if name == "upper_triangular":
        return below and not above
    return not below and not above and torch.equal(tensor, tensor.transpose(-1, -2))


def impose(structures: Sequence[str], tensor: torch.Tensor) -> torch.Tensor:
    """A tensor like the given one that has the structures."""
    for name in structures:
        if name == "lower_triangular":
            tensor = torch.tril(tensor)
        elif name == "upper_triangular":
            tensor = torch.triu(tensor)
        elif name == "diagonal":
            tensor = torch.tril(torch.triu(tensor))
        elif name == "symmetric":
            tensor = (tensor + tensor.transpose(-1, -2)) / 2
        elif name == "sorted":
            tensor = tensor.sort(dim=-1).values
    return tensor.contiguous()
