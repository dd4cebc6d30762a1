# SPDX-License-Identifier: Apache-2.0
"""Candidates in Python, run by a real runner on an arena of a real oracle."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from conftest import Child, RemoteError, Timer, task_text, tensor_of

from heddle_oracle import doorbell as bell
from heddle_oracle.subject import can_poison, poisoned_memory

TASK = task_text(
    "x, k=2|return F.gelu(self.l(x)) * k", "[torch.randn(20, 12), 3]", "self.l = nn.Linear(12, 8)"
)
NEW = """import torch
import torch.nn.functional as F
from torch import nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(12, 8)

    def forward(self, x, k=2):
        RETURN
"""
RIGHT = "return F.gelu(F.linear(x, self.l.weight, self.l.bias)) * k"


def _load(oracle: Child, runner: Child, text: str, **more: Any) -> dict[str, Any]:
    oracle.open(TASK)
    oracle.arena(2, 2)
    for slot in range(2):
        filled = {"slot": slot, "state_slot": slot, "state": "randomised", "family": "signed"}
        oracle.call("fill", filled)
        oracle.call("expect", {"slot": slot, "state_slot": slot})
    return runner.call(
        "load",
        {
            "files": {"model_new.py": text},
            "entry": "model_new.py",
            "class": "ModelNew",
            "init": [],
            "init_seed": 1,
            "threads": 2,
            "layout": oracle.layout,
            **more,
        },
        (oracle.arena_fd,),
    )


def _verdict(oracle: Child, runner: Child, slot: int = 0) -> dict[str, Any]:
    timer = Timer(runner, {})
    timer.ok(bell.OP_PREPARE, slot=slot, state_slot=slot, flags=bell.CALL_GUARDED)
    timer.ok(bell.OP_CALL, slot=slot, state_slot=slot, flags=bell.CALL_GUARDED)
    outputs = [tensor_of(data, torch.empty(20, 8)) for data in timer.outputs()]
    timer.ok(bell.OP_RELEASE)
    timer.exit()
    return oracle.compare(outputs, slot=slot, state_slot=slot)


def test_a_right_candidate_passes_with_each_state(oracle: Child, runner: Child) -> None:
    loaded = _load(oracle, runner, NEW.replace("RETURN", RIGHT))
    assert loaded["state_by"] == "name"
    assert loaded["state_missing"] == []
    for slot in (0, 1, 0):
        verdict = _verdict(oracle, runner, slot)
        assert verdict["ok"]
        assert verdict["outputs"][0]["precision_ok"]


@pytest.mark.parametrize(
    "body",
    [
        "return F.gelu(F.linear(x, self.l.weight)) * k",
        "return F.gelu(self.l(x)) * 2",
        "return torch.zeros(x.shape[0], 8)",
        "y = F.gelu(self.l(x)) * k; y[-1, -1] = 0; return y",
        "return F.gelu(self.l(x), approximate='tanh') * k * 1.01",
        "return torch.empty(x.shape[0], 8)",
        "self.c = getattr(self, 'c', None); "
        "self.c = F.gelu(self.l(x)) * k if self.c is None else self.c; return self.c",
    ],
)
def test_a_wrong_candidate_is_wrong(oracle: Child, runner: Child, body: str) -> None:
    _load(oracle, runner, NEW.replace("RETURN", body))
    first, second = _verdict(oracle, runner, 0), _verdict(oracle, runner, 1)
    assert not (first["ok"] and second["ok"])


def test_state_arrives_by_order_and_shape_where_names_differ(oracle: Child, runner: Child) -> None:
    text = NEW.replace("self.l", "self.other").replace("RETURN", "return F.gelu(self.other(x)) * k")
    assert _load(oracle, runner, text)["state_by"] == "shape"
    assert _verdict(oracle, runner)["ok"]


def test_missing_state_is_named_and_left_alone(oracle: Child, runner: Child) -> None:
    text = NEW.replace("self.l = nn.Linear(12, 8)", "self.m = nn.Linear(12, 8, bias=False)")
    loaded = _load(oracle, runner, text.replace("RETURN", "return F.gelu(self.m(x)) * k"))
    assert loaded["state_by"] is None
    assert loaded["state_missing"] == ["state:l.weight", "state:l.bias"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return [self.l(x), x]", "2 outputs came"),
        ("return self.l(x).double()", "float64"),
        ("return self.l(x).reshape(8, 20)", "[8, 20]"),
        ("return nn.Parameter(self.l(x))", "Parameter"),
        ("y = self.l(x); y.late = 1; return y", "plain tensors"),
        ("raise SystemExit(0)", "SystemExit"),
        ("return 1 / 0", "division"),
    ],
)
def test_a_call_that_fails_is_a_status_with_a_message(
    oracle: Child, runner: Child, body: str, words: str
) -> None:
    _load(oracle, runner, NEW.replace("RETURN", body))
    timer = Timer(runner, {})
    timer.ok(bell.OP_PREPARE)
    timer.ring(bell.OP_CALL)
    assert timer.page.bell.status == 1
    assert words in timer.page.bell.message.decode()
    timer.ok(bell.OP_EMPTY)
    timer.exit()


@pytest.mark.parametrize(
    ("text", "code", "where"),
    [
        (NEW.replace("RETURN", "return ("), "compile_failed", "model_new.py:12"),
        (NEW + "\nimport no_such_thing\n", "task_failed", "model_new.py:14"),
        ("x = 1\n", "task_failed", "model_new.py"),
        (NEW.replace("super().__init__()", "nope"), "task_failed", "model_new.py:8"),
        (
            NEW + "\nraise RuntimeError('Error building extension x')\n",
            "compile_failed",
            "model_new.py:14",
        ),
    ],
)
def test_a_candidate_that_does_not_load_names_its_line(
    oracle: Child, runner: Child, text: str, code: str, where: str
) -> None:
    with pytest.raises(RemoteError) as caught:
        _load(oracle, runner, text)
    assert (caught.value.code, caught.value.where.split("/")[-1]) == (code, where)


def test_a_file_name_that_leaves_the_folder_is_refused(oracle: Child, runner: Child) -> None:
    with pytest.raises(RemoteError) as caught:
        _load(oracle, runner, NEW, files={"model_new.py": NEW, "../../evil.py": "x"})
    assert caught.value.code == "invalid_input"


def test_a_runner_has_no_code_of_the_oracle(oracle: Child, runner: Child) -> None:
    check = (
        "import sys\nassert not [m for m in sys.modules if m in ('heddle_oracle.task',"
        " 'heddle_oracle.oracle', 'heddle_oracle.compare', 'heddle_oracle.families')]\n"
    )
    assert _load(oracle, runner, check + NEW.replace("RETURN", RIGHT))["state_by"] == "name"


def test_changing_an_input_in_place_is_visible_to_the_timer(oracle: Child, runner: Child) -> None:
    body = "y = F.gelu(self.l(x)) * k; x.zero_(); return y"
    _load(oracle, runner, NEW.replace("RETURN", body))
    timer = Timer(runner, {})
    timer.ok(bell.OP_PREPARE)
    before = timer.inputs()[0]
    timer.ok(bell.OP_CALL)
    assert timer.inputs()[0] != before
    timer.exit()


def test_the_candidate_is_in_the_mode_of_the_task(oracle: Child, runner: Child) -> None:
    modal = NEW.replace("RETURN", RIGHT + " * (0.5 if self.training else 1)")
    _load(oracle, runner, modal, mode="eval")
    assert _verdict(oracle, runner)["ok"]


def test_as_constructed_leaves_the_mode_alone(oracle: Child, runner: Child) -> None:
    modal = NEW.replace("RETURN", RIGHT + " * (0.5 if self.training else 1)")
    _load(oracle, runner, modal)
    assert not _verdict(oracle, runner)["ok"]


POISON = b"\xff" * 4


def _guarded_call(runner: Child, flags: int = bell.CALL_GUARDED, state_slot: int = 0) -> bytes:
    timer = Timer(runner, {})
    timer.ok(bell.OP_PREPARE, state_slot=state_slot, flags=flags)
    timer.ok(bell.OP_CALL, flags=flags)
    (data,) = timer.outputs()
    timer.ok(bell.OP_RELEASE)
    timer.exit()
    return data


@pytest.mark.parametrize(
    "body",
    [
        "return torch.empty(x.shape[0], 8)",
        # The right result, freed just before: what an allocator hands back next.
        "y = F.gelu(self.l(x)) * k; del y; return torch.empty(x.shape[0], 8)",
    ],
)
def test_memory_that_was_never_written_holds_poison_in_a_guarded_call(
    oracle: Child, runner: Child, body: str
) -> None:
    loaded = _load(oracle, runner, NEW.replace("RETURN", body))
    assert loaded["poisons"] is True
    assert _guarded_call(runner) == POISON * 160
    assert _guarded_call(runner, flags=0) != POISON * 160


def test_poison_ends_with_the_call_even_where_it_raises() -> None:
    assert can_poison([1, 100, 5000])
    with pytest.raises(ZeroDivisionError), poisoned_memory([5000]):
        assert bool((torch.empty(5000, dtype=torch.uint8) == 0xFF).all())
        raise ZeroDivisionError
    # What is freed now and found again may keep its content, but is not filled anew.
    torch.empty(5000, dtype=torch.uint8).fill_(0x11)
    assert not bool((torch.empty(5000, dtype=torch.uint8) == 0xFF).all())


BAKED = """

class Baked(ModelNew):
    def load_state_dict(self, *given, **more):
        done = super().load_state_dict(*given, **more)
        self.w, self.b = self.l.weight.clone(), self.l.bias.clone()
        return done

    def forward(self, x, k=2):
        return F.gelu(F.linear(x, self.w, self.b)) * k
"""


@pytest.mark.parametrize(("name", "follows"), [("ModelNew", True), ("Baked", False)])
def test_a_state_put_in_place_shows_who_keeps_what_it_made_of_the_first(
    oracle: Child, runner: Child, name: str, follows: bool
) -> None:
    _load(oracle, runner, NEW.replace("RETURN", RIGHT) + BAKED, **{"class": name})
    oracle.call("expect", {"slot": 0, "state_slot": 1})
    like = torch.empty(20, 8)
    loaded = tensor_of(_guarded_call(runner), like)
    assert oracle.compare([loaded], slot=0, state_slot=0)["ok"]
    flags = bell.CALL_GUARDED | bell.CALL_STATE_IN_PLACE
    updated = tensor_of(_guarded_call(runner, flags, state_slot=1), like)
    assert oracle.compare([updated], slot=0, state_slot=1)["ok"] is follows
    again = tensor_of(_guarded_call(runner), like)
    assert oracle.compare([again], slot=0, state_slot=0)["ok"]


OWN = """
import numpy
LIBRARY = torch.library.Library("mine", "DEF")
LIBRARY.define("own(Tensor x, Tensor w, Tensor b) -> Tensor")
LIBRARY.define("theirs(Tensor x, Tensor w, Tensor b) -> Tensor")


def own(x, w, b):
    for _ in range(20):
        y = numpy.sin(x.numpy() @ w.numpy().T + b.numpy())
    return torch.from_numpy(y)


LIBRARY.impl("own", own, "CPU")
LIBRARY.impl("theirs", lambda x, w, b: heavy(x, w, b), "CPU")


def heavy(x, w, b):
    for _ in range(200):
        y = torch.ops.mkldnn._linear_pointwise(x, w, b, "none", [], "")
    return y


def in_thread(x, w, b):
    made = []
    work = lambda: [made.append(torch.sin(x.t() @ x)) for _ in range(200)]
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return torch.empty(20, 8)
"""


@pytest.mark.parametrize(
    ("call", "is_own"),
    [
        ("torch.ops.mine.own", True),
        ("torch.ops.mine.theirs", False),
        ("heavy", False),
        ("in_thread", False),
    ],
)
def test_coverage_tells_own_operators_from_those_of_pytorch(
    oracle: Child, runner: Child, call: str, is_own: bool
) -> None:
    body = f"return {call}(x, self.l.weight.detach(), self.l.bias.detach())"
    _load(oracle, runner, "import threading\n" + NEW.replace("RETURN", body) + OWN)
    shares = runner.call("coverage", {"slot": 0, "state_slot": 0})
    assert sum(shares.values()) == pytest.approx(1.0)
    assert (shares["own"] > 0.5) is is_own, shares


def test_a_candidate_that_raises_under_the_profiler_is_named(oracle: Child, runner: Child) -> None:
    _load(oracle, runner, NEW.replace("RETURN", "raise SystemExit(0)"))
    with pytest.raises(RemoteError) as caught:
        runner.call("coverage", {"slot": 0, "state_slot": 0})
    assert caught.value.code == "task_failed"
    assert "SystemExit" in caught.value.message
    assert caught.value.where.startswith("model_new.py:")
