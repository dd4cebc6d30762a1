#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The run on a machine with a GPU: exchange of tensors by file descriptors, and the sandbox with a GPU inside. Needs
# .carry/ (make_carry.sh) and a python3 with torch for CUDA (HEDDLE_PYTHON). Writes exchange.json into $OUT, or here.
# Exit code 0 when the exchange held on at least the machine's own rung. --rehearse: the fake driver stands for the GPU.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
out=${OUT:-$PWD}
if [ ! -x "$root/.carry/bin/heddle-gpu-exchange" ]; then
    echo "run_exchange.sh: there is no .carry/: run tests/gpu/make_carry.sh where the compiler is, and bring it" >&2
    exit 2
fi

# A place that every user may enter, so that what is refused is refused by the sandbox and not by a folder's mode.
place=$(mktemp -d /opt/heddle-exchange-XXXXXX 2>/dev/null || mktemp -d)
wrapper=""
cleanup() {
    rm -rf "$place"
    [ -z "$wrapper" ] || rm -f "$wrapper"
}
trap cleanup EXIT
cp -r "$root/.carry/." "$place/"
mkdir -p "$place/python"
cp -r "$root/core/python/heddle_oracle" "$place/python/"
chmod -R u+rwX,go+rX "$place"

if ! command -v bwrap >/dev/null && [ "$(id -u)" = 0 ]; then
    # Where the sandbox looks for it; taken away again at the end.
    wrapper=/usr/local/bin/bwrap
    printf '#!/bin/sh\nexec /lib64/ld-linux-x86-64.so.2 --library-path %s %s "$@"\n' \
        "$place/bubblewrap" "$place/bubblewrap/bwrap" >"$wrapper"
    chmod 755 "$wrapper"
fi
"${HEDDLE_PYTHON:-python3}" "$root/tests/gpu/run_exchange.py" "$place" "$out/exchange.json" "$@"
