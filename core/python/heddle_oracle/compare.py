# SPDX-License-Identifier: Apache-2.0
"""What counts as wrong, and what as a loss of precision.

For one output with expected values e (float64), eager's values and a candidate's values g:

    scale   = root mean square of the finite e (at least 1e-30)
    budget  = max(tolerance × max(scale, |e_i|), 4 × p99.9 of eager's own error,
                  4 × eager's own error there)                                       per element
    wrong     if |g_i − e_i| > budget for any i, or the non-finite elements differ
    precision_changed  if rms(g − e) > 4 × max(rms(eager − e), eps × scale)

Why the root mean square: an absolute tolerance passes a kernel that writes zeros when outputs are
tiny (softmax over 16384 columns is about 6e-5). With the scale taken from the output itself, zeros
err by |e_i| at the largest element, which is at least the root mean square and so thousands of
times the budget, whatever the magnitude. The largest magnitude would not do: under one outlier it
lets all ordinary elements go unchecked. The element's own magnitude is added because outputs such
as a sharp softmax have few large elements and a tiny mean square, and those few deserve their
relative rounding. Eager's own error at the element is added because an ill-conditioned one (two
logits of 3000 that nearly tie) is off by the same rounding of its inputs in any program, and too
rare for a quantile to see: without it eager itself would be wrong now and then.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import torch

from heddle_oracle.precision import IndexOrigin

TOLERANCES = {
    torch.float64: 1e-10,
    torch.float32: 1e-4,
    torch.float16: 1e-2,
    torch.bfloat16: 1e-2,
}
ERROR_FACTOR = 4.0
TAIL_QUANTILE = 0.999
MINIMUM_SCALE = 1e-30
MAP_SIDE = 32
_PIECE = 1 << 17


@dataclass
class Reference:
    """What one output (or update) is compared with; one for all candidates of a set."""

    expected: torch.Tensor  # float64, or the output's own dtype where it is discrete
    eager: torch.Tensor  # the plain run's values
    origin: IndexOrigin | None
    scale: float = 0.0
    eager_p999: float = 0.0
    eager_rms: float = 0.0
    special: torch.Tensor | None = field(default=None)  # where expected or eager is not finite

    def __post_init__(self) -> None:
        if not self.eager.is_floating_point():
            return
        self.expected = self.expected.double()
        # A double that its own type cannot hold is an infinity there.
        cast = self.expected.to(self.eager.dtype)
        finite = torch.isfinite(cast) & torch.isfinite(self.eager)
        if not bool(finite.all()):
            self.special = ~finite
        usable = self.expected if self.special is None else self.expected[finite]
        errors = self.eager.double() if self.special is None else self.eager.double()[finite]
        errors = (errors - usable).abs_().reshape(-1)
        self.scale = max(_rms(usable), MINIMUM_SCALE)
        self.eager_rms = _rms(errors)
        self.eager_p999 = quantile(errors, TAIL_QUANTILE)

    @property
    def nonfinite_share(self) -> float:
        """Share of elements where float64 or the plain run gives NaN or an infinity."""
        if self.special is None or self.special.numel() == 0:
            return 0.0
        return float(self.special.double().mean())


def _rms(values: torch.Tensor) -> float:
    if values.numel() == 0:
        return 0.0
    largest = float(values.abs().max())
    if largest == 0.0 or not math.isfinite(largest):
        return largest
    # Dividing by the largest first: squares of 1e200 overflow, squares of 1e-200 vanish.
    return largest * math.sqrt(float((values / largest).square_().mean()))


def quantile(values: torch.Tensor, share: float) -> float:
    """The value that a share of the elements does not exceed (nearest rank); 0 for none."""
    count = values.numel()
    if count == 0:
        return 0.0
    above = count - max(1, math.ceil(share * count))
    # The few largest are cheaper to find than a whole order.
    return float(torch.topk(values, above + 1).values[-1])


def compare(
    got: torch.Tensor, reference: Reference, tolerance: float | None = None
) -> dict[str, Any]:
    """The protocol's record of one output: figures, `ok`, `precision_ok`, first failing element.

    `got` has the reference's shape and dtype. `tolerance` replaces the dtype's own, if given.
    """
    if not reference.eager.is_floating_point():
        return _compare_discrete(got, reference)
    limit = TOLERANCES[reference.eager.dtype] if tolerance is None else tolerance
    floor = ERROR_FACTOR * reference.eager_p999
    scan = _scan(got, reference, limit, floor)
    epsilon = torch.finfo(reference.eager.dtype).eps
    precision_budget = ERROR_FACTOR * max(reference.eager_rms, epsilon * reference.scale)
    record = {
        "max_abs": scan.max_abs,
        "max_rel": scan.max_rel,
        "rms": scan.rms,
        "eager_p999": reference.eager_p999,
        "eager_rms": reference.eager_rms,
        "scale": reference.scale,
        "tolerance": limit,
        "budget": max(limit * reference.scale, floor),
        "precision_budget": precision_budget,
        "nonfinite": scan.nonfinite,
        "precision_ok": scan.rms <= precision_budget,
    }
    return {**record, **_failures(scan.bad, got, reference.expected)}


@dataclass
class _Scan:
    """Figures of one pass over an output; `bad` only if an element is wrong."""

    max_abs: float = 0.0
    max_rel: float = 0.0
    rms: float = 0.0
    nonfinite: int = 0
    bad: torch.Tensor | None = None


def _scan(got: torch.Tensor, reference: Reference, limit: float, floor: float) -> _Scan:
    """In pieces that stay in the cache: a whole-tensor pass spends its time on fresh pages."""
    flat = [got.reshape(-1), reference.expected.reshape(-1), reference.eager.reshape(-1)]
    special = None if reference.special is None else reference.special.reshape(-1)
    result = _Scan()
    squares, wrong = 0.0, False
    pieces: list[torch.Tensor] = []
    for begin in range(0, flat[0].numel(), _PIECE):
        part, expected, eager = (t[begin : begin + _PIECE] for t in flat)
        error = part.double().sub_(expected).abs_()
        magnitude = expected.abs().clamp_(min=reference.scale)
        budget = (magnitude * limit).clamp_(min=floor)
        # A comparison with NaN is false, so this says "not within" where anything is NaN.
        bad = ~(error <= budget)
        if bool(bad.any()):
            bad &= ~(error <= (eager.double() - expected).abs_().mul_(ERROR_FACTOR))
        if special is not None:
            where = special[begin : begin + _PIECE]
            bad = _judge_special(part, expected, eager, where, bad, error <= budget)
            error.masked_fill_(where, 0.0)
            magnitude.nan_to_num_(reference.scale, reference.scale)
        result.nonfinite += int((~torch.isfinite(part)).sum())
        error.nan_to_num_(0.0, 0.0)
        result.max_abs = max(result.max_abs, float(error.max()))
        result.max_rel = max(result.max_rel, float((error / magnitude).max()))
        squares += float(error.div_(reference.scale).square_().sum())
        wrong = wrong or bool(bad.any())
        pieces.append(bad)
    if pieces:
        result.rms = min(reference.scale * math.sqrt(squares / flat[0].numel()), 1.7e308)
    if wrong:
        result.bad = torch.cat(pieces).reshape(got.shape)
    return result


def _judge_special(
    got: torch.Tensor,
    expected: torch.Tensor,
    eager: torch.Tensor,
    special: torch.Tensor,
    bad: torch.Tensor,
    within: torch.Tensor,
) -> torch.Tensor:
    """Elements where float64 or the plain run is not finite: the candidate must give the same kind
    as one of the two, or a finite value within the budget of a finite expectation. NaN passes only
    where one of them is NaN, an infinity only with the same sign."""
    cast = expected.to(got.dtype)
    fine = torch.isfinite(cast) & within
    for allowed in (cast, eager):
        fine |= torch.isnan(allowed) & torch.isnan(got)
        fine |= torch.isinf(allowed) & (allowed == got)
    return torch.where(special, ~fine, bad)


def _compare_discrete(got: torch.Tensor, reference: Reference) -> dict[str, Any]:
    """Integers and booleans: exact, but for indices that an argmax or a sort made. Those compare by
    the value they point at, within rounding of the values, so a tie may go either way."""
    expected = reference.expected
    bad = got != expected
    error = (got.double() - expected.double()).abs_()
    compared_by = "value"
    if reference.origin is not None and bool(bad.any()):
        pointed = reference.origin.gather(got)
        wanted = reference.origin.gather(expected)
        if pointed is not None and wanted is not None:
            compared_by = "gathered"
            error = (pointed - wanted).abs_()
            # Eager itself orders values that are rounded to its own precision.
            slack = 4 * torch.finfo(torch.float32).eps * wanted.abs().clamp_(min=_rms(wanted))
            bad = ~(error <= slack)
    record = {
        "max_abs": _largest(error),
        "max_rel": 0.0,
        "rms": _rms(error),
        "eager_p999": 0.0,
        "eager_rms": 0.0,
        "scale": 1.0,
        "tolerance": 0.0,
        "budget": 0.0,
        "precision_budget": 0.0,
        "nonfinite": 0,
        "precision_ok": True,
        "compared_by": compared_by,
    }
    return {**record, **_failures(bad if bool(bad.any()) else None, got, expected)}


def _largest(values: torch.Tensor) -> float:
    return min(float(values.max()), 1.7e308) if values.numel() else 0.0


def _failures(
    bad: torch.Tensor | None, got: torch.Tensor, expected: torch.Tensor
) -> dict[str, Any]:
    if bad is None:
        return {"ok": True, "wrong_count": 0, "first": None, "error_map": None}
    wrong = int(bad.sum())
    position = int(bad.reshape(-1).to(torch.uint8).argmax())
    index = [int(i) for i in torch.unravel_index(torch.tensor(position), bad.shape)]
    return {
        "ok": False,
        "wrong_count": wrong,
        "first": {
            "index": index,
            "expected": json_number(expected.reshape(-1)[position]),
            "got": json_number(got.reshape(-1)[position]),
        },
        "error_map": error_map(bad),
    }


def json_number(value: torch.Tensor) -> Any:
    """One element for JSON, which has no NaN: those become the words nan, inf and -inf."""
    number = value.item()
    if isinstance(number, float) and not math.isfinite(number):
        return str(number)
    return number


def error_map(bad: torch.Tensor) -> list[list[float]]:
    """The share of wrong elements in each cell of a grid of at most 32×32 over the output, seen as
    a matrix of its leading dimensions by its last one."""
    columns = bad.shape[-1] if bad.dim() else 1
    matrix = bad.reshape(-1, max(columns, 1)).to(torch.float32)
    if bad.dim() == 1 or matrix.shape[0] == 1:
        matrix = _fold(matrix.reshape(-1))
    size = (min(MAP_SIDE, matrix.shape[0]), min(MAP_SIDE, matrix.shape[1]))
    cells = torch.nn.functional.adaptive_max_pool2d(matrix[None, None], size)[0, 0]
    shares = torch.nn.functional.adaptive_avg_pool2d(matrix[None, None], size)[0, 0]
    # A single wrong element in a cell of a million must not round to nothing.
    shares = torch.where(cells > 0, shares.clamp(min=1e-6), shares)
    return [[round(float(v), 6) for v in row] for row in shares]


def _fold(flat: torch.Tensor) -> torch.Tensor:
    """A vector as rows of a near-square matrix; the padding counts as right."""
    columns = max(1, min(MAP_SIDE, flat.numel()))
    padding = -flat.numel() % columns
    return torch.nn.functional.pad(flat, (0, padding)).reshape(columns, -1)


@dataclass
class EagerNoise:
    """How far the plain run is from float64 in one output, in units of the output's scale: the
    least that any set of the task's own inputs has shown."""

    rms: float
    p999: float

    @staticmethod
    def of(reference: Reference, before: EagerNoise | None) -> EagerNoise:
        scale = reference.scale or 1.0
        rms, p999 = reference.eager_rms / scale, reference.eager_p999 / scale
        return (
            EagerNoise(rms, p999)
            if before is None
            else EagerNoise(min(rms, before.rms), min(p999, before.p999))
        )


def surely_right(
    got: torch.Tensor, plain: torch.Tensor, noise: EagerNoise, tolerance: float | None = None
) -> bool:
    """Whether a value g is so near the plain run's p that compare() would accept it and its
    precision, without the float64 run e that compare() needs. False says nothing.

    |g - e| <= |g - p| + |p - e|. Half the budget is left to the second term: compare()'s budget
    is at least four times what all but a thousandth of |p - e| keep within. Of root mean squares
    the same, with 3 + 1 = ERROR_FACTOR.
    """
    if not plain.is_floating_point():
        return torch.equal(got, plain)
    limit = TOLERANCES[plain.dtype] if tolerance is None else tolerance
    flat, wanted = got.reshape(-1), plain.reshape(-1)
    mask = torch.isfinite(wanted)
    values = wanted if bool(mask.all()) else wanted[mask]
    # In float64 without a copy; only a float64 output of extreme size can overflow here.
    norm = float(torch.linalg.vector_norm(values, dtype=torch.float64))
    scale = norm / math.sqrt(max(values.numel(), 1)) if math.isfinite(norm) else _rms(values)
    scale = max(scale, MINIMUM_SCALE)
    floor = 0.5 * ERROR_FACTOR * noise.p999 * scale
    squares = 0.0
    for begin in range(0, wanted.numel(), _PIECE):
        part, expected = flat[begin : begin + _PIECE], wanted[begin : begin + _PIECE]
        finite = torch.isfinite(expected)
        if not bool(finite.all()):
            same = (part == expected) | (torch.isnan(part) & torch.isnan(expected))
            if not bool((finite | same).all()):
                return False
            part, expected = part[finite], expected[finite]
        if expected.numel() == 0:
            continue
        wide = expected.double()
        error = part.double().sub_(wide).abs_()
        half = wide.abs_().clamp_(min=scale).mul_(0.5 * limit).clamp_(min=floor)
        if not bool((error <= half).all()):
            return False
        squares += float(error.div_(scale).square_().sum())
    rms = math.sqrt(squares / max(values.numel(), 1))
    epsilon = torch.finfo(plain.dtype).eps
    return rms <= (ERROR_FACTOR - 1.0) * max(noise.rms, epsilon)
