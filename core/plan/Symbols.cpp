// SPDX-License-Identifier: Apache-2.0
#include "core/plan/Plan.h"
#include "core/plan/PlanNames.h"

#include <algorithm>
#include <charconv>

namespace heddle {

namespace {

const TensorInfo *findTensor(const TaskLayout &layout, std::string_view name)
{
    for (const auto *list : {&layout.inputs, &layout.state})
        for (const TensorInfo &tensor : *list)
            if (tensor.name == name)
                return &tensor;
    return nullptr;
}

Error unknownReference(const TaskLayout &layout, std::string_view name)
{
    std::vector<std::string> known;
    for (const auto *list : {&layout.inputs, &layout.state})
        for (const TensorInfo &tensor : *list)
            known.push_back(tensor.name);
    for (const ValueInfo &value : layout.values)
        known.push_back(value.name);
    return Error(Code::InvalidInput, "the task has nothing named \"" + std::string(name) + '"', {},
                 "this task has: " + joined(known));
}

/// Evaluates symbols on demand; cycles were refused by the parser.
class SymbolTable {
public:
    SymbolTable(const Plan &plan, const TaskLayout &layout, std::map<std::string, std::int64_t> &values)
        : m_plan(plan), m_layout(layout), m_values(values)
    {
    }

    Result<std::int64_t> valueOf(std::string_view name)
    {
        if (name.find(':') != std::string_view::npos)
            return layoutValue(m_layout, name);
        if (const auto known = m_values.find(std::string(name)); known != m_values.end())
            return known->second;
        const auto symbol = m_plan.symbols.find(std::string(name));
        if (symbol == m_plan.symbols.end())
            return Error(Code::InvalidInput, "nothing is named \"" + std::string(name) + '"');
        auto value = symbol->second.evaluate([this](std::string_view next) { return valueOf(next); });
        // A symbol that this one needs has already said which it is.
        if (!value && !value.error().where().empty())
            return value;
        if (!value)
            return Error(Code::InvalidInput,
                         value.error().message()
                             + (value.error().cause() ? ": " + value.error().cause()->message() : ""),
                         "plan.json: symbols." + symbol->first, value.error().next());
        m_values.emplace(symbol->first, *value);
        return value;
    }

private:
    const Plan &m_plan;
    const TaskLayout &m_layout;
    std::map<std::string, std::int64_t> &m_values;
};

} // namespace

Result<std::int64_t> layoutValue(const TaskLayout &layout, std::string_view reference)
{
    const std::size_t bracket = reference.rfind(".shape[");
    if (bracket == std::string_view::npos || reference.back() != ']') {
        for (const ValueInfo &value : layout.values) {
            if (value.name != reference)
                continue;
            if (value.value.is_boolean())
                return value.value.get<bool>() ? 1 : 0;
            if (isInt64(value.value))
                return value.value.get<std::int64_t>();
            return Error(Code::InvalidInput,
                         "the value of " + value.name + " is not an integer: " + compactText(value.value), {},
                         "use it as an f32 or f64 argument instead");
        }
        if (findTensor(layout, reference) != nullptr)
            return Error(Code::InvalidInput, std::string(reference) + " is a tensor, not an integer", {},
                         "write " + std::string(reference) + ".shape[0] for a size");
        return unknownReference(layout, reference);
    }
    const std::string_view name = reference.substr(0, bracket);
    const std::string_view digits = reference.substr(bracket + 7, reference.size() - bracket - 8);
    const TensorInfo *tensor = findTensor(layout, name);
    if (tensor == nullptr)
        return unknownReference(layout, name);
    std::size_t dimension = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), dimension);
    if (parsed.ec != std::errc() || dimension >= tensor->shape.size())
        return Error(Code::InvalidInput,
                     std::string(name) + " has " + std::to_string(tensor->shape.size())
                         + " dimensions, there is no .shape[" + std::string(digits) + ']',
                     {}, "dimensions count from 0");
    return tensor->shape[dimension];
}

Result<std::map<std::string, std::int64_t>> buildSymbols(const Plan &plan, const TaskLayout &layout,
                                                         const std::map<std::string, std::int64_t> &tunables)
{
    std::map<std::string, std::int64_t> values;
    for (const auto &[name, tunable] : plan.tunables)
        values.emplace(name, tunable.defaultValue);
    for (const auto &[name, value] : tunables) {
        const auto known = plan.tunables.find(name);
        if (known == plan.tunables.end())
            return Error(Code::InvalidInput, "the plan has no tunable \"" + name + '"', "tunables." + name,
                         "remove it, or name one of the plan's");
        const auto &choices = known->second.choices;
        if (std::find(choices.begin(), choices.end(), value) == choices.end())
            return Error(Code::InvalidInput,
                         std::to_string(value) + " is not a choice of the tunable \"" + name + '"',
                         "tunables." + name, "choose one of the plan's \"choices\"");
        values[name] = value;
    }
    if (const auto cycle = symbolCycle(plan.symbols); !cycle.empty())
        return Error(Code::InvalidInput, "symbols depend on each other in a circle: " + cycleText(cycle),
                     "plan.json: symbols." + cycle.front(), "define one of them from shapes alone");
    SymbolTable table(plan, layout, values);
    for (const auto &[name, expression] : plan.symbols)
        HEDDLE_CHECK_OK(table.valueOf(name));
    return values;
}

} // namespace heddle
