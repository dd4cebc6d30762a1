// SPDX-License-Identifier: Apache-2.0
#include "core/optimizer/KernelText.h"

#include <algorithm>

namespace heddle {

std::string KernelWriter::literal(const KernelExpression &expression) const
{
    return cppLiteral(expression.dtype, expression.number, expression.integer);
}

std::string KernelWriter::pointerTo(int buffer, const Affine &index) const
{
    return m_names.rowPointer(buffer, index) + "[" + m_names.innerPart(index) + "]";
}

std::string KernelWriter::loadText(const KernelExpression &expression) const
{
    return pointerTo(expression.buffer, expression.index);
}

bool KernelWriter::dependsOnLane(int id) const
{
    const KernelExpression &expression = m_kernel.expression(id);
    if (!hasLanes() || expression.kind == Kind::Literal)
        return false;
    if (expression.kind == Kind::Total)
        return true;
    if (expression.index.coefficient(m_schedule.laneAxis) != 0)
        return true;
    return std::any_of(expression.args.begin(), expression.args.end(),
                       [this](int arg) { return dependsOnLane(arg); });
}

/// Writes one `const` line and returns its name.
std::string KernelWriter::define(int id, std::vector<std::string> args)
{
    const KernelExpression &expression = m_kernel.expression(id);
    std::string text;
    std::string base = expression.op;
    if (expression.kind == Kind::Load) {
        text = loadText(expression);
        base = m_names.parameter(expression.buffer);
    } else if (expression.kind == Kind::Index) {
        text = m_names.fullIndex(expression.index);
        base = "index";
    } else {
        const KernelExpression &first = m_kernel.expression(expression.args.front());
        const bool isLiteral =
            expression.args.size() > 1 && m_kernel.expression(expression.args[1]).kind == Kind::Literal;
        auto written = cppOperation(expression.op, expression.dtype, first.dtype, args, isLiteral);
        if (m_kernel.isPrecise && first.dtype == Dtype::Float32) {
            if (auto precise = preciseOperation(expression.op, args))
                written = std::move(precise);
        }
        if (isLiteral && expression.op == "div" && expression.dtype == Dtype::Float32) {
            const double divisor =
                static_cast<double>(static_cast<float>(m_kernel.expression(expression.args[1]).number));
            if (auto product = cppDivision(divisor, args.front()))
                written = std::move(product);
        }
        if (!written)
            m_unknownOperation = expression.op + " of " + std::string(dtypeName(first.dtype));
        text = written.value_or("0");
    }
    const std::string name = m_names.local(base);
    const bool isLoad = expression.kind == Kind::Load;
    m_out.line("const " + (isLoad ? memoryType(expression.dtype) : cppType(expression.dtype)) + " " + name
               + " = " + text + ";");
    return name;
}

/// A value that is the same over the inner spaces, at the level of the outer loops (in a lane loop: of one
/// lane).
std::string KernelWriter::outerValue(int id)
{
    const KernelExpression &expression = m_kernel.expression(id);
    if (expression.kind == Kind::Literal)
        return literal(expression);
    if (const auto known = m_outerValues.find(id); known != m_outerValues.end())
        return known->second;
    if (const auto known = m_laneValues.find(id); known != m_laneValues.end())
        return known->second + "[" + m_names.lane() + "]";
    if (const auto known = m_scope.find(id); known != m_scope.end())
        return known->second;
    if (expression.kind == Kind::Total) {
        const KernelReduction &reduction =
            m_kernel.reductions[static_cast<std::size_t>(expression.reduction)];
        const std::string text = accumulator(reduction) + (hasLanes() ? "[" + m_names.lane() + "]" : "");
        return accumulatorType(reduction) == cppType(reduction.dtype)
            ? text
            : "static_cast<" + cppType(reduction.dtype) + ">(" + text + ")";
    }
    std::vector<std::string> args;
    for (const int arg : expression.args)
        args.push_back(outerValue(arg));
    const std::string name = define(id, std::move(args));
    (m_isInLaneLoop ? m_scope : m_outerValues)[id] = name;
    return name;
}

std::string KernelWriter::keptText(int id) const
{
    std::string index = m_names.spaceIndex(m_space);
    if (hasLanes())
        index = "(" + index + ") * TILE" + suffix() + " + " + m_names.lane();
    return m_keptArrays.at(id) + "[" + index + "]";
}

std::string KernelWriter::innerValue(int id)
{
    const KernelExpression &expression = m_kernel.expression(id);
    if (expression.space == KernelExpression::outerOnly)
        return outerValue(id);
    if (const auto known = m_scope.find(id); known != m_scope.end())
        return known->second;
    if (m_keptReady.contains(id)) {
        const std::string name = m_names.local("kept");
        m_out.line("const " + cppType(expression.dtype) + " " + name + " = " + keptText(id) + ";");
        return m_scope[id] = name;
    }
    std::vector<std::string> args;
    for (const int arg : expression.args)
        args.push_back(innerValue(arg));
    const std::string name = define(id, std::move(args));
    m_scope[id] = name;
    if (m_schedule.kept.contains(id)) {
        m_out.line(keptText(id) + " = " + name + ";");
        m_keptPending.insert(id);
    }
    return name;
}

} // namespace heddle
