# SPDX-License-Identifier: Apache-2.0
"""Starts a zygote from this folder: ``python -I launch.py --role oracle|runner``, channel on fd 3.

Isolated mode ignores PYTHONPATH and the current folder, so that nothing beside this file can stand
in for a module; this file adds its own folder, and only that.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from heddle_oracle.zygote import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
