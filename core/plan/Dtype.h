// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace heddle {

/// An element type of tensors, buffers and outputs; the words are PyTorch's without "torch.".
enum class Dtype : std::uint8_t {
    Float32,
    Float64,
    Float16,
    BFloat16,
    Int64,
    Int32,
    Int16,
    Int8,
    UInt8,
    Bool,
};

/// What a plan runs on.
enum class PlanTarget : std::uint8_t { Cpu, Cuda };

/// "float32", "bool", … : the word in plans and protocols.
std::string_view dtypeName(Dtype dtype);
/// The inverse of dtypeName(); nothing for an unknown word.
std::optional<Dtype> dtypeFromName(std::string_view name);
/// Bytes of one element.
std::int64_t dtypeBytes(Dtype dtype);
/// The C++ element type that a kernel's prototype names for this dtype, e.g. "float", "int64_t",
/// "heddle::bfloat16" (heddle_cpu.h) or "__nv_bfloat16" on CUDA.
std::string_view dtypeCppName(Dtype dtype, PlanTarget target);

std::string_view targetName(PlanTarget target);

} // namespace heddle
