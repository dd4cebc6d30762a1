// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/optimizer/Affine.h"
#include "core/optimizer/Ir.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heddle {

/// A buffer that kernels read or write: "input:x", "state:w", "const:0", "tmp:t0", "out:0".
struct KernelBuffer {
    std::string name;
    TensorType type;
    bool operator==(const KernelBuffer &other) const { return name == other.name; }
};

/// A scalar of the loop body.
struct KernelExpression {
    enum class Kind : std::uint8_t { Load, Literal, Index, Operation, Total };
    static constexpr int outerOnly = -1;

    Kind kind = Kind::Literal;
    std::string op; ///< Operation
    Dtype dtype = Dtype::Float32;
    std::vector<int> args; ///< expressions
    int buffer = -1;       ///< Load
    Affine index;          ///< Load: element; Index: the value itself
    double number = 0.0;   ///< Literal
    std::int64_t integer = 0;
    int reduction = -1;    ///< Total
    int stage = 0;         ///< the first stage that can compute it
    int space = outerOnly; ///< the inner space that it varies over, or outerOnly
    std::string origin;
};

/// A fold of `operand` over one inner space, finished at the end of its stage.
struct KernelReduction {
    std::string op; ///< "sum", "prod", "max", "min", or "max_quick": NaN may be lost
    int operand = -1;
    Dtype dtype = Dtype::Float32;
    int space = 0;
    int stage = 0;
    std::string origin;
};

struct KernelStore {
    int buffer = -1;
    Affine index;
    int value = -1;
    int space = KernelExpression::outerOnly;
    int stage = 0;
};

struct KernelAxis {
    std::int64_t extent = 1;
};

/// One fused loop nest: for each point of the outer axes, stages run one after the other; a stage is one
/// traversal of an inner space that folds its reductions and writes its stores. Space 0 is the rest of the
/// stores' own domain (maybe empty); further spaces belong to reductions of another size.
struct Kernel {
    std::string name;
    std::vector<KernelAxis> axes;
    std::vector<int> outer;               ///< axes, slowest first
    std::vector<std::vector<int>> spaces; ///< axes of each inner space, slowest first
    std::vector<KernelBuffer> buffers;
    std::vector<KernelExpression> expressions;
    std::vector<KernelReduction> reductions;
    std::vector<KernelStore> stores;
    int stages = 1;
    /// Elementary functions from the C library, within 1 ulp but one element at a time.
    bool isPrecise = false;

    std::int64_t extent(int axis) const { return axes[static_cast<std::size_t>(axis)].extent; }
    std::int64_t count(const std::vector<int> &list) const;
    std::int64_t outerCount() const { return count(outer); }
    const KernelExpression &expression(int id) const { return expressions[static_cast<std::size_t>(id)]; }
    const KernelBuffer &buffer(int id) const { return buffers[static_cast<std::size_t>(id)]; }
    bool isOuter(int axis) const;
    bool writes(int buffer) const;
    bool reads(int buffer) const;
    /// Works out the space and stage of every expression, reduction and store from the axes as they are.
    void settle();
    /// Bytes that must cross the memory bus at least once: each buffer that is read or written, once.
    std::int64_t minimalBytes() const;
};

} // namespace heddle
