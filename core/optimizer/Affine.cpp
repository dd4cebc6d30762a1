// SPDX-License-Identifier: Apache-2.0
#include "core/optimizer/Affine.h"

#include <algorithm>

namespace heddle {

std::int64_t Affine::coefficient(int axis) const
{
    for (const auto &[other, value] : terms) {
        if (other == axis)
            return value;
    }
    return 0;
}

void Affine::addTerm(int axis, std::int64_t coefficient)
{
    if (coefficient == 0)
        return;
    const auto place = std::lower_bound(terms.begin(), terms.end(), axis,
                                        [](const auto &term, int wanted) { return term.first < wanted; });
    if (place == terms.end() || place->first != axis) {
        terms.insert(place, {axis, coefficient});
        return;
    }
    place->second += coefficient;
    if (place->second == 0)
        terms.erase(place);
}

void Affine::add(const Affine &other, std::int64_t factor)
{
    offset += other.offset * factor;
    for (const auto &[axis, value] : other.terms)
        addTerm(axis, value * factor);
}

std::string Affine::text() const
{
    std::string result;
    if (offset != 0 || terms.empty())
        result = std::to_string(offset);
    for (const auto &[axis, value] : terms)
        result += (result.empty() ? "" : "+") + std::to_string(value) + "*a" + std::to_string(axis);
    return result;
}

} // namespace heddle
