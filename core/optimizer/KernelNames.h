// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/optimizer/Kernel.h"
#include "core/optimizer/Schedule.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace heddle {

/// "aten.layer_norm.default" → "layer_norm"
std::string operatorName(const std::string &origin);
/// The operators of a kernel, each once, in the order in which it meets them: "mul, add and gelu".
std::string operatorList(const Kernel &kernel);

/// The identifiers of one kernel's source: unique, no keywords, and the index arithmetic written with them.
/// Owned by the writer of that kernel.
class KernelNames {
public:
    KernelNames(const Kernel &kernel, const Schedule &schedule);

    const std::string &parameter(int buffer) const { return m_parameters[static_cast<std::size_t>(buffer)]; }
    const std::string &axis(int axis) const { return m_axes.at(axis); }
    const std::string &lane() const { return m_lane; }
    const std::string &lanes() const { return m_lanes; }
    /// A fresh local name from a word.
    std::string local(const std::string &word);

    /// The pointer to a buffer at the outer loops' point, and the index of the inner loops beside it.
    std::string rowPointer(int buffer, const Affine &index) const;
    std::string innerPart(const Affine &index) const;
    std::string fullIndex(const Affine &index) const;
    /// The place of the inner loops' point in its space.
    std::string spaceIndex(int space) const;
    /// Definitions of the pointers that rowPointer() names.
    std::vector<std::string> rowPointerLines() const;

private:
    std::string unique(std::string word);
    std::string outerPart(const Affine &index) const;
    std::string sum(const std::vector<std::pair<std::string, std::int64_t>> &terms,
                    std::int64_t offset) const;

    const Kernel &m_kernel;
    const Schedule &m_schedule;
    std::set<std::string> m_used;
    std::map<std::string, int> m_counts;
    std::vector<std::string> m_parameters;
    std::map<int, std::string> m_axes;
    std::string m_lane;
    std::string m_lanes;
    std::map<std::pair<int, std::string>, std::string> m_rows; ///< (buffer, outer part) → pointer
};

} // namespace heddle
