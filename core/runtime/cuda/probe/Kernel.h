// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace heddle {

/// PTX of the probe's two kernels, for compute capability 7.0 and later (the driver translates it):
///   heddle_probe_gelu(x, w, b, y, count, columns): y[i] = v·σ(1.702·v) with v = x[i]·w[i mod columns] + b[i mod columns],
///     the sigmoid form of GELU (Hendrycks and Gimpel 2016); float32, one thread an element.
///   heddle_probe_read(from, to): *to = *from, one 32-bit word, one thread.
extern const char *const probePtx;

constexpr const char *probeGeluName = "heddle_probe_gelu";
constexpr const char *probeReadName = "heddle_probe_read";

} // namespace heddle
