# SPDX-License-Identifier: Apache-2.0
"""Times torch.utils.cpp_extension.load_inline of one kernel, to compare Heddle's latency with.

Usage: python bench_load_inline.py KERNEL INCLUDE_FOLDER. Prints {"seconds"} for the second of two
builds, so that torch is imported and its build machinery is warm.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import torch.utils.cpp_extension as cpp_extension


def build(source: str, include: str, turn: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        cpp_extension.load_inline(
            name=f"heddle_bench_{turn}",
            cpp_sources=[f"{source}\nint64_t turn() {{ return {turn}; }}\n"],
            functions=["turn"],
            extra_cflags=["-O3", "-march=native", "-fopenmp"],
            extra_include_paths=[include],
            build_directory=folder,
        )
        return time.perf_counter() - start


def main() -> None:
    source = Path(sys.argv[1]).read_text(encoding="utf-8")
    build(source, sys.argv[2], 0)
    print(json.dumps({"seconds": build(source, sys.argv[2], 1)}))


if __name__ == "__main__":
    main()
