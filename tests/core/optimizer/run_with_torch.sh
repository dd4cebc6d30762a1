#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a Python test with the interpreter that has PyTorch, or skips (77) with the reason.
python="${HEDDLE_PYTHON:-${XDG_CACHE_HOME:-$HOME/.cache}/heddle-dev/python/bin/python}"
if ! "$python" -c 'import torch' 2>/dev/null; then
    echo "skipped: $python has no torch; set HEDDLE_PYTHON"
    exit 77
fi
exec "$python" "$@"
