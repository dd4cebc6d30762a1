// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace heddle {

/// Answers requests on the channel `descriptor` until the other side closes it; returns the exit code. Methods, in order:
/// - `start {device, library, raise_walls}` → `{sandbox?, driver_version, device, exchange, timings_us}`: raises the inner
///   walls as an executor does, then opens the driver and loads the kernels.
/// - `walls {secret_files, closed_folders, visible, process_outside, marker, scratch}` → `{attempts}`
///   (Walls.h).
/// - `attach {buffers: [{name, bytes}]}` with a descriptor each → `{buffers: [{name, sha256, slack_is_zero, range_bytes,
///   mapped_bytes, starts_range, import_us, map_us, access_us}]}`.
/// - `run {x, w, b, y, count, columns}` (names of buffers) → `{launch_us}`: one launch of the kernel, waited for.
/// - `overreach {buffer}` → `{attempts}` as `walls` gives them: mapping and reading more than the buffer. The last attempt
///   is meant to lose the context.
/// - `ping {}` → `{}`.
int serveProbe(int descriptor);

} // namespace heddle
