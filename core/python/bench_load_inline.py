# SPDX-License-Identifier: Apache-2.0
"""Times torch.utils.cpp_extension.load_inline of one kernel, to compare Heddle's latency with.

Usage: python bench_load_inline.py KERNEL INCLUDE_FOLDER; plan.json beside the kernel gives its
tunables. Prints {"seconds"} for the second of two builds, so that torch is imported and its build
machinery is warm.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import torch.utils.cpp_extension as cpp_extension


def tunable_flags(plan: Path) -> list[str]:
    tunables = json.loads(plan.read_text(encoding="utf-8")).get("tunables", {})
    return [f"-D{name}={entry['default']}" for name, entry in tunables.items()]


def build(source: str, include: str, flags: list[str], turn: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        cpp_extension.load_inline(
            name=f"heddle_bench_{turn}",
            cpp_sources=[f"{source}\nint64_t turn() {{ return {turn}; }}\n"],
            functions=["turn"],
            extra_cflags=["-std=c++20", "-O3", "-march=native", "-fopenmp", *flags],
            extra_include_paths=[include],
            build_directory=folder,
        )
        return time.perf_counter() - start


def main() -> None:
    kernel = Path(sys.argv[1])
    source = kernel.read_text(encoding="utf-8")
    flags = tunable_flags(kernel.parent / "plan.json")
    build(source, sys.argv[2], flags, 0)
    print(json.dumps({"seconds": build(source, sys.argv[2], flags, 1)}))


if __name__ == "__main__":
    main()
