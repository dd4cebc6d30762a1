# SPDX-License-Identifier: Apache-2.0
"""Seeded random tasks: chains of the operators that the optimiser covers, as text of task files."""

from __future__ import annotations

import random

POINTWISE = [
    "{x} + {p}",
    "{x} * {p}",
    "{x} - 0.5 * {p}",
    "torch.add({x}, {p}, alpha=0.3)",
    "{x} / (1.0 + {x}.abs())",
    "-{x}",
    "torch.exp(-{x}.abs())",
    "torch.log1p({x}.abs())",
    "torch.sqrt({x}.abs() + 0.1)",
    "torch.sin({x})",
    "torch.rsqrt({x} * {x} + 1.0)",
    "torch.tanh({x})",
    "torch.sigmoid({x})",
    "F.relu({x})",
    "F.leaky_relu({x}, 0.2)",
    "F.elu({x}, 0.7)",
    "F.selu({x})",
    "F.celu({x}, 1.3)",
    "F.gelu({x})",
    "F.gelu({x}, approximate='tanh')",
    "F.silu({x})",
    "F.mish({x})",
    "F.hardswish({x})",
    "F.hardsigmoid({x})",
    "F.hardtanh({x})",
    "{x}.clamp(-1.0, 0.8)",
    "torch.maximum({x}, {p})",
    "torch.minimum({x}, {p})",
    "torch.where({x} > {p}, {x}, {p})",
    "{x}.masked_fill({x} < -0.5, 0.25)",
    "torch.erf({x})",
    "F.softplus({x})",
    "F.softsign({x})",
    "F.tanhshrink({x})",
    "F.threshold({x}, 0.1, -0.2)",
    "torch.square({x})",
    "torch.lerp({x}, {p}, 0.4)",
    "torch.addcmul({x}, {p}, {p})",
    "torch.addcdiv({x}, {p}, {p}.abs() + 1.0, value=0.5)",
    "{x}.abs() ** 1.5",
    "{x} ** 3",
    "torch.expm1({x} * 0.2)",
    "{x} * torch.ones_like({x}) + torch.full_like({x}, 0.5)",
    "torch.reciprocal({x}.abs() + 1.0)",
    "F.logsigmoid({x})",
    "F.hardshrink({x}, 0.3)",
    "F.softshrink({x}, 0.3)",
    "({x} > 0).to({x}.dtype) - {x}",
    "torch.floor({x} * 3.0)",
    "{x}.sign() * {p}",
    "torch.logical_and({x} > 0, {p} > 0) * {x}",
]
ROWWISE = [
    "torch.softmax({x}, dim={d})",
    "torch.log_softmax({x}, dim={d})",
    "{x} - {x}.mean(dim={d}, keepdim=True)",
    "{x} / ({x}.abs().sum(dim={d}, keepdim=True) + 1.0)",
    "F.layer_norm({x}, {x}.shape[-1:])",
    "F.rms_norm({x}, {x}.shape[-1:], eps=1e-5)",
    "{x} * torch.rsqrt({x}.pow(2).mean(-1, keepdim=True) + 1e-4)",
    "{x} - {x}.amax(dim={d}, keepdim=True)",
    "F.normalize({x}, dim={d})",
    "F.layer_norm({x}, {x}.shape[-2:])",
    "({x} - {x}.mean({d}, keepdim=True)) / ({x}.std({d}, keepdim=True) + 0.1)",
    "{x} + {x}.sum()",
    "{x} + {x}.logsumexp(dim={d}, keepdim=True)",
    "F.group_norm({x}, 2)",
    "F.batch_norm({x}, None, None, training=True)",
]
VIEWS = [
    "{x}.transpose(0, 1)",
    "{x}.flatten()[: {x}.numel()].reshape({x}.shape)",
    "{x}[..., 1:]",
    "{x}.unsqueeze(0).squeeze(0)",
    "{x}.reshape(-1, {x}.shape[-1]).reshape({x}.shape)",
    "{x}.contiguous()",
    "{x}[:, ::2]",
    "F.dropout({x}, 0.5, False)",
    "{x}.expand(2, *{x}.shape).sum(0)",
    "torch.flip({x}, [-1])",
    "{x}.clone().detach()",
]
ENDINGS = [
    "{x}",
    "{x}.sum(dim={d})",
    "{x}.mean()",
    "{x}.amax(dim={d})",
    "{x}.max(dim={d})[0]",
    "{x}.var(dim={d})",
    "{x}.argmax(dim={d})",
    "{x}.logsumexp({d})",
    "torch.linalg.vector_norm({x}, dim={d})",
    "({x} > 0).any(dim={d})",
    "{x}.half()",
    "{x}.to(torch.bfloat16).float()",
    "{x}.double() * 2.0",
    "torch.count_nonzero({x} > 0.1, dim={d})",
    "{x}.amin(dim=0, keepdim=True)",
    "{x}.prod(dim={d}).tanh()",
    "F.mse_loss({x}, {x} * 0.5)",
    "{x}.min()",
]


def chain(seed: int) -> str:
    """The text of a task: its shapes, dtypes, operators, several outputs follow from the seed."""
    draw = random.Random(seed)
    rank = draw.choice([2, 3, 3, 4])
    sizes = [draw.choice([2, 4, 6, 16]) for _ in range(rank)]
    sizes[-1] = draw.choice([3, 17, 64, 130, 1000])
    if draw.random() < 0.15:
        sizes[0] = 700
    dtype = draw.choice(["float32"] * 7 + ["bfloat16", "float16", "float64"])
    weight = [size if draw.random() < 0.6 else 1 for size in sizes][draw.randrange(rank) :]
    lines, values = [], ["x"]
    for step in range(draw.randrange(2, 7)):
        value = values[-1] if draw.random() < 0.8 else draw.choice(values)
        kind = draw.random()
        dim = draw.randrange(-2, 2)
        if kind < 0.6:
            # The parameter only where its shape still broadcasts.
            text = draw.choice(POINTWISE).format(x=value, p="self.weight.to(x.dtype)")
            text = text if f"# {value} moved" not in "".join(lines) else f"torch.tanh({value})"
        elif kind < 0.85:
            text = draw.choice(ROWWISE).format(x=value, d=dim)
        else:
            text = draw.choice(VIEWS).format(x=value, d=dim)
        name = f"v{step}"
        moved = kind >= 0.85 or f"# {value} moved" in "".join(lines)
        lines.append(f"        {name} = {text}" + (f"  # {name} moved" if moved else ""))
        values.append(name)
    ending = draw.choice(ENDINGS).format(x=values[-1], d=draw.randrange(-2, 2))
    outputs = [ending] + ([draw.choice(values[1:])] if draw.random() < 0.3 else [])
    lines.append(f"        return {', '.join(outputs)}")
    body = "\n".join(lines)
    return f"""import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn({weight}))

    def forward(self, x: torch.Tensor):
{body}


def get_inputs():
    return [torch.randn({sizes}).to(torch.{dtype})]
"""
