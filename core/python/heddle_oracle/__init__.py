# SPDX-License-Identifier: Apache-2.0
"""The trusted Python side of judging; the contract is docs/architecture/oracle-protocol.md."""
