# SPDX-License-Identifier: Apache-2.0
"""What `./dev` says when a machine lacks something: one sentence of what, one of what to do, before anything is changed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PACKAGES = r"""#!/bin/bash
for name in "${@:3}"; do [ "$name" = "$LACKING" ] || echo "installed $name"; done
"""
DISK = """#!/bin/bash
echo "Filesystem 1024-blocks Used Available Capacity Mounted on"
echo "disk 9 9 1048576 1% /"
"""
USER = """#!/bin/bash
echo 1000
"""


class Dev(unittest.TestCase):
    """Runs the real script with some programs of the system replaced by ones that say what a test wants."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = Path(folder.name)
        self.programs = self.home / "programs"
        self.programs.mkdir()
        self.replace("dpkg-query", PACKAGES)

    def replace(self, name: str, script: str) -> None:
        path = self.programs / name
        path.write_text(script, encoding="utf-8")
        path.chmod(0o755)

    def run_dev(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": f"{self.programs}:{os.environ['PATH']}", "HOME": str(self.home),
                       "HEDDLE_DEV_HOME": str(self.home / "dev")} | variables
        return subprocess.run([ROOT / "dev", *arguments], env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60, check=False)

    def test_an_unknown_command_is_bad_usage(self) -> None:
        result = self.run_dev("frobnicate")
        self.assertEqual(result.returncode, 2)
        self.assertIn("usage:", result.stderr)

    def test_without_root_the_missing_packages_are_named_with_the_command_that_installs_them(self) -> None:
        self.replace("id", USER)
        result = self.run_dev("build", LACKING="cmake")
        self.assertEqual(result.returncode, 1)
        self.assertIn("these Debian packages are missing: cmake\n", result.stderr)
        self.assertIn("sudo apt-get install --no-install-recommends cmake", result.stderr)

    def test_a_full_disk_is_seen_before_anything_is_fetched(self) -> None:
        self.replace("df", DISK)
        result = self.run_dev("build")
        self.assertEqual(result.returncode, 1)
        self.assertIn("and 1 GB are free there", result.stderr)
        self.assertFalse((self.home / "dev/python").exists())

    def test_an_interpreter_that_does_not_exist_is_refused(self) -> None:
        result = self.run_dev("build", HEDDLE_PYTHON="/nonexistent/python")
        self.assertEqual(result.returncode, 1)
        self.assertIn("HEDDLE_PYTHON names no program", result.stderr)

    def test_an_interpreter_with_an_old_torch_is_refused_and_named(self) -> None:
        package = self.home / "old/torch-2.8.1.dist-info"
        package.mkdir(parents=True)
        (package / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.8.1\n", encoding="utf-8")
        result = self.run_dev("build", HEDDLE_PYTHON=sys.executable, PYTHONPATH=str(package.parent))
        self.assertEqual(result.returncode, 1)
        self.assertIn("has no torch of version 2.9 or later", result.stderr)

    def test_an_unknown_argument_of_test_is_refused(self) -> None:
        result = self.run_dev("test", "everything")
        self.assertEqual(result.returncode, 1)
        self.assertIn("test takes no argument but --all", result.stderr)


REPORT = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="x" tests="6" failures="1" disabled="1" skipped="2">
<testcase name="good" status="run"><system-out>[ RUN      ] A.b
a.cpp:3: Skipped
no GPU here

[  SKIPPED ] A.b (0 ms)
SKIPPED [1] tests/test_x.py:7: the machine is not quiet
SKIP   : Window::paints() no display
</system-out></testcase>
<testcase name="bad" status="fail"><failure message=""/><system-out></system-out></testcase>
<testcase name="unbuilt" status="notrun"><skipped message="Unable to find executable"/></testcase>
<testcase name="unwanted" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>
<system-out>no sshd is installed
</system-out></testcase>
<testcase name="off" status="disabled"><system-out>Disabled</system-out></testcase>
<testcase name="quiet" status="run"><system-out>SKIPPED nothing</system-out></testcase>
</testsuite>
"""


class Report(unittest.TestCase):
    """What `./dev test` counts is what ctest ran; a test that could not be started is no skip."""

    def test_each_test_is_counted_as_what_it_was(self) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".xml", encoding="utf-8") as file:
            file.write(REPORT)
            file.flush()
            result = subprocess.run([sys.executable, ROOT / "tests/lint/read_report.py", file.name],
                                    capture_output=True, text=True, timeout=60, check=True)
        self.assertEqual(result.stdout.splitlines(), [
            "passed\tgood",
            "part\tgood: A.b: no GPU here",
            "part\tgood: tests/test_x.py:7: the machine is not quiet",
            "part\tgood: Window::paints() no display",
            "failed\tbad",
            "failed\tunbuilt: Unable to find executable",
            "skipped\tunwanted: no sshd is installed",
            "skipped\toff: Disabled",
            "passed\tquiet"])


if __name__ == "__main__":
    unittest.main()
