# SPDX-License-Identifier: Apache-2.0
"""Families stay in the domain of the task's inputs, or say that they leave it."""

from __future__ import annotations

import pytest
import torch
from conftest import Child, RemoteError, task_text

from heddle_oracle.domain import infer
from heddle_oracle.families import FAMILIES, draw, in_domain

MAKERS = {
    "normal": lambda: torch.randn(64, 64),
    "nonnegative": lambda: torch.rand(64, 64) * 5,
    "positive": lambda: torch.rand(64, 64) * 5 + 1,
    "unit": lambda: torch.rand(64, 64),
    "probabilities": lambda: torch.softmax(torch.randn(64, 64), -1),
    "mask": lambda: torch.rand(64, 64) < 0.7,
    "indices": lambda: torch.randint(0, 10, (64, 64)),
    "sorted": lambda: torch.randn(64, 64).sort(-1).values,
    "lower": lambda: torch.tril(torch.randn(64, 64)),
    "diagonal": lambda: torch.diag(torch.randn(64)),
    "symmetric": lambda: (lambda a: a + a.T)(torch.randn(64, 64)),
    "constant mask": lambda: torch.triu(torch.ones(64, 64, dtype=torch.bool), 1),
    "half": lambda: torch.randn(64, 64).half(),
}


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("family", [f for f in FAMILIES if f not in ("task", "signed")])
def test_a_family_keeps_the_domain(name: str, family: str) -> None:
    draws = [MAKERS[name]() for _ in range(3)]
    domain = infer(draws)
    value = draw(family, domain, draws[0], torch.Generator().manual_seed(3), 1e3)
    assert value.shape == draws[0].shape
    assert value.dtype == draws[0].dtype
    assert value.is_contiguous()
    again = infer([value, draw(family, domain, draws[0], torch.Generator().manual_seed(4), 1e3)])
    assert again.kind == domain.kind
    assert not domain.nonnegative or again.nonnegative
    assert not domain.nonnegative or domain.rows_sum_to_one or again.low >= domain.low
    assert not domain.unit_interval or again.unit_interval
    assert again.rows_sum_to_one == domain.rows_sum_to_one
    assert set(domain.structures) <= set(again.structures)
    assert again.constant == domain.constant
    if domain.kind == "integer":
        assert domain.low <= again.low <= again.high <= domain.high
    assert bool(torch.isfinite(value.double()).all())


def test_signed_leaves_a_domain_only_by_saying_so() -> None:
    for name, leaves in (("normal", False), ("mask", False), ("unit", True), ("lower", True)):
        domain = infer([MAKERS[name]() for _ in range(3)])
        assert in_domain("signed", [domain]) is not leaves
        assert all(in_domain(f, [domain]) for f in FAMILIES if f != "signed")
    domain = infer([torch.rand(64, 64) for _ in range(3)])
    value = draw("signed", domain, torch.rand(64, 64), torch.Generator().manual_seed(1))
    assert 0.3 < float((value < 0).double().mean()) < 0.7


def test_structured_plants_something_large_in_each_block_and_at_both_ends() -> None:
    sample = torch.randn(100, 1000)
    value = draw("structured", infer([sample, -sample]), sample, torch.Generator().manual_seed(1))
    flat = value.reshape(-1).abs()
    blocks = flat[: flat.numel() // 1024 * 1024].view(-1, 1024)
    assert float(blocks.amax(dim=1).min()) > 15
    assert float(flat[0]) > 15
    assert float(flat[-1]) > 15


def test_heavy_tailed_is_heavy() -> None:
    sample = torch.randn(300, 300)
    value = draw("heavy_tailed", infer([sample, -sample]), sample, torch.Generator().manual_seed(1))
    assert float(value.abs().max()) > 50 * float(value.abs().median())


def test_a_family_without_a_meaning_is_dropped_with_a_reason(oracle: Child) -> None:
    oracle.open(
        task_text(
            "i|return F.embedding(i, self.t)",
            "[torch.randint(0, 9, (30,))]",
            "self.t = nn.Parameter(torch.randn(9, 4))",
        )
    )
    oracle.arena()
    dropped = oracle.call("fill", {"slot": 0, "family": "heavy_tailed"})
    assert dropped["dropped"]
    assert "floating" in dropped["reason"]
    assert not oracle.call("fill", {"slot": 0, "family": "signed"})["dropped"]
    assert oracle.call("expect", {"slot": 0})["nonfinite_share"] == 0.0


def test_extreme_scale_takes_a_factor_under_which_the_reference_is_finite(oracle: Child) -> None:
    oracle.open(task_text("x|return torch.exp(x)", "[torch.randn(400)]"))
    oracle.arena()
    for _ in range(4):
        answer = oracle.call("fill", {"slot": 0, "family": "extreme_scale"})
        assert answer["detail"] == "scale 0.001"
        assert not oracle.call("expect", {"slot": 0})["dropped"]


def test_a_family_whose_reference_is_not_finite_is_dropped(oracle: Child) -> None:
    oracle.open(task_text("x|return torch.log(x)", "[torch.rand(400) + 0.5]"))
    oracle.arena()
    filled = oracle.call("fill", {"slot": 0, "family": "signed"})
    assert filled["in_domain"] is False
    assert oracle.call("expect", {"slot": 0})["dropped"]
    oracle.call("fill", {"slot": 0, "family": "heavy_tailed"})
    assert not oracle.call("expect", {"slot": 0})["dropped"]


def test_a_family_that_the_reference_refuses_is_dropped_and_the_task_stays_usable(
    oracle: Child,
) -> None:
    oracle.open(
        task_text(
            "p, y|return F.binary_cross_entropy(p, y)",
            "[torch.rand(30, 20), torch.rand(30, 20)]",
        )
    )
    oracle.arena()
    assert not oracle.call("fill", {"slot": 0, "family": "signed"})["dropped"]
    refused = oracle.call("expect", {"slot": 0})
    assert refused["dropped"]
    assert "the reference raised" in refused["reason"]
    assert "\n" not in refused["reason"]
    for family in ("task", "heavy_tailed", "extreme_scale", "structured"):
        assert not oracle.call("fill", {"slot": 0, "family": family})["dropped"]
        assert not oracle.call("expect", {"slot": 0})["dropped"]


def test_extreme_scale_passes_over_a_factor_that_the_reference_refuses(oracle: Child) -> None:
    oracle.open(
        task_text(
            "x|assert float(x.abs().max()) < 100; return x * 2",
            "[torch.randn(400)]",
        )
    )
    oracle.arena()
    for _ in range(4):
        assert (
            oracle.call("fill", {"slot": 0, "family": "extreme_scale"})["detail"] == "scale 0.001"
        )


def test_a_family_without_any_factor_is_dropped_with_what_the_reference_said(oracle: Child) -> None:
    oracle.open(
        task_text(
            "x|assert 0.5 < float(x.std()) < 2, 'other scale'; return x * 2",
            "[torch.randn(400)]",
        )
    )
    oracle.arena()
    dropped = oracle.call("fill", {"slot": 0, "family": "extreme_scale"})
    assert dropped["dropped"]
    assert "other scale" in dropped["reason"]


def test_a_reference_that_refuses_its_own_inputs_fails_the_task(oracle: Child) -> None:
    oracle.open(
        task_text(
            "x|self.n = getattr(self, 'n', 0) + 1; assert self.n < 3; return x * 2",
            "[torch.randn(400)]",
        )
    )
    oracle.arena()
    oracle.call("fill", {"slot": 0, "family": "task"})
    with pytest.raises(RemoteError) as caught:
        oracle.call("expect", {"slot": 0})
    assert caught.value.code == "task_failed"
