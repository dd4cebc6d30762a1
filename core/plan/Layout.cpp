// SPDX-License-Identifier: Apache-2.0
#include "core/plan/Layout.h"

#include <algorithm>

namespace heddle {

namespace {

// More than any machine holds; keeps every later product of sizes inside 64 bits.
constexpr std::int64_t maxElements = std::int64_t{1} << 48;

Error bad(const std::string &where, std::string message)
{
    return Error(Code::InvalidInput, std::move(message), where,
                 "this list comes from the oracle; see docs/architecture/oracle-protocol.md");
}

Result<TensorInfo> tensorFromJson(const Json &value, std::string name, const std::string &where)
{
    TensorInfo info;
    info.name = std::move(name);
    const std::string word = stringOr(value, "dtype");
    const auto dtype = dtypeFromName(word);
    if (!dtype)
        return bad(where + ".dtype", "the dtype \"" + word + "\" is not known");
    info.dtype = *dtype;
    const Json &shape = memberOr(value, "shape");
    if (!shape.is_array())
        return bad(where + ".shape", "a list of sizes was expected");
    std::int64_t elements = 1;
    for (const Json &size : shape) {
        if (!size.is_number_integer() || size.get<std::int64_t>() < 0)
            return bad(where + ".shape", "sizes are integers of at least 0");
        info.shape.push_back(size.get<std::int64_t>());
        if (__builtin_mul_overflow(elements, std::max<std::int64_t>(info.shape.back(), 1), &elements)
            || elements > maxElements)
            return bad(where + ".shape", "the tensor has more than 2^48 elements");
    }
    return info;
}

Result<std::vector<TensorInfo>> tensorsFromJson(const Json &layout, const char *member)
{
    std::vector<TensorInfo> tensors;
    const Json &list = memberOr(layout, member);
    if (list.is_null())
        return tensors;
    if (!list.is_array())
        return bad(member, "a list of tensors was expected");
    for (std::size_t i = 0; i < list.size(); ++i) {
        const std::string where = std::string(member) + '[' + std::to_string(i) + ']';
        std::string name =
            member == std::string("outputs") ? "out:" + std::to_string(i) : stringOr(list[i], "name");
        if (name.empty())
            return bad(where + ".name", "a name such as \"input:x\" was expected");
        HEDDLE_TRY(TensorInfo info, tensorFromJson(list[i], std::move(name), where));
        tensors.push_back(std::move(info));
    }
    return tensors;
}

} // namespace

std::int64_t TensorInfo::elements() const
{
    std::int64_t product = 1;
    for (const std::int64_t size : shape)
        product *= size;
    return product;
}

Result<TaskLayout> layoutFromJson(const Json &value)
{
    if (!value.is_object())
        return bad("layout", "an object was expected");
    TaskLayout layout;
    HEDDLE_TRY(layout.inputs, tensorsFromJson(value, "inputs"));
    HEDDLE_TRY(layout.state, tensorsFromJson(value, "state"));
    HEDDLE_TRY(layout.outputs, tensorsFromJson(value, "outputs"));
    const Json &values = memberOr(value, "values");
    if (values.is_array())
        for (const Json &item : values)
            layout.values.push_back({.name = stringOr(item, "name"), .value = memberOr(item, "value")});
    const Json &updates = memberOr(value, "updates");
    if (updates.is_array())
        for (const Json &item : updates) {
            if (!item.is_string())
                return bad("updates", "names of state tensors were expected");
            layout.updates.push_back(item.get<std::string>());
        }
    return layout;
}

} // namespace heddle
