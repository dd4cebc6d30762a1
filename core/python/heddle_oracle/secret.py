# SPDX-License-Identifier: Apache-2.0
"""Seeds that no candidate can know: the operating system's secret mixed with the person's seed."""

from __future__ import annotations

import hashlib
import os


class SecretSeeds:
    """A source of independent seeds. The secret never leaves the oracle's process.

    `replay` (hex) stands in for the operating system's bytes when a sealed secret is replayed.
    """

    def __init__(self, seed: int, replay: str | None = None) -> None:
        entropy = bytes.fromhex(replay) if replay else os.urandom(32)
        self._key = hashlib.sha256(entropy + b"\0" + str(seed).encode()).digest()
        self._count = 0

    def next(self, label: str) -> int:
        """A fresh seed in [0, 2^63); `label` separates purposes."""
        self._count += 1
        digest = hashlib.sha256(self._key + f"\0{label}\0{self._count}".encode()).digest()
        return int.from_bytes(digest[:8], "little") & (2**63 - 1)
