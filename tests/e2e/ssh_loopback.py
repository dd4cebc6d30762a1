# SPDX-License-Identifier: Apache-2.0
"""A worker behind ssh: a private sshd on 127.0.0.1 with keys and configuration of its own."""

from __future__ import annotations

import getpass
import os
import shlex
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from heddle import PLANS, PROGRAMS, Answer, Home, noise_reason, send

SSHD = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:" + os.environ.get("PATH", ""))
SSH = shutil.which("ssh")
if SSHD is None or SSH is None:
    pytest.skip("sshd or ssh is not installed (Debian: openssh-server)", allow_module_level=True)

TASK = PLANS / "bias_gelu/task.py"
CANDIDATE = PLANS / "bias_gelu/cpu"
TARGET = "ssh://loopback/cpu"


@dataclass
class Loopback:
    """This machine seen through ssh. `here` runs the command line, `there` the worker: they share no folder."""

    here: Home
    there: Home
    environment: dict[str, str]

    def judge(self, target: str = TARGET, **environment: str) -> Answer:
        return self.here.cli(
            "--target", target, "judge", TASK, CANDIDATE, environment=self.environment | environment
        )

    def workers(self) -> list[int]:
        return [pid for pid, role in self.there.processes().items() if role == "worker"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start_sshd(folder: Path, port: int) -> subprocess.Popen[bytes]:
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    shutil.copy(folder / "user.pub", folder / "authorized")
    configuration = folder / "sshd_config"
    configuration.write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nPidFile none\n"
        f"AuthorizedKeysFile {folder}/authorized\nStrictModes no\nUsePAM no\n"
        "PasswordAuthentication no\nKbdInteractiveAuthentication no\n"
    )
    return subprocess.Popen([SSHD, "-D", "-f", configuration, "-E", folder / "sshd.log"])


def write_client(folder: Path, port: int) -> Path:
    """An `ssh` that knows the host "loopback" and nothing of the person's own configuration."""
    host_key = (folder / "host.pub").read_text().split()[:2]
    (folder / "known").write_text(f"[127.0.0.1]:{port} {' '.join(host_key)}\n")
    (folder / "ssh_config").write_text(
        f"Host loopback\n HostName 127.0.0.1\n Port {port}\n User {getpass.getuser()}\n"
        f"Host nobody\n HostName 127.0.0.1\n Port {free_port()}\n"
        f"Host *\n IdentityFile {folder}/user\n IdentitiesOnly yes\n UserKnownHostsFile {folder}/known\n"
        " StrictHostKeyChecking yes\n"
    )
    client = folder / "ssh"
    client.write_text(f'#!/bin/sh\nexec {SSH} -F {folder}/ssh_config "$@"\n')
    client.chmod(0o755)
    return client


def wait_for(port: int, sshd: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + 20
    while time.monotonic() < end and sshd.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    said = log.read_text() if log.exists() else ""
    pytest.skip(f"sshd does not run here: {said.strip()}")


@pytest.fixture(scope="module")
def loopback() -> Iterator[Loopback]:
    # Where sshd runs as root it insists on this folder, which a package's postinst may have left to systemd.
    separation = Path("/run/sshd")
    is_made = os.geteuid() == 0 and not separation.exists()
    if is_made:
        separation.mkdir(mode=0o755)
    with Home() as here, Home() as there:
        folder = here.folder / "ssh"
        folder.mkdir(mode=0o700)
        port = free_port()
        sshd = start_sshd(folder, port)
        try:
            client = write_client(folder, port)
            wait_for(port, sshd, folder / "sshd.log")
            names = ("HEDDLE_PYTHON", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR")
            remote = ["env", *(f"{name}={there.environment[name]}" for name in names)]
            remote += [str(PROGRAMS / "heddle-worker"), "--stdio"]
            yield Loopback(
                here, there, {"HEDDLE_SSH": str(client), "HEDDLE_REMOTE_WORKER": shlex.join(remote)}
            )
        finally:
            sshd.terminate()
            sshd.wait(timeout=20)
            if is_made:
                separation.rmdir()


def test_the_verdict_is_the_same_as_locally(loopback: Loopback) -> None:
    remote = loopback.judge()
    assert remote.report.get("target") == {"name": TARGET}, remote.text
    local = loopback.here.cli("judge", TASK, CANDIDATE)
    statuses = []
    for answer in (remote, local):
        rows = {row["id"]: row["status"] for row in answer.report["verdict"]["evidence"]}
        assert "failed" not in rows.values(), answer.text
        statuses.append(rows)
    both = [name for name in statuses[0] if "not run" not in (statuses[0][name], statuses[1].get(name, "not run"))]
    assert "correct" in both and "inputs_unchanged" in both and "sandbox" in both
    assert all(statuses[0][name] == statuses[1][name] for name in both)
    if not noise_reason(remote.report) and not noise_reason(local.report):
        assert (remote.code, remote.report["verdict"]["class"]) == (local.code, local.report["verdict"]["class"])
        assert remote.code == 0, remote.text


def test_the_worker_stays_when_the_connection_ends(loopback: Loopback) -> None:
    assert loopback.judge().code in (0, 3)
    before = loopback.workers()
    assert len(before) == 1
    assert loopback.judge().code in (0, 3)
    assert loopback.workers() == before
    end = time.monotonic() + 20
    while "bridge" in loopback.there.processes().values() and time.monotonic() < end:
        time.sleep(0.05)
    assert "bridge" not in loopback.there.processes().values()


def ssh_children(cli: int) -> list[int]:
    """The ssh processes that this command line started."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit():
                words = (entry / "stat").read_text().rpartition(")")
                if int(words[2].split()[1]) == cli and "(ssh" in words[0]:
                    found.append(int(entry.name))
        except (OSError, IndexError):
            continue
    return found


def test_a_lost_connection_is_a_clear_error_and_the_next_call_works(loopback: Loopback) -> None:
    assert loopback.judge().code in (0, 3)
    workers = loopback.workers()
    here = loopback.here
    cli = here.start(
        "--target", TARGET, "judge", TASK, CANDIDATE, "--workspace", here.workspace,
        environment=loopback.environment,
    )
    # One lost connection is made anew in silence; whoever loses every one is told.
    kills = 0
    end = time.monotonic() + 120
    while cli.poll() is None and time.monotonic() < end:
        for pid in ssh_children(cli.pid):
            time.sleep(0.1)
            send(pid, signal.SIGKILL)
            kills += 1
        time.sleep(0.01)
    out, err = cli.communicate(timeout=60)
    assert kills > 0 and cli.returncode == 1, f"{kills} kills, exit code {cli.returncode}\n{out}\n{err}"
    assert "ssh" in err and "next: " in err, err
    after = loopback.judge()
    assert after.code in (0, 3) and "verdict" in after.report, after.text
    assert loopback.workers() == workers


def test_a_host_that_does_not_answer_is_an_error_with_what_ssh_said(loopback: Loopback) -> None:
    answer = loopback.judge("ssh://nobody/cpu")
    assert answer.code == 1, answer.text
    assert "Connection refused" in answer.err and "nobody" in answer.err and "next: " in answer.err


def test_a_host_without_heddle_is_an_error_with_what_its_shell_said(loopback: Loopback) -> None:
    answer = loopback.judge(HEDDLE_REMOTE_WORKER="/nowhere/heddle-worker --stdio")
    assert answer.code == 1, answer.text
    assert "/nowhere/heddle-worker" in answer.err and "next: " in answer.err


def test_a_target_that_ssh_would_take_for_an_option_is_refused(loopback: Loopback) -> None:
    answer = loopback.judge("ssh://-oProxyCommand=false/cpu")
    assert answer.code == 2, answer.text
    assert "ssh://HOST/cpu" in answer.err
