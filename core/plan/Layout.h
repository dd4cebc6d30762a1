// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"
#include "core/json/Json.h"
#include "core/plan/Dtype.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heddle {

/// A contiguous tensor by name ("input:x", "state:fc.weight", "out:0").
struct TensorInfo {
    std::string name;
    Dtype dtype = Dtype::Float32;
    std::vector<std::int64_t> shape;

    /// Product of the shape; 1 for a scalar.
    std::int64_t elements() const;
    std::int64_t bytes() const { return elements() * dtypeBytes(dtype); }
};

/// An input of forward() that is not a tensor; `value` is what the oracle sent (often a number).
struct ValueInfo {
    std::string name;
    Json value;
};

/// What a plan is resolved against: the tensors and values of one task, in the oracle's order.
struct TaskLayout {
    std::vector<TensorInfo> inputs;
    std::vector<TensorInfo> state;
    std::vector<ValueInfo> values;
    std::vector<TensorInfo> outputs;  ///< names are "out:0", "out:1", …
    std::vector<std::string> updates; ///< state that forward() changes
};

/// Reads the `layout` of an arena or the result of the oracle's `open` (both have these members;
/// docs/architecture/oracle-protocol.md). Errors: InvalidInput naming the member. Negative or
/// overflowing sizes are refused.
Result<TaskLayout> layoutFromJson(const Json &value);

} // namespace heddle
