# SPDX-License-Identifier: Apache-2.0
"""Hand-written plans for tasks of every form: judged, exported, and run in a clean Python with PyTorch alone."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from heddle import PYTHON, Home

KERNELS = """#include "heddle_cpu.h"

extern "C" void affine(const float *x, const float *weight, const float *bias, float *out, int64_t rows, int64_t cols)
{
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t col = 0; col < cols; ++col)
            out[row * cols + col] = x[row * cols + col] * weight[col] + bias[col];
}

extern "C" void sum_rows(const float *x, float *out, int64_t rows, int64_t cols)
{
    for (int64_t row = 0; row < rows; ++row) {
        float sum = 0.0f;
        for (int64_t col = 0; col < cols; ++col)
            sum += x[row * cols + col];
        out[row] = sum;
    }
}

extern "C" void pick(const float *table, const int64_t *index, float *out, int64_t count, int64_t cols)
{
    for (int64_t row = 0; row < count; ++row)
        for (int64_t col = 0; col < cols; ++col)
            out[row * cols + col] = table[index[row] * cols + col];
}

extern "C" void scaled(const float *x, float *out, int64_t count, float factor)
{
    for (int64_t i = 0; i < count; ++i)
        out[i] = x[i] * factor;
}

extern "C" void normalised(const float *x, const float *mean, const float *variance, float *out, int64_t rows, int64_t cols)
{
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t col = 0; col < cols; ++col)
            out[row * cols + col] = (x[row * cols + col] - mean[col]) / std::sqrt(variance[col] + 1e-5f);
}

extern "C" void count_up(int64_t *calls) { *calls += 1; }
"""

HEAD = """import torch
from torch import nn
"""

SYMBOLS = {"rows": "input:x.shape[0]", "cols": "input:x.shape[1]"}


def step(kernel: str, *arguments: str) -> dict[str, Any]:
    """A step of the plan; each argument is KIND VALUE."""
    pairs = [argument.split(" ", 1) for argument in arguments]
    return {"kernel": kernel, "source": "kernel.cpp", "args": [{kind: value} for kind, value in pairs]}


def tensor(*shape: str, dtype: str = "float32") -> dict[str, Any]:
    return {"dtype": dtype, "shape": list(shape)}


SUM = step("sum_rows", "ptr input:x", "ptr out:1", "i64 rows", "i64 cols")
DOUBLE = step("scaled", "ptr input:x", "ptr out:0", "i64 rows * cols", "f32 const:2.0")
PAIR = [tensor("rows", "cols"), tensor("rows")]


@dataclass
class Case:
    """A task, the plan that computes it, and what its exported file must refuse."""

    name: str
    source: str
    steps: list[dict[str, Any]]
    outputs: list[dict[str, Any]]
    siblings: dict[str, str] = field(default_factory=dict)
    updates: list[str] = field(default_factory=list)
    mode: str = "as-constructed"
    # Python expressions of calls that the exported file must not answer; `i` are the inputs.
    refused: tuple[str, ...] = ()


def returns(name: str, result: str, more: str = "", **rest: Any) -> Case:
    """A task that gives x * 2 and the sums of its rows in some structure."""
    source = f"""{HEAD}{more}

class Model(nn.Module):
    def forward(self, x):
        double, sums = x * 2.0, x.sum(dim=1)
        return {result}


def get_inputs():
    return [torch.randn(5, 7)]


def get_init_inputs():
    return []
"""
    return Case(name, source, [DOUBLE, SUM], PAIR, **rest)


CASES = [
    returns("list", "[double, sums]"),
    returns("tuple", "(double, sums)"),
    returns("nested", "{'z': (double,), 'a': [sums, None]}"),
    returns("ordered_dict", "OrderedDict(double=double, sums=sums)", "from collections import OrderedDict\n"),
    returns("named_tuple", "Pair(double, sums)",
            "from typing import NamedTuple\n\n\nclass Pair(NamedTuple):\n    double: torch.Tensor\n    sums: torch.Tensor\n"),
    Case(
        "siblings",
        f"""from __future__ import annotations
{HEAD}
from scaling import Scaling, factor


class Model(Scaling):
    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        return [x * self.weight + self.bias]


def get_inputs():
    return [torch.randn(5, 7) * factor]


def get_init_inputs():
    return [7]
""",
        [step("affine", "ptr input:x", "ptr state:weight", "ptr state:bias", "ptr out:0", "i64 rows", "i64 cols")],
        [tensor("rows", "cols")],
        siblings={
            "scaling.py": f"""{HEAD}
factor: int = 2


class Scaling(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(features))
        self.bias = nn.Parameter(torch.randn(features))
"""
        },
    ),
    Case(
        "keywords",
        f"""{HEAD}

class Model(nn.Module):
    def forward(self, x, *, scale: float = 1.0, mask=None, **more):
        return x * scale if mask is None else x * mask


def get_inputs():
    return {{"x": torch.randn(5, 7), "scale": 0.5}}


def get_init_inputs():
    return {{}}
""",
        [step("scaled", "ptr input:x", "ptr out:0", "i64 rows * cols", "f32 input:scale")],
        [tensor("rows", "cols")],
        refused=("model(i['x'], scale=0.25)", "model(**i, mask=torch.ones(5, 7))", "model(**i, other=1)"),
    ),
    Case(
        "optional_and_integer",
        f"""{HEAD}

class Model(nn.Module):
    def forward(self, x, index, offset: int = 0, *rest):
        return x[index] if offset == 0 else x[index + offset]


def get_inputs():
    return [torch.randn(5, 7), torch.randint(0, 5, (3,))]


def get_init_inputs():
    return []
""",
        [step("pick", "ptr input:x", "ptr input:index", "ptr out:0", "i64 input:index.shape[0]", "i64 cols")],
        [tensor("input:index.shape[0]", "cols")],
        refused=("model(*i, 1)", "model(*i, 0, 3)", "model(i[0], i[1].int())"),
    ),
    Case(
        "buffers",
        f"""{HEAD}

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.calls += 1
        return (x * 2.0,)


def get_inputs():
    return [torch.randn(5, 7)]


def get_init_inputs():
    return []
""",
        [DOUBLE, step("count_up", "ptr state:calls")],
        [tensor("rows", "cols")],
        updates=["state:calls"],
    ),
    Case(
        "eval_mode",
        f"""{HEAD}

class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.BatchNorm1d(features, affine=False)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(self.norm(x))


def get_inputs():
    return [torch.randn(5, 7)]


def get_init_inputs():
    return [7]
""",
        [step("normalised", "ptr input:x", "ptr state:norm.running_mean", "ptr state:norm.running_var", "ptr out:0",
              "i64 rows", "i64 cols")],
        [tensor("rows", "cols")],
        mode="eval",
        refused=("model.train()(*i)",),
    ),
]  # fmt: skip

# Runs with nothing of Heddle on its path: task and export side by side, structure and values.
COMPARE = """
import copy, importlib.util, sys
import torch

def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

def make(maker, values):
    values = copy.deepcopy(values)
    return maker(**values) if isinstance(values, dict) else maker(*values)

def same(a, b):
    assert type(a).__name__ == type(b).__name__, (type(a), type(b))
    if isinstance(a, torch.Tensor):
        torch.testing.assert_close(b, a, rtol=1e-5, atol=1e-5)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            same(a[key], b[key])
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for one, two in zip(a, b):
            same(one, two)
    else:
        assert a is None and b is None

exported, folder, mode, *refused = sys.argv[1:]
new = load(exported, "model_new")  # alone: the task's folder is not on the path yet
assert not {"scaling", "heddle_oracle"} & set(sys.modules)
sys.path.insert(0, folder)
task = load(folder + "/task.py", "task")
reference, model = make(task.Model, task.get_init_inputs()), make(new.ModelNew, task.get_init_inputs())
if mode == "eval":
    reference.eval()
assert model.training == reference.training
model.load_state_dict(reference.state_dict())
with torch.no_grad():
    for _ in range(2):
        i = task.get_inputs()
        same(make(reference, i), make(model, i))
        same(dict(reference.state_dict()), dict(model.state_dict()))
    for call in refused:
        try:
            eval(call)
        except (TypeError, ValueError, RuntimeError):
            continue
        raise AssertionError(call + " was answered")
print("same")
"""


@pytest.fixture(scope="module")
def home() -> Iterator[Home]:
    with Home() as made:
        yield made


def write(home: Home, case: Case) -> tuple[Path, Path]:
    """The task in a folder of its own, and its candidate."""
    folder = home.workspace / case.name
    folder.mkdir()
    for name, text in {"task.py": case.source, **case.siblings}.items():
        (folder / name).write_text(text, encoding="utf-8")
    candidate = home.folder / f"candidate-{case.name}"
    candidate.mkdir()
    plan = {"heddle": 1, "target": "cpu", "symbols": SYMBOLS, "steps": case.steps, "outputs": case.outputs}
    if case.updates:
        plan["updates"] = case.updates
    (candidate / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    (candidate / "kernel.cpp").write_text("#include <cmath>\n" + KERNELS, encoding="utf-8")
    return folder / "task.py", candidate


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_exported_file_gives_the_tasks_structure_and_values_with_pytorch_alone(home: Home, case: Case) -> None:
    task, candidate = write(home, case)
    out = home.folder / f"out-{case.name}"
    exported = home.cli("export", candidate, "--task", task, "-o", out, "--mode", case.mode)
    assert exported.code == 0, exported.text
    checked = exported.report["export"]["checked"]
    assert checked["ok"] and checked["outputs"] == len(case.outputs), checked
    clean = home.folder / f"clean-{case.name}"
    clean.mkdir()
    (clean / "compare.py").write_text(COMPARE, encoding="utf-8")
    done = subprocess.run(
        [PYTHON, "-I", clean / "compare.py", out / "model_new.py", task.parent, case.mode, *case.refused],
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(clean), "TORCH_EXTENSIONS_DIR": str(clean)},
        cwd=clean,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0 and done.stdout.strip() == "same", done.stdout + done.stderr


@pytest.mark.parametrize("name", ["siblings", "eval_mode"])
def test_the_judge_confirms_an_export_with_siblings_and_one_in_eval_mode(home: Home, name: str) -> None:
    case = next(case for case in CASES if case.name == name)
    task, candidate = home.workspace / case.name / "task.py", home.folder / f"candidate-{case.name}"
    if not task.exists():
        task, candidate = write(home, case)
    judged = home.cli("judge", task, candidate, "--mode", case.mode, "--confirm")
    rows = {row["id"]: row for row in judged.report["verdict"]["evidence"]}
    # The export is checked again with the judge's own inputs; a failed row would name it.
    assert rows["ran"]["status"] == "passed" and rows["correct"]["status"] == "passed", judged.text
