# SPDX-License-Identifier: Apache-2.0
"""Families of secret inputs: the task's own, and four that expose shortcuts.

All but `signed` stay within the domain that domain.py inferred; `signed` leaves it on purpose where
inputs are only ever non-negative or structured, so a failure there alone shows an assumption.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from heddle_oracle.domain import Domain, impose

FAMILIES = ("task", "signed", "heavy_tailed", "extreme_scale", "structured")
#: factors of extreme_scale, tried from the first one that keeps the reference finite
SCALES = (1e3, 1e-3, 30.0)
_BLOCK = 1024


def in_domain(family: str, domains: Sequence[Domain]) -> bool:
    """Whether a family's values are ones that get_inputs() itself could have been meant to give."""
    return family != "signed" or not any(d.limits_values for d in domains)


def draw(
    family: str,
    domain: Domain,
    sample: torch.Tensor,
    generator: torch.Generator,
    scale: float = 1.0,
) -> torch.Tensor:
    """One input of a family (not "task"): the sample's shape and dtype, contiguous.

    `scale` is the factor of extreme_scale. Integers stay in the range seen and masks near the
    density seen: an index out of range would fail the reference itself.
    """
    if sample.numel() == 0:
        return sample.clone()
    leaves_domain = family == "signed"
    if domain.kind == "boolean":
        return _mask(domain, sample, generator, leaves_domain)
    if domain.kind == "integer":
        return _integers(domain, sample, generator, leaves_domain)
    if domain.constant and not leaves_domain:
        return sample.clone()
    values = _floats(family, sample.shape, generator)
    std = domain.std if domain.std > 0.0 else max(abs(domain.mean), 1.0)
    if leaves_domain:
        return _to_dtype(values * std, sample.dtype)
    return _to_dtype(_into_domain(values, family, domain, std, scale), sample.dtype)


def _floats(family: str, shape: torch.Size, generator: torch.Generator) -> torch.Tensor:
    """Standardised values (float32) of a family before they are put into a domain."""
    values = torch.empty(shape, dtype=torch.float32).normal_(generator=generator)
    if family == "heavy_tailed":
        # A normal divided by the square root of a uniform: a Pareto-like tail of index 2, so single
        # elements dominate sums, and rows differ by orders of magnitude.
        spread = torch.empty(shape, dtype=torch.float32).uniform_(generator=generator)
        values.div_(spread.clamp_(min=1e-6).sqrt_())
    elif family == "structured":
        _plant(values, generator)
    return values


def _plant(values: torch.Tensor, generator: torch.Generator) -> None:
    """Gives each block of the flattened tensor its own level and one outlier, and the two ends one
    each: whoever subsamples, or skips a tail, misses something large."""
    flat = values.view(-1)
    count = flat.numel()
    blocks = count // _BLOCK
    if blocks:
        levels = torch.empty(blocks, 1).normal_(generator=generator).mul_(3.0)
        body = flat[: blocks * _BLOCK].view(blocks, _BLOCK)
        body.add_(levels)
        places = torch.randint(_BLOCK, (blocks, 1), generator=generator)
        body.scatter_(1, places, _outliers((blocks, 1), generator))
    for index in {0, count // 2, count - 1}:
        flat[index] = _outliers((1,), generator)[0]


def _outliers(shape: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    size = torch.empty(shape).uniform_(20.0, 50.0, generator=generator)
    sign = torch.randint(2, shape, generator=generator).mul_(2).sub_(1)
    return size * sign


def _into_domain(
    values: torch.Tensor, family: str, domain: Domain, std: float, scale: float
) -> torch.Tensor:
    if domain.rows_sum_to_one:
        weights = values.abs_() if family != "extreme_scale" else values.mul_(8.0).exp_()
        return weights.div_(weights.sum(dim=-1, keepdim=True))
    if domain.unit_interval:
        # |v| / (1 + |v|) maps any magnitude into [0, 1): outliers crowd at the ends.
        values.abs_()
        if family == "extreme_scale":
            values.mul_(scale)
        values = values / (1.0 + values)
        values = domain.low + values * (domain.high - domain.low)
    else:
        values.mul_(std)
        if family == "extreme_scale":
            values.mul_(scale)
        elif not domain.nonnegative and abs(domain.mean) > 4 * std:
            values.add_(domain.mean)  # far from zero on purpose: a domain of large numbers
        if domain.nonnegative:
            # What never falls below a minimum may be a divisor or a logarithm's operand.
            values.abs_().clamp_(min=domain.low)
    return impose(domain.structures, values)


def _mask(
    domain: Domain, sample: torch.Tensor, generator: torch.Generator, leaves_domain: bool
) -> torch.Tensor:
    if (domain.constant or domain.structures) and not leaves_domain:
        return sample.clone()
    uniform = torch.empty(sample.shape).uniform_(generator=generator)
    return uniform < domain.density


def _integers(
    domain: Domain, sample: torch.Tensor, generator: torch.Generator, leaves_domain: bool
) -> torch.Tensor:
    if domain.constant and not leaves_domain:
        return sample.clone()
    low, high = int(domain.low), int(domain.high)
    values = torch.randint(low, high + 1, sample.shape, generator=generator).to(sample.dtype)
    return impose([s for s in domain.structures if s != "symmetric"], values)


def _to_dtype(values: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    if dtype in (torch.float16, torch.bfloat16):
        # An eighth of the largest half: the reference must survive a sum or a doubling.
        values.clamp_(-8000.0, 8000.0)
    return values.to(dtype).contiguous()


def randomise_state(
    model: torch.nn.Module, constructed: Sequence[torch.Tensor], generator: torch.Generator
) -> list[torch.Tensor]:
    """Fresh parameters and BatchNorm statistics in the order of parameters, then buffers.

    Only floating parameters and normalisation statistics change: other buffers are tables whose
    meaning is unknown. A parameter that is constructed as all ones or zeros gets values of its own,
    so a candidate that skips an affine step is seen; one that is constructed positive stays so.
    """
    statistics: dict[int, str] = {}
    for module in model.modules():
        if isinstance(module, torch.nn.modules.batchnorm._NormBase):
            for name in ("running_mean", "running_var"):
                tensor = getattr(module, name, None)
                if tensor is not None:
                    statistics[id(tensor)] = name
    parameter_count = len(list(model.parameters()))
    tensors = [*model.parameters(), *model.buffers()]
    fresh = []
    for index, (tensor, base) in enumerate(zip(tensors, constructed, strict=True)):
        if id(tensor) in statistics:
            fresh.append(_statistics(statistics[id(tensor)], base, generator))
        elif index < parameter_count and base.is_floating_point() and base.numel():
            fresh.append(_parameter(base, generator))
        else:
            fresh.append(base.clone())
    return fresh


def _statistics(name: str, base: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    values = torch.empty(base.shape, dtype=torch.float32)
    if name == "running_var":
        values.uniform_(0.4, 2.5, generator=generator)
    else:
        values.normal_(0.0, 0.5, generator=generator)
    return values.to(base.dtype)


def _parameter(base: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    wide = base.detach().float()
    noise = torch.empty(wide.shape, dtype=torch.float32).normal_(generator=generator)
    std = float(wide.std(correction=0))
    mean = float(wide.mean())
    if std > 1e-6 * max(abs(mean), 1e-30):
        # As constructed, drawn anew: half of each element's own value keeps structure and scale.
        fresh = 0.5 * wide + 0.5 * mean + noise * std * 0.87
    else:
        fresh = wide + noise * 0.3 * (abs(mean) if mean else 1.0)
    if float(wide.min()) > 0.0:
        fresh.abs_().clamp_(min=0.05 * mean)
    return fresh.to(base.dtype)
