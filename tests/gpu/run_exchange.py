#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs heddle-gpu-exchange on each rung that this machine has and writes one JSON file.

Usage: run_exchange.py FOLDER OUTPUT [--rehearse], where FOLDER holds what run_exchange.sh has put
together. With --rehearse the fake driver stands for the GPU.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

LIMIT_S = 150


def first_line(path: str) -> str | None:
    """The first line of a file of the kernel's, None where there is no such file."""
    try:
        return Path(path).read_text(encoding="utf-8").partition("\n")[0]
    except OSError:
        return None


def run(argv: list[str], extra: dict[str, str] | None = None) -> dict[str, Any]:
    """A program's JSON, with its exit code and the end of what it complained about."""
    environment = {**os.environ, **(extra or {})}
    try:
        done = subprocess.run(
            argv, check=False, capture_output=True, text=True, timeout=LIMIT_S, env=environment
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return {"ok": False, "failed": f"{type(error).__name__}: {error}"}
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        answer = {"ok": False, "failed": "no JSON came", "stdout": done.stdout[-2000:]}
    answer["exit_code"] = done.returncode
    if done.stderr:
        answer["stderr"] = done.stderr[-3000:]
    return answer


def command(*argv: str) -> subprocess.CompletedProcess[str] | None:
    """A finished command, None where there is no such program."""
    if shutil.which(argv[0]) is None:
        return None
    return subprocess.run(argv, check=False, capture_output=True, text=True)


def machine() -> dict[str, Any]:
    query = "--query-gpu=name,driver_version,memory.total"
    gpu = command("nvidia-smi", query, "--format=csv,noheader")
    own_user_namespace = command("unshare", "--user", "true")
    return {
        "kernel": platform.release(),
        "version": platform.version(),
        "user": os.geteuid(),
        "gpu": gpu.stdout.strip() if gpu else None,
        "security_modules": first_line("/sys/kernel/security/lsm"),
        "max_user_namespaces": first_line("/proc/sys/user/max_user_namespaces"),
        "unprivileged_user_namespaces": first_line("/proc/sys/kernel/unprivileged_userns_clone"),
        "apparmor_restricts_user_namespaces": first_line(
            "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"
        ),
        "can_unshare_user": own_user_namespace is not None and own_user_namespace.returncode == 0,
        "bubblewrap": shutil.which("bwrap"),
    }


def main() -> int:
    place, output, *options = Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:]
    exchange = [
        str(place / "bin/heddle-gpu-exchange"),
        "--python",
        sys.executable,
        "--package",
        str(place / "python"),
    ]
    fake = ["--fake", "--library", str(place / "lib/libheddle_fake_cuda.so"), "--rounds", "20"]
    if "--rehearse" in options:
        exchange += fake
    report: dict[str, Any] = {
        "machine": machine(),
        "doctor": run([str(place / "bin/heddle-cuda-probe"), "doctor"]),
        "runs": {},
    }
    runs: dict[str, dict[str, Any]] = report["runs"]

    def record(name: str, argv: list[str], extra: dict[str, str] | None = None) -> None:
        """Runs and writes at once: what was seen must outlive a limit on the whole."""
        runs[name] = run(argv, extra)
        output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")

    landlock = {"HEDDLE_SANDBOX": "landlock"}
    record("own_rung", exchange)
    if not runs["own_rung"].get("ok"):
        # Which part it is: the inner walls, or something that a machine without a GPU shows too.
        record("own_rung_outer_walls", [*exchange, "--outer-walls-only"])
        record("own_rung_open_proc", [*exchange, "--outer-walls-only", "--open-proc"])
        record("own_rung_fake_driver", [*exchange, *fake])
    record("landlock", exchange, landlock)
    # As in real work: the oracle in a sandbox of its own. It must be told where the driver lies.
    driver = runs["own_rung"].get("oracle", {}).get("environment", {}).get("driver", "")
    known = [] if "--rehearse" in options or not driver else ["--library", driver]
    record("confined_oracle", [*exchange, *known, "--confined-oracle"])
    if os.geteuid() == 0 and shutil.which("setpriv"):
        ordinary = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *exchange]
        record("ordinary_user", ordinary, {"HOME": "/nonexistent"})
    for name, one in runs.items():
        rung = one.get("rung", {}).get("rung", "?")
        verdict = one.get("verdict") or one.get("error") or one.get("failed")
        print(f"{name}: rung {rung}, ok {one.get('ok')}: {json.dumps(verdict)}")
    print(f"written: {output}")
    return 0 if runs["own_rung"].get("ok") else 1


if __name__ == "__main__":
    raise SystemExit(main())
