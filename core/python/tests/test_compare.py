# SPDX-License-Identifier: Apache-2.0
"""What compare() must see, and what it must let pass."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from conftest import Child, task_text

from heddle_oracle.compare import EagerNoise, Reference, compare, quantile, surely_right


def _reference(expected: torch.Tensor, dtype: torch.dtype = torch.float32) -> Reference:
    """A reference whose plain run is the expectation rounded once."""
    return Reference(expected.double(), expected.to(dtype), None)


def _normal(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(5), dtype=torch.float64)


def test_the_plain_run_itself_is_right_and_precise() -> None:
    reference = _reference(_normal(64, 100))
    record = compare(reference.eager.clone(), reference)
    assert record["ok"]
    assert record["precision_ok"]
    assert record["first"] is None


def test_one_wrong_value_is_found_where_it_is() -> None:
    reference = _reference(_normal(50, 40))
    got = reference.eager.clone()
    got[33, 7] += 0.01
    record = compare(got, reference)
    assert not record["ok"]
    assert record["wrong_count"] == 1
    assert record["first"]["index"] == [33, 7]
    assert record["first"]["got"] == pytest.approx(float(got[33, 7]))
    cells = [(r, c) for r, row in enumerate(record["error_map"]) for c, v in enumerate(row) if v]
    assert len(record["error_map"]) == 32
    assert cells
    assert all(abs(r - 33 * 32 / 50) <= 1.5 and abs(c - 7 * 32 / 40) <= 1.5 for r, c in cells)


def test_a_skipped_tail_is_found() -> None:
    reference = _reference(_normal(4096 + 3))
    got = reference.eager.clone()
    got[4096:] = 0
    record = compare(got, reference)
    assert record["wrong_count"] == 3
    assert record["first"]["index"] == [4096]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_zeros_never_pass_on_a_softmax_over_16384_columns(dtype: torch.dtype) -> None:
    reference = _reference(torch.softmax(_normal(8, 16384), dim=-1), dtype)
    assert float(reference.eager.abs().max()) < 0.01
    assert not compare(torch.zeros_like(reference.eager), reference)["ok"]
    constant = torch.full_like(reference.eager, 1 / 16384)
    assert not compare(constant, reference)["ok"]


def test_zeros_pass_only_where_zeros_are_expected() -> None:
    assert compare(torch.zeros(4), _reference(torch.zeros(4)))["ok"]
    assert not compare(torch.zeros(4), _reference(torch.full((4,), 1e-20)))["ok"]


def test_a_sharp_softmax_may_round_its_few_large_elements() -> None:
    expected = torch.full((1 << 20,), 1e-12, dtype=torch.float64)
    expected[::65536] = 0.9
    reference = _reference(expected)
    got = reference.eager.clone()
    got[::65536] *= 1 + 2e-7
    assert compare(got, reference)["ok"]


def test_nan_passes_only_where_nan_is_expected() -> None:
    expected = torch.tensor([1.0, math.nan, math.inf, -math.inf, 2.0])
    reference = _reference(expected)
    assert compare(expected.clone(), reference)["ok"]
    for position, value in [(0, math.nan), (1, 1.0), (2, -math.inf), (3, 0.0), (4, math.inf)]:
        got = expected.clone()
        got[position] = value
        record = compare(got, reference)
        assert record["first"] is not None
        assert record["first"]["index"] == [position]


def test_all_nan_is_wrong_everywhere() -> None:
    reference = _reference(_normal(10, 10))
    record = compare(torch.full((10, 10), math.nan), reference)
    assert record["wrong_count"] == 100
    assert record["nonfinite"] == 100
    assert record["first"]["got"] == "nan"


def test_where_eager_overflows_either_answer_is_right() -> None:
    expected = torch.tensor([1.0, 5.0, 1e300], dtype=torch.float64)
    eager = torch.tensor([1.0, math.nan, math.inf])
    reference = Reference(expected, eager, None)
    assert compare(torch.tensor([1.0, 5.0, math.inf]), reference)["ok"]
    assert compare(torch.tensor([1.0, math.nan, math.inf]), reference)["ok"]
    assert not compare(torch.tensor([1.0, 6.0, math.inf]), reference)["ok"]
    assert reference.nonfinite_share == pytest.approx(2 / 3)


def test_half_precision_inside_a_float32_task_is_a_change_of_precision() -> None:
    reference = _reference(_normal(200, 50))
    for narrow in (torch.float16, torch.bfloat16):
        record = compare(reference.eager.to(narrow).float(), reference)
        assert not record["precision_ok"]
    truncated = (reference.eager.view(torch.int32) & ~0x1FFF).view(torch.float32)  # like TF32
    assert not compare(truncated, reference)["precision_ok"]
    two_ulp = reference.eager * (1 + 2.4e-7)
    assert compare(two_ulp, reference)["precision_ok"]


def test_an_inaccurate_plain_run_widens_the_budget() -> None:
    expected = _normal(10000)
    noisy = (expected + 1e-3 * _normal(10000).flip(0)).float()
    reference = Reference(expected, noisy, None)
    assert reference.eager_p999 > 2e-3
    assert compare((expected + 5e-3).float(), reference)["ok"]
    assert not compare((expected + 2e-2).float(), reference)["ok"]


def test_an_element_may_be_as_far_off_as_eager_is_there_and_no_other_may() -> None:
    expected = _normal(64, 64)
    noisy = expected.float()
    noisy[20, 30] += 1e-2  # one of 4096: too rare for the quantile
    reference = Reference(expected, noisy, None)
    assert reference.eager_p999 < 1e-6
    assert compare(noisy.clone(), reference)["ok"]
    got = expected.float()
    got[20, 30] -= 3.9e-2
    assert compare(got, reference)["ok"]
    got[20, 30] -= 2e-3
    assert compare(got, reference)["first"]["index"] == [20, 30]
    got = expected.float()
    got[20, 31] += 1e-2
    assert compare(got, reference)["first"]["index"] == [20, 31]


@pytest.mark.parametrize("seed", [9, 22, 44, 54])
def test_eager_itself_is_never_wrong_on_rows_that_nearly_tie(seed: int) -> None:
    """Seeds whose one or two ill-conditioned rows lie beyond the quantile."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(2048, 1000, generator=generator) * 3000
    bias = torch.randn(1000, generator=generator)

    def entropy(x: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        log = torch.log_softmax(x + b, dim=-1)
        return -(log.exp() * log).sum(dim=-1)

    eager = entropy(logits, bias)
    reference = Reference(entropy(logits.double(), bias.double()), eager, None)
    assert compare(eager.clone(), reference)["ok"]


def test_huge_and_tiny_magnitudes_keep_their_scale() -> None:
    for factor in (1e-25, 1e25):
        reference = _reference(_normal(1000) * factor)
        assert reference.scale == pytest.approx(factor, rel=0.1)
        assert compare(reference.eager.clone(), reference)["ok"]
        assert not compare(reference.eager * 1.001, reference)["ok"]


def test_quantile_is_the_nearest_rank() -> None:
    values = torch.arange(1, 10001, dtype=torch.float64)
    assert quantile(values[torch.randperm(10000)], 0.999) == 9990.0
    assert quantile(values[:1], 0.999) == 1.0
    assert quantile(values[:0], 0.999) == 0.0


@pytest.mark.parametrize("factor", [1e-25, 1.0, 1e25])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_what_is_surely_right_is_what_compare_accepts(dtype: torch.dtype, factor: float) -> None:
    exact = _normal(5000) * factor
    plain = exact.to(dtype)
    reference = Reference(exact, plain, None)
    noise = EagerNoise.of(reference, None)
    unit = torch.finfo(dtype).eps
    accepted = 0
    for steps in (0.0, 0.3, 1.0, 3.0, 10.0, 1e3):
        got = (exact * (1 + steps * unit * _normal(5000))).to(dtype)
        compared = compare(got, reference)
        if surely_right(got, plain, noise):
            accepted += 1
            assert compared["ok"]
            assert compared["precision_ok"]
    assert accepted >= (2 if dtype == torch.float32 else 1)
    broken = plain.clone()
    broken[3] = math.nan
    assert not surely_right(broken, plain, noise)
    assert surely_right(broken, broken.clone(), noise)


def test_the_noise_of_eager_is_the_least_of_its_sets() -> None:
    exact = _normal(500)
    rough = EagerNoise.of(Reference(exact, exact.bfloat16().float(), None), None)
    fine = EagerNoise.of(Reference(exact, exact.float(), None), rough)
    assert fine.rms < rough.rms
    assert EagerNoise.of(Reference(exact, exact.bfloat16().float(), None), fine) == fine


def test_defects_are_seen_over_the_whole_path(oracle: Child) -> None:
    oracle.open(
        task_text(
            "x|return torch.softmax(self.l(x), -1), x.argmax(-1)",
            "[torch.randn(33, 65)]",
            init="self.l = nn.Linear(65, 129)",
        )
    )
    arena = oracle.arena()
    oracle.call("fill", {"slot": 0, "state_slot": 0, "state": "randomised", "family": "signed"})
    expected = oracle.call("expect", {"slot": 0, "state_slot": 0})
    assert expected["precision"] == "fp64"
    weight, bias = arena.states(0)
    (x,) = arena.inputs(0)
    right = torch.softmax(x @ weight.T + bias, -1)
    best = x.argmax(-1)

    def judged(first: torch.Tensor, second: torch.Tensor = best) -> dict[str, object]:
        return oracle.compare([first, second], state_slot=0)

    assert judged(right)["ok"]
    tail = right.clone()
    tail[-1, 128:] = 0
    for wrong in (torch.softmax(x @ weight.T, -1), torch.zeros_like(right), tail, right * math.nan):
        verdict = judged(wrong)
        assert not verdict["ok"]
        outputs = verdict["outputs"]
        assert isinstance(outputs, list)
        assert not outputs[0]["ok"]
        assert outputs[1]["ok"]
    assert not judged(right, (best + 1) % 65)["ok"]
    assert oracle.compare([right, best], "sample", state_slot=0)["ok"]
    assert not oracle.compare([tail, best], "sample", state_slot=0)["ok"]


def _timed(oracle: Child) -> torch.Tensor:
    """A slot as a timed call has it: the task's own inputs, and no expectation of them yet."""
    arena = oracle.arena()
    oracle.call("fill", {"slot": 1})
    oracle.call("expect", {"slot": 1})
    oracle.call("fill", {"slot": 0})
    return arena.input(0, 0).clone()


def _sampled(oracle: Child, got: torch.Tensor, **more: Any) -> dict[str, Any]:
    """What `sample` says of a timed call, after making sure that `compare` says the same."""
    said = oracle.compare([got], "sample", **more)
    oracle.call("expect", {"slot": 0})
    checked = oracle.compare([got], **more)
    assert said["ok"] == checked["ok"]
    assert said["precision_ok"] == checked["outputs"][0]["precision_ok"]
    return said


def test_a_timed_call_passes_by_the_tolerance_that_was_asked_for(oracle: Child) -> None:
    oracle.open(task_text("x|return x * 2", "[torch.randn(40, 30)]"))
    x = _timed(oracle)
    rough = x * 2 * (1 + 1e-3)
    assert not oracle.compare([rough], "sample")["ok"]
    assert _sampled(oracle, rough, tolerance=1e-2)["ok"]
    assert not _sampled(oracle, x * 2 * (1 + 2e-4), tolerance=1e-5)["ok"]


def test_a_timed_call_may_be_as_far_off_as_eager_is(oracle: Child) -> None:
    # Eager loses most digits to cancellation; who keeps them differs from eager and is right.
    oracle.open(task_text("x|return (x + 1e4) - 1e4", "[torch.randn(64, 64)]"))
    assert _sampled(oracle, _timed(oracle))["ok"]


def test_a_timed_call_that_is_less_precise_is_told(oracle: Child) -> None:
    oracle.open(task_text("x|return x * 2", "[torch.randn(40, 30)]"))
    x = _timed(oracle)
    said = _sampled(oracle, x * 2 * (1 + 1e-5))
    assert said["ok"]
    assert not said["precision_ok"]


def test_a_right_timed_call_costs_no_float64_run(oracle: Child) -> None:
    oracle.open(task_text("x|return torch.softmax(x, -1)", "[torch.randn(40, 30)]"))
    x = _timed(oracle)
    other = torch.exp(x - x.amax(-1, keepdim=True))
    assert oracle.compare([other / other.sum(-1, keepdim=True)], "sample")["by"] == "plain"


def test_ties_pass_in_a_timed_call_as_they_do_in_a_check(oracle: Child) -> None:
    oracle.open(task_text("x|return x.round().argmax(1)", "[torch.randn(50, 20)]"))
    x = _timed(oracle).round()
    last = 19 - x.flip(1).argmax(1)
    assert not torch.equal(last, x.argmax(1))
    assert _sampled(oracle, last)["ok"]
    assert not _sampled(oracle, (last + 1) % 20)["ok"]


def test_ties_of_an_argmax_may_go_either_way(oracle: Child) -> None:
    oracle.open(
        task_text(
            "x|x = x.round(); return x.argmax(1), x.topk(3, 0)[1], x.max(1, keepdim=True)[1]",
            "[torch.randn(50, 20)]",
        )
    )
    arena = oracle.arena()
    oracle.call("fill", {"slot": 0})
    oracle.call("expect", {"slot": 0})
    x = arena.input(0, 0).round()
    last = 19 - x.flip(1).argmax(1)
    assert not torch.equal(last, x.argmax(1))
    top = 49 - torch.topk(x.flip(0), 3, 0)[1]
    good = [last, top, last.unsqueeze(1)]
    assert oracle.compare(good)["ok"]
    repeated = [last, top[:1].expand(3, 20).contiguous(), last.unsqueeze(1)]
    assert [o["ok"] for o in oracle.compare(repeated)["outputs"]] == [True, False, True]
    assert not oracle.compare([torch.full_like(last, 20), *good[1:]])["ok"]


def test_updated_buffers_are_compared_like_outputs(oracle: Child) -> None:
    oracle.open(
        task_text("x|return self.n(x)", "[torch.randn(64, 5) + 3]", "self.n = nn.BatchNorm1d(5)")
    )
    arena = oracle.arena()
    oracle.call("fill", {"slot": 0, "state_slot": 0, "state": "randomised"})
    oracle.call("expect", {"slot": 0, "state_slot": 0})
    weight, bias, mean, variance, count = (t.clone() for t in arena.states(0))
    x = arena.input(0, 0).clone()
    out = torch.nn.functional.batch_norm(x, mean, variance, weight, bias, True, 0.1, 1e-5)
    good = oracle.compare([out, mean, variance, count + 1], state_slot=0)
    assert good["ok"], good
    stale = oracle.compare([out, arena.state(0, 2).clone(), variance, count], state_slot=0)
    assert [o["ok"] for o in stale["outputs"]] == [True, False, True, False]
    assert stale["outputs"][1]["update"] == "state:n.running_mean"
