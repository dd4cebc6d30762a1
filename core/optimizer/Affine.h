// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace heddle {

/// offset + Σ coefficient × loop axis, in elements of a contiguous buffer or of one dimension.
struct Affine {
    std::int64_t offset = 0;
    std::vector<std::pair<int, std::int64_t>> terms; ///< (axis, coefficient), by axis, none 0

    std::int64_t coefficient(int axis) const;
    void add(const Affine &other, std::int64_t factor);
    void addTerm(int axis, std::int64_t coefficient);
    bool operator==(const Affine &other) const = default;
    /// "3+16*a0+1*a2", for keys and text goldens.
    std::string text() const;
};

} // namespace heddle
