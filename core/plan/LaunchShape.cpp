// SPDX-License-Identifier: Apache-2.0
#include "core/plan/LaunchShape.h"

#include <algorithm>

namespace heddle {

namespace {

/// Evaluates expressions of a launch. What is missing is remembered by the name that the launch itself uses.
class Evaluator {
public:
    Evaluator(const Plan &plan, const KernelStep &step, const std::map<std::string, std::int64_t> &given)
        : m_plan(plan), m_step(step), m_given(given)
    {
    }

    /// Nothing where a name has no value.
    Result<std::optional<std::int64_t>> evaluate(const Expression &expression, const char *member,
                                                 std::int64_t least)
    {
        bool isKnown = true;
        for (const std::string &name : expression.names())
            if (!isGiven(name)) {
                isKnown = false;
                if (std::find(m_unknown.begin(), m_unknown.end(), name) == m_unknown.end())
                    m_unknown.push_back(name);
            }
        if (!isKnown)
            return std::optional<std::int64_t>();
        const auto value = expression.evaluate([this](std::string_view name) { return valueOf(name); });
        const std::string where = "plan.json: " + m_step.where + '.' + member;
        if (!value)
            return Error(value.error().code(),
                         value.error().message()
                             + (value.error().cause() ? ": " + value.error().cause()->message() : ""),
                         where, value.error().next());
        if (*value < least)
            return Error(Code::InvalidInput,
                         '"' + expression.text() + "\" is " + std::to_string(*value) + ", which is less than "
                             + std::to_string(least),
                         where, "check the expression, or the values that were given");
        return std::optional(*value);
    }

    /// One to three expressions; nothing where one of them is not known.
    Result<std::optional<std::array<std::int64_t, 3>>> triple(const std::vector<Expression> &list,
                                                              const char *member)
    {
        std::array<std::int64_t, 3> out{1, 1, 1};
        bool isKnown = true;
        for (std::size_t i = 0; i < list.size() && i < out.size(); ++i) {
            HEDDLE_TRY(const std::optional<std::int64_t> value, evaluate(list[i], member, 1));
            isKnown = isKnown && value.has_value();
            out[i] = value.value_or(1);
        }
        return isKnown ? std::optional(out) : std::nullopt;
    }

    std::vector<std::string> takeUnknown() { return std::move(m_unknown); }

private:
    /// Whether a name has a value, by itself or through symbols, in which the parser allows no cycle.
    bool isGiven(const std::string &name) const
    {
        if (m_given.count(name) != 0 || m_plan.tunables.count(name) != 0)
            return true;
        const auto symbol = m_plan.symbols.find(name);
        if (symbol == m_plan.symbols.end())
            return false; // a reference to a shape, or the index of a repeat
        const auto names = symbol->second.names();
        return std::all_of(names.begin(), names.end(),
                           [this](const std::string &next) { return isGiven(next); });
    }

    Result<std::int64_t> valueOf(std::string_view name) const
    {
        const std::string key(name);
        if (const auto given = m_given.find(key); given != m_given.end())
            return given->second;
        if (const auto tunable = m_plan.tunables.find(key); tunable != m_plan.tunables.end())
            return tunable->second.defaultValue;
        const auto symbol = m_plan.symbols.find(key);
        if (symbol == m_plan.symbols.end())
            return Error(Code::InvalidInput, "nothing is named \"" + key + '"');
        return symbol->second.evaluate([this](std::string_view next) { return valueOf(next); });
    }

    const Plan &m_plan;
    const KernelStep &m_step;
    const std::map<std::string, std::int64_t> &m_given;
    std::vector<std::string> m_unknown;
};

} // namespace

std::optional<std::int64_t> LaunchShape::threads() const
{
    if (!block)
        return std::nullopt;
    // Far more than any device has, and far from overflow.
    constexpr std::int64_t most = std::int64_t{1} << 40;
    std::int64_t product = 1;
    for (const std::int64_t size : *block)
        product = size > most / product ? most : product * size;
    return product;
}

Result<LaunchShape> launchShape(const Plan &plan, const KernelStep &step,
                                const std::map<std::string, std::int64_t> &given)
{
    Evaluator evaluator(plan, step, given);
    LaunchShape shape;
    HEDDLE_TRY(shape.block, evaluator.triple(step.launch.block, "block"));
    HEDDLE_TRY(shape.cluster, evaluator.triple(step.launch.cluster, "cluster"));
    shape.sharedBytes = 0;
    if (step.launch.shared) {
        HEDDLE_TRY(shape.sharedBytes, evaluator.evaluate(*step.launch.shared, "shared", 0));
    }
    shape.unknown = evaluator.takeUnknown();
    return shape;
}

std::vector<std::string> settableNames(const Plan &plan)
{
    std::vector<std::string> names;
    for (const auto &[name, tunable] : plan.tunables)
        names.push_back(name);
    for (const auto &[name, symbol] : plan.symbols)
        names.push_back(name);
    return names;
}

} // namespace heddle
