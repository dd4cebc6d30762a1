# SPDX-License-Identifier: Apache-2.0
"""Each way in which a task file can be bad gets its line and a remedy."""

from __future__ import annotations

import pytest
from conftest import Child, RemoteError, ZygoteProcess, task_text

PATH = "/somewhere/bad_task.py"
GOOD = task_text("x|return x * 2", "[torch.randn(4)]")


def _swap(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


def _line(source: str, text: str) -> str:
    for number, line in enumerate(source.splitlines(), start=1):
        if text in line:
            return f"{PATH}:{number}"
    raise AssertionError(text)


BAD = {
    "not Python": (_swap("class Model", "klass Model"), "klass Model", "not Python"),
    "no Model": (_swap("class Model", "class Other"), "import torch", "no Model"),
    "no get_inputs": (_swap("def get_inputs", "def inputs"), "import torch", "no get_inputs"),
    "exception at import": (GOOD + "\n1 / 0\n", "1 / 0", "ZeroDivisionError"),
    "exit at import": (GOOD + "\nraise SystemExit(0)\n", "SystemExit(0)", "SystemExit"),
    "missing module": (GOOD + "\nimport no_such_module\n", "no_such_module", "ModuleNotFound"),
    "exception in init": (_swap("        pass", "        self.x = {}['k']"), "{}['k']", "KeyError"),
    "exception in forward": (_swap("return x * 2", "return x @ x.nope"), "x.nope", "nope"),
    "exception in get_inputs": (
        _swap("return [torch.randn(4)]", "return [torch.randn(-4)]"),
        "randn(-4)",
        "get_inputs failed",
    ),
    "wrong return of forward": (_swap("return x * 2", "return 3"), "def forward", "int"),
    "nothing returned": (_swap("return x * 2", "x * 2"), "def forward", "no tensor"),
    "get_inputs returns a tensor": (
        _swap("[torch.randn(4)]", "torch.randn(4)"),
        "def get_inputs",
        "Tensor",
    ),
    "too many inputs": (_swap("[torch.randn(4)]", "[1, 2, 3]"), "def get_inputs", "does not fit"),
    "Model is no module": (_swap("(nn.Module)", ""), "class Model", "Module"),
    "complex input": (
        _swap("[torch.randn(4)]", "[torch.randn(4).to(torch.complex64)]"),
        "def get_inputs",
        "complex64",
    ),
    "an object as input": (_swap("[torch.randn(4)]", "[object()]"), "def get_inputs", "object"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_task_file_names_its_line_and_a_remedy(
    oracle_zygote: ZygoteProcess, kind: str
) -> None:
    source, line, words = BAD[kind]
    if kind == "Model is no module":
        source = source.replace("super().__init__()", "super().__init__()")
    child = oracle_zygote.fork()
    try:
        with pytest.raises(RemoteError) as caught:
            child.open(source, PATH)
    finally:
        oracle_zygote.children.remove(child)
        child.kill()
    assert caught.value.code == "task_failed"
    assert caught.value.where == _line(source, line)
    assert words in caught.value.message
    assert len(caught.value.next) > 10


def test_running_out_of_memory_is_named_as_such(oracle: Child) -> None:
    with pytest.raises(RemoteError) as caught:
        oracle.open(_swap("torch.randn(4)", "torch.empty(1 << 50)"), PATH)
    assert caught.value.code == "out_of_memory"
    assert caught.value.where.startswith(PATH)


def test_an_error_in_a_sibling_names_the_sibling(oracle: Child) -> None:
    source = GOOD.replace("return x * 2", "import helper; return helper.twice(x)")
    with pytest.raises(RemoteError) as caught:
        oracle.open(source, PATH, siblings={"helper.py": "def twice(x):\n    return x.no\n"})
    assert caught.value.where == "/somewhere/helper.py:2"


def test_siblings_are_imported_and_data_files_found(oracle: Child) -> None:
    source = GOOD.replace(
        "return x * 2",
        "import os; from pack.helper import twice; "
        "assert os.path.exists(os.path.join(os.path.dirname(__file__), 'table.txt')); "
        "return twice(x)",
    )
    siblings = {
        "pack/__init__.py": "",
        "pack/helper.py": "def twice(x):\n    return 2 * x\n",
        "table.txt": "1 2 3",
    }
    assert oracle.open(source, PATH, siblings=siblings)["outputs"][0]["shape"] == [4]


def test_what_the_task_changes_of_other_modules_does_not_reach_another_task(
    oracle_zygote: ZygoteProcess,
) -> None:
    bad = GOOD + "\ntorch.relu = None\n"
    first, second = oracle_zygote.fork(), oracle_zygote.fork()
    first.open(bad)
    second.open(GOOD.replace("return x * 2", "return torch.relu(x)"))
    for child in (first, second):
        oracle_zygote.children.remove(child)
        child.kill()


def test_a_task_is_opened_with_a_number_of_threads_and_uses_it(oracle: Child) -> None:
    for threads in (0, -1):
        with pytest.raises(RemoteError) as caught:
            oracle.open(GOOD, threads=threads)
        assert caught.value.code == "invalid_input"
    assert oracle.open(GOOD, threads=2)["environment"]["threads"] == 2


def test_a_list_and_a_dict_as_inputs_are_told_how_to_name_arguments(
    oracle_zygote: ZygoteProcess,
) -> None:
    source = task_text("x, y=None, *, k=2.0|return x * k", "([torch.randn(4)], {'k': 3.0})")
    child = oracle_zygote.fork()
    try:
        with pytest.raises(RemoteError) as caught:
            child.open(source, PATH)
    finally:
        oracle_zygote.children.remove(child)
        child.kill()
    assert caught.value.code == "task_failed"
    assert "one dict of all of them" in caught.value.next
