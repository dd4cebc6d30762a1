// SPDX-License-Identifier: Apache-2.0
// Any text gives an expression or an Error; evaluating one gives a value or an Error, and the same one twice.
#include "core/plan/Expression.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char *>(data), size);
    const heddle::Result<heddle::Expression> expression = heddle::Expression::parse(text);
    if (!expression)
        return 0;
    const auto lookup = [](std::string_view name) -> heddle::Result<std::int64_t> {
        return static_cast<std::int64_t>(name.size()) - 3;
    };
    const heddle::Result<std::int64_t> first = expression->evaluate(lookup);
    const heddle::Result<std::int64_t> second = expression->evaluate(lookup);
    if (first.has_value() != second.has_value() || (first && *first != *second))
        std::abort();
    if (expression->cppText([](std::string_view name) { return std::string(name); }).empty())
        std::abort();
    return 0;
}
