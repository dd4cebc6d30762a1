# SPDX-License-Identifier: Apache-2.0
"""Runs a Python tool as a module, or skips with the reason: ``run_tool.py MODULE ARGUMENTS…``.

Exit status 77 is ctest's word for skipped.
"""

import importlib.util
import os
import sys

SKIPPED = 77

if __name__ == "__main__":
    tool = sys.argv[1]
    if importlib.util.find_spec(tool) is None:
        print(f"skipped: {sys.executable} has no {tool}; `./dev` installs it, or pip install {tool}")
        sys.exit(SKIPPED)
    os.execv(sys.executable, [sys.executable, "-m", *sys.argv[1:]])
