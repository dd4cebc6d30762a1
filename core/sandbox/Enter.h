/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Called by a process that is already inside the outer sandbox, just before it runs untrusted code: Landlock (nothing
 * writable but $HEDDLE_SCRATCH and, where $HEDDLE_DEVICES names some, these and /proc/self), seccomp suited to the role, no core files, death with the parent. `role` is "oracle",
 * "runner" or "executor"; runners and executors can start threads but no processes afterwards, and can signal only themselves.
 * Writes a JSON object {"ok", "role", "landlock", "seccomp", "unsandboxed"?, "error"?} into `report` (NUL-terminated, cut to `bytes`).
 * HEDDLE_UNSANDBOXED=1 (--unsandboxed on a machine without any rung): a wall that can't be raised is left out and named so.
 * Returns 0, or -1 when a wall could not be raised: then the caller must not run untrusted code.
 * Exported by libheddle_sandbox.so for Python (ctypes). Call it while only one thread runs, or every thread but the
 * caller stays outside (seccomp is applied to all threads, Landlock to the calling one).
 */
int heddle_sandbox_enter(const char *role, char *report, int bytes);

#ifdef __cplusplus
}
#endif
